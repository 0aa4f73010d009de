// Finding the arrays that an object holds: copying it copies them, and a listener is told of every copy.
//
// A gradient rule is any callable, and its captures cannot be inspected. But copying it copies every array and tensor
// that it holds, and their copy constructors tell the listener of the thread, if there is one. So diagrams know what
// stays in memory for a backward pass, rules have nothing to declare, and without a listener a copy costs one
// comparison.
//
// core/diagram/view/content.cpp listens, and nn/functional_call.h substitutes another tensor for the copies of one.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "../base/scope.h"

namespace xgrad {
class Tensor;

namespace detail {

/// Told of every array and tensor that is copied on this thread while it lives, unless a newer one is alive.
///
/// Threads: a listener belongs to the thread that made it, and must die there, the newest first.
class CopyListener {
 public:
  CopyListener() : outer_(std::exchange(context.on_copy, this)) {}
  CopyListener(const CopyListener&) = delete;
  CopyListener& operator=(const CopyListener&) = delete;
  virtual ~CopyListener() { context.on_copy = outer_; }

  /// May redirect the copy to another tensor.
  virtual void saw(Tensor& copy) = 0;
  /// The elements of an array that belongs to no tensor.
  virtual void saw(const void* block, std::int64_t bytes) = 0;
  /// For a function that runs a second time when the listener may be gone: restores the conditions of the first run as
  /// long as the returned object lives. Empty if there is nothing to restore.
  virtual std::function<std::shared_ptr<void>()> again() const { return {}; }

 protected:
  CopyListener* outer() const { return outer_; }

 private:
  CopyListener* outer_;
};

}  // namespace detail
}  // namespace xgrad
