// The rows of elementwise loops, compiled once for all of them.
#include "loops.h"

#include "../../../core/runtime/parallel.h"
#include "walk.h"

namespace xgrad {
namespace {

// How K arrays are read to make one of shape `shape`, in rows as long as they can be: an array is read along a row
// with step 1, or 0 if it repeats one element.
template <std::size_t K>
class BroadcastPlan {
 public:
  BroadcastPlan(const Shape& shape, const std::array<const Shape*, K>& inputs) : walk_(shape, strides(shape, inputs)) {
    if (walk_.rank() > 0) inner_ = walk_.pop();
    if (inner_.size <= elementwise_block) return;
    typename Walk<K + 1>::Axis pieces = inner_;
    pieces.size = (inner_.size + elementwise_block - 1) / elementwise_block;
    for (std::int64_t& stride : pieces.strides) stride *= elementwise_block;
    walk_.push(pieces);
  }

  // 0 or 1.
  std::int64_t step(std::size_t k) const { return inner_.strides[k]; }

  // Calls f(offsets, n), in parallel, for rows of n elements that together make the result: offsets[k] is that of input
  // k, offsets[K] that of the result.
  template <class F>
  void for_each_row(const F& f) const {
    const std::int64_t grain = std::max<std::int64_t>(1, elementwise_block / std::max<std::int64_t>(1, inner_.size));
    parallel_for(walk_.count(), grain, [&](std::int64_t begin, std::int64_t end) {
      walk_.for_each(begin, end, [&](const auto& at) {
        f(at, inner_.size <= elementwise_block ? inner_.size
                                               : std::min(elementwise_block, inner_.size - at[K] % inner_.size));
      });
    });
  }

 private:
  static std::array<Strides, K + 1> strides(const Shape& shape, const std::array<const Shape*, K>& inputs) {
    std::array<Strides, K + 1> all;
    for (std::size_t k = 0; k < K; ++k) all[k] = broadcast_strides(*inputs[k], shape);
    all[K] = strides_of(shape);
    return all;
  }

  Walk<K + 1> walk_;
  typename Walk<K + 1>::Axis inner_;
};

}  // namespace

template <std::size_t K>
void detail::each_loop_row(LoopRow row, const void* loop, const Shape& shape,
                           const std::array<const Shape*, K>& inputs) {
  const std::int64_t size = shape.numel();
  if (size == 0) return;
  // Most are of one shape, or single elements.
  std::array<std::int64_t, K> steps;
  bool flat = true;
  for (std::size_t k = 0; k < K; ++k) {
    const std::int64_t own = inputs[k]->numel();
    steps[k] = own == size ? 1 : 0;
    flat = flat && (own == size || own == 1);
  }
  if (flat) {
    parallel_for(size, elementwise_block, [&](std::int64_t begin, std::int64_t end) {
      std::array<std::int64_t, K> offsets;
      for (std::size_t k = 0; k < K; ++k) offsets[k] = begin * steps[k];
      row(loop, begin, end - begin, offsets.data(), steps.data());
    });
    return;
  }
  const BroadcastPlan<K> plan(shape, inputs);
  for (std::size_t k = 0; k < K; ++k) steps[k] = plan.step(k);
  plan.for_each_row([&](const auto& at, std::int64_t n) { row(loop, at[K], n, at.data(), steps.data()); });
}

template void detail::each_loop_row(LoopRow, const void*, const Shape&, const std::array<const Shape*, 1>&);
template void detail::each_loop_row(LoopRow, const void*, const Shape&, const std::array<const Shape*, 2>&);
template void detail::each_loop_row(LoopRow, const void*, const Shape&, const std::array<const Shape*, 3>&);
template void detail::each_loop_row(LoopRow, const void*, const Shape&, const std::array<const Shape*, 4>&);
template void detail::each_loop_row(LoopRow, const void*, const Shape&, const std::array<const Shape*, 5>&);

}  // namespace xgrad
