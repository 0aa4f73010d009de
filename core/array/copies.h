// How one finds out which arrays something holds: it is copied, and whoever watches sees what is copied with it.
//
// A gradient rule is any callable; what it captured nobody can read. But its copy copies every array and tensor that it
// holds, and their copy constructors tell the listener of the thread, if there is one. So diagrams know what stays in
// memory for a backward pass, rules have nothing to declare, and where nobody listens a copy costs a look at one
// number.
//
// core/diagram/view/collect.cpp watches, and nn/substitution.h gives copies of one tensor another meaning.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
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
  CopyListener() : outer_(std::exchange(context.on_copy, this)) {}
  CopyListener(const CopyListener&) = delete;
  CopyListener& operator=(const CopyListener&) = delete;
  virtual ~CopyListener() { context.on_copy = outer_; }

  /// It may make the copy mean another tensor.
  virtual void saw(Tensor& copy) = 0;
  /// The elements of an array that is no tensor's.
  virtual void saw(const void* block, std::int64_t bytes) = 0;
  /// For a function that is run a second time when the listener may be gone: makes what held the first time hold again,
  /// as long as what it returns lives. Empty: there is nothing to do.
  virtual std::function<std::shared_ptr<void>()> again() const { return {}; }

 protected:
  CopyListener* outer() const { return outer_; }

 private:
  CopyListener* outer_;
};

}  // namespace detail
}  // namespace xgrad
