// Finding the arrays that an object holds: the object is copied, and a listener is called for every array in it.
//
// A gradient rule is any callable, whose captures cannot be inspected. But a copy of the rule copies every array and
// tensor that it holds, and their copy constructors call the listener of the thread if there is one. So diagrams show
// what is saved for backward, rules have nothing to declare, and without a listener a copy costs one comparison.
//
// core/diagram/view/content.cpp listens; nn/parameters/functional_call.h substitutes another tensor for copies of one.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "../base/scope.h"

namespace xgrad {
class Tensor;

namespace detail {

/// An object that is called for every array and tensor copied on this thread while it lives, unless a newer listener is
/// alive.
///
/// Threads: a listener belongs to the thread that made it, and must die there, the newest first.
class CopyListener {
 public:
  CopyListener() : outer_(std::exchange(context.copy_listener, this)) {}
  CopyListener(const CopyListener&) = delete;
  CopyListener& operator=(const CopyListener&) = delete;
  virtual ~CopyListener() { context.copy_listener = outer_; }

  /// Called for a copy of a tensor, which it may redirect to another tensor.
  virtual void on_copy(Tensor& copy) = 0;
  /// Called for a copy of an array that belongs to no tensor.
  virtual void on_copy(const void* block, std::int64_t bytes) = 0;
  /// A function that restores what the listener did, for code that runs a second time when the listener may be gone: as
  /// long as its result lives. Empty if there is nothing to restore.
  virtual std::function<std::shared_ptr<void>()> again() const { return {}; }

 protected:
  CopyListener* outer() const { return outer_; }

 private:
  CopyListener* outer_;
};

}  // namespace detail
}  // namespace xgrad
