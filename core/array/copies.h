// How one finds out which arrays something holds: it is copied, and whoever watches sees what is copied with it.
//
// A gradient rule is any callable; what it captured nobody can read. But its copy copies every array and tensor that it
// holds, and their copy constructors tell the listener of the thread, if there is one. So diagrams know what stays in
// memory for a backward pass, rules have nothing to declare, and where nobody listens a copy costs a look at one number.
//
// core/diagram/view/collect.cpp is the one that watches.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include "../base/scope.h"

namespace xgrad {
class Tensor;

namespace detail {

/// While it lives, it is told of every array and tensor that is copied on this thread; the innermost one is.
///
/// Threads: a listener belongs to the thread that made it, and must die there, the newest first.
class CopyListener {
 public:
  CopyListener() : outer_(std::exchange(context.on_copy, this)) { watching.fetch_add(1, std::memory_order_relaxed); }
  CopyListener(const CopyListener&) = delete;
  CopyListener& operator=(const CopyListener&) = delete;
  virtual ~CopyListener() {
    watching.fetch_sub(1, std::memory_order_relaxed);
    context.on_copy = outer_;
  }

  virtual void saw(const Tensor& tensor) = 0;
  /// The elements of an array that is no tensor's.
  virtual void saw(const void* block, std::int64_t bytes) = 0;

  /// That of this thread, or nullptr. Costs next to nothing where there is none in any.
  static CopyListener* current() { return watching.load(std::memory_order_relaxed) == 0 ? nullptr : context.on_copy; }

 private:
  CopyListener* outer_;
  inline static constinit std::atomic<int> watching{0};
};

}  // namespace detail
}  // namespace xgrad
