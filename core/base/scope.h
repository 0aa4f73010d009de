// The place in the model where code is running now: errors name it, and nodes of the graph remember it.
#pragma once

#include <string>
#include <string_view>

#include "config.h"

namespace xgrad {

/// A place in a model: a module's path, and what the module is ("Linear 512 -> 64") where that is known.
struct Place {
  std::string path;
  std::string what = {};
  friend bool operator==(const Place&, const Place&) = default;
};
/// The one copy of a place that lives as long as the program; equal places give equal pointers.
const Place* intern(std::string_view path, std::string_view what = {});

/// Whether something with this path is the module or part of it: "blocks.1.attn" lies within "blocks.1" and within "".
inline bool lies_within(std::string_view path, std::string_view module) {
  return module.empty() || path == module || (path.starts_with(module) && path[module.size()] == '.');
}

namespace detail {
/// Takes `gone` out of a thread's chain of scopes, in which each knows the one around it. Mostly it is the innermost;
/// on the heap, scopes may die in any order.
template <class T>
void unlink_scope(T*& innermost, T* gone, T* T::*outer) {
  T** link = &innermost;
  while (*link && *link != gone) link = &((*link)->*outer);
  if (*link) *link = gone->*outer;
}
}  // namespace detail

/// A named place, `decoder.blocks.1.cross_attn`, entered for the life of the object and left when it dies, also by an
/// exception. Scopes nest per thread; the innermost one is current.
/// Threads: a scope belongs to the thread that made it, and must die there; a new thread is nowhere.
class Scope {
 public:
  /// `place` is interned, or nullptr for "nowhere".
  explicit Scope(const Place* place) noexcept : place_(place), outer_(current_) { current_ = this; }
  ~Scope() { detail::unlink_scope(current_, this, &Scope::outer_); }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

  const Place* place() const { return place_; }

  /// The innermost scope of this thread, or nullptr.
  static const Scope* current() { return current_; }

 private:
  const Place* place_;
  Scope* outer_;
  static thread_local constinit Scope* current_;
};

}  // namespace xgrad
