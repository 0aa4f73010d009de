// How one finds out which arrays something holds: it is copied, and whoever watches sees what is copied with it.
//
// A gradient rule is any callable; what it captured nobody can read. But its copy copies every array and tensor that it
// holds, and their copy constructors tell the witness of the thread, if there is one. So diagrams know what stays in
// memory for a backward pass, rules have nothing to declare, and what no witness watches costs a look at one number.
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
/// Threads: a witness belongs to the thread that made it, and must die there, the newest first.
class CopyWitness {
 public:
  CopyWitness() : outer_(std::exchange(context.witness, this)) { watching.fetch_add(1, std::memory_order_relaxed); }
  CopyWitness(const CopyWitness&) = delete;
  CopyWitness& operator=(const CopyWitness&) = delete;
  virtual ~CopyWitness() {
    watching.fetch_sub(1, std::memory_order_relaxed);
    context.witness = outer_;
  }

  virtual void saw(const Tensor& tensor) = 0;
  /// The elements of an array that is no tensor's.
  virtual void saw(const void* block, std::int64_t bytes) = 0;

  /// That of this thread, or nullptr. Costs next to nothing where there is none in any.
  static CopyWitness* current() { return watching.load(std::memory_order_relaxed) == 0 ? nullptr : context.witness; }

 private:
  CopyWitness* outer_;
  inline static constinit std::atomic<int> watching{0};
};

}  // namespace detail
}  // namespace xgrad
