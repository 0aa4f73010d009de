// The rows of elementwise loops, compiled once for all of them.
#include "loops.h"

#include "../../../core/runtime/parallel.h"
#include "walk.h"

namespace xgrad {
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
  // Rows as long as they can be: an array is read along a row with step 1, or 0 if it repeats one element.
  std::array<Strides, K + 1> strides;  // of the inputs, then of the result
  for (std::size_t k = 0; k < K; ++k) strides[k] = broadcast_strides(*inputs[k], shape);
  strides[K] = strides_of(shape);
  Walk<K + 1> walk(shape, strides);
  const auto inner = walk.rank() > 0 ? walk.pop() : typename Walk<K + 1>::Axis();
  if (inner.size > elementwise_block) {
    auto pieces = inner;
    pieces.size = (inner.size + elementwise_block - 1) / elementwise_block;
    for (std::int64_t& stride : pieces.strides) stride *= elementwise_block;
    walk.push(pieces);
  }
  const std::int64_t grain = std::max<std::int64_t>(1, elementwise_block / inner.size);
  parallel_for(walk.count(), grain, [&](std::int64_t begin, std::int64_t end) {
    walk.for_each(begin, end, [&](const auto& at) {
      const std::int64_t n =
          inner.size <= elementwise_block ? inner.size : std::min(elementwise_block, inner.size - at[K] % inner.size);
      row(loop, at[K], n, at.data(), inner.strides.data());
    });
  });
}

template void detail::each_loop_row(LoopRow, const void*, const Shape&, const std::array<const Shape*, 1>&);
template void detail::each_loop_row(LoopRow, const void*, const Shape&, const std::array<const Shape*, 2>&);
template void detail::each_loop_row(LoopRow, const void*, const Shape&, const std::array<const Shape*, 3>&);
template void detail::each_loop_row(LoopRow, const void*, const Shape&, const std::array<const Shape*, 4>&);
template void detail::each_loop_row(LoopRow, const void*, const Shape&, const std::array<const Shape*, 5>&);

}  // namespace xgrad
