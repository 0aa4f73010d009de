// Loops over arrays for kernels: same-shape and broadcasting elementwise loops on Packs, in parallel over fixed blocks.
// xtensor broadcasts inner axes element by element, tens of times slower than this; hence loops of our own.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include <xgrad/core/array.h>
#include <xgrad/core/parallel.h>
#include <xgrad/ops/simd.h>

namespace xgrad::inline XGRAD_ABI {

/// Elements that one thread handles at a time in elementwise loops.
inline constexpr std::int64_t elementwise_block = 1 << 14;

/// How K arrays are read to make one of shape `shape`: axes merged where all of them allow it. Rows of `inner`
/// elements; an array is read along a row with step 1, or 0 if it repeats one element.
template <std::size_t K>
class BroadcastPlan {
 public:
  BroadcastPlan(const Shape& shape, const std::array<const Shape*, K>& inputs) {
    std::array<ShortList<std::int64_t>, K> strides;
    for (std::size_t k = 0; k < K; ++k) strides[k] = broadcast_strides(*inputs[k], shape);
    for (int axis = shape.rank() - 1; axis >= 0; --axis) {  // built from the last axis, merged into its inner neighbour
      const std::int64_t size = shape[axis];
      if (size == 1) continue;
      bool merge = !sizes_.empty();
      for (std::size_t k = 0; merge && k < K; ++k) merge = strides[k][axis] == strides_[k].back() * sizes_.back();
      if (merge) {
        sizes_[sizes_.size() - 1] *= size;
      } else {
        sizes_.push_back(size);
        for (std::size_t k = 0; k < K; ++k) strides_[k].push_back(strides[k][axis]);
      }
    }
    if (sizes_.empty()) {
      sizes_.push_back(1);
      for (auto& list : strides_) list.push_back(0);
    }
    for (int i = 1; i < sizes_.size(); ++i) rows_ *= sizes_[i];
  }

  std::int64_t inner() const { return sizes_[0]; }
  std::int64_t rows() const { return rows_; }
  /// 0 or 1.
  std::int64_t step(std::size_t k) const { return strides_[k][0]; }
  /// Where array k starts in row r.
  std::int64_t offset(std::size_t k, std::int64_t row) const {
    std::int64_t offset = 0;
    for (int i = 1; i < sizes_.size(); ++i) {
      offset += row % sizes_[i] * strides_[k][i];
      row /= sizes_[i];
    }
    return offset;
  }

 private:
  ShortList<std::int64_t> sizes_;  // from the innermost axis outwards
  std::array<ShortList<std::int64_t>, K> strides_;
  std::int64_t rows_ = 1;
};

namespace detail {

// out[i] = f(in0[i step0], in1[i step1], ...) for i in [0, n). The last, incomplete pack goes through a padded buffer,
// so every element is computed by the same instructions wherever it stands.
template <std::size_t K, class F>
void map_row(Real* out, const std::array<const Real*, K>& in, const std::array<std::int64_t, K>& steps, std::int64_t n,
             const F& f) {
  constexpr auto width = static_cast<std::int64_t>(Pack::width);
  const auto call = [&]<std::size_t... k>(std::index_sequence<k...>, auto&& load) { return Pack(f(load(k)...)); };
  constexpr std::make_index_sequence<K> inputs{};
  std::array<Pack, K> repeated;
  bool all_steps = true;
  for (std::size_t k = 0; k < K; ++k) {
    if (n > 0 && steps[k] == 0) repeated[k] = Pack(*in[k]);
    all_steps &= steps[k] == 1;
  }
  std::int64_t i = 0;
  if (all_steps) {
    for (; i + width <= n; i += width) {
      call(inputs, [&](std::size_t k) { return Pack::load(in[k] + i); }).store(out + i);
    }
  } else {
    for (; i + width <= n; i += width) {
      call(inputs, [&](std::size_t k) { return steps[k] ? Pack::load(in[k] + i) : repeated[k]; }).store(out + i);
    }
  }
  if (i == n) return;
  const auto rest = static_cast<std::size_t>(n - i);
  Real padded[Pack::width];
  call(inputs, [&](std::size_t k) {
    if (!steps[k]) return repeated[k];
    std::fill_n(std::copy_n(in[k] + i, rest, padded), Pack::width - rest, in[k][i]);
    return Pack::load(padded);
  }).store(padded);
  std::copy_n(padded, rest, out + i);
}

}  // namespace detail

/// out = f(in0, in1, ...) elementwise with broadcasting to `shape`, where f takes and returns Packs.
template <std::size_t K, class F>
Array map(const Shape& shape, const std::array<const Array*, K>& inputs, const F& f) {
  Array result(shape);
  Real* out = result.mutable_data();
  const std::int64_t size = result.size();
  if (size == 0) return result;
  const auto each = [&]<std::size_t... k>(std::index_sequence<k...>, auto&& of) { return std::array{of(k)...}; };
  constexpr std::make_index_sequence<K> indices{};
  bool same = true;
  for (const Array* input : inputs) same &= input->size() == size;
  if (same) {
    const auto steps = each(indices, [](std::size_t) { return std::int64_t{1}; });
    parallel_for(size, elementwise_block, [&](std::int64_t begin, std::int64_t end) {
      detail::map_row<K>(out + begin, each(indices, [&](std::size_t k) { return inputs[k]->data() + begin; }), steps,
                         end - begin, f);
    });
    return result;
  }
  const BroadcastPlan<K> plan(shape, each(indices, [&](std::size_t k) { return &inputs[k]->shape(); }));
  const auto steps = each(indices, [&](std::size_t k) { return plan.step(k); });
  const std::int64_t inner = plan.inner();
  parallel_for(
      plan.rows(), std::max<std::int64_t>(1, elementwise_block / inner), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t row = begin; row < end; ++row) {
          detail::map_row<K>(out + row * inner,
                             each(indices, [&](std::size_t k) { return inputs[k]->data() + plan.offset(k, row); }),
                             steps, inner, f);
        }
      });
  return result;
}

template <class F>
Array map(const Array& x, const F& f) {
  return map<1>(x.shape(), {&x}, f);
}

}  // namespace xgrad::inline XGRAD_ABI
