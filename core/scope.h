// The place in the model where code is running now: errors name it, and nodes of the graph remember it.
#pragma once

#include <string>
#include <string_view>

#include "config.h"

namespace xgrad {

/// The one copy of a string that lives as long as the program; equal texts give equal pointers.
const std::string* intern(std::string_view text);

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
  /// `path` is interned, or nullptr for "nowhere"; `detail` says more in error messages ("Linear 512 -> 64") and must
  /// outlive the scope.
  explicit Scope(const std::string* path, const std::string* detail = nullptr) noexcept
      : path_(path), detail_(detail), outer_(current_) {
    current_ = this;
  }
  ~Scope() { detail::unlink_scope(current_, this, &Scope::outer_); }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

  const std::string* path() const { return path_; }
  const std::string* detail() const { return detail_; }

  /// The innermost scope of this thread, or nullptr.
  static const Scope* current() { return current_; }

 private:
  const std::string* path_;
  const std::string* detail_;
  Scope* outer_;
  static thread_local constinit Scope* current_;
};

}  // namespace xgrad
