// Class: the class of an object, to be compared and named.
#pragma once

#include "config.h"

#include <string>
#include <typeinfo>

namespace xgrad::detail {

/// The class of an object while the program runs.
class Class {
 public:
  Class() = default;
  template <class T>
  static Class of() {
    return Class(typeid(T));
  }
  template <class T>
  static Class of(const T& object) {
    return Class(typeid(object));
  }
  /// The name without namespaces and template arguments: `Block` for `(anonymous namespace)::Block<4>`.
  /// The object must not be empty.
  std::string name() const;
  friend bool operator==(Class a, Class b) {
    return a.type_ == b.type_ || (a.type_ && b.type_ && *a.type_ == *b.type_);
  }

 private:
  explicit Class(const std::type_info& type) : type_(&type) {}

  const std::type_info* type_ = nullptr;
};

}  // namespace xgrad::detail
