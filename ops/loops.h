// Loops over arrays for kernels: same-shape and broadcasting elementwise loops on Packs, in parallel over fixed blocks.
// xtensor broadcasts inner axes element by element, tens of times slower than this; hence loops of our own.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <xgrad/core/array.h>
#include <xgrad/core/parallel.h>
#include <xgrad/ops/simd.h>
#include <xgrad/ops/walk.h>

namespace xgrad::inline XGRAD_ABI {

/// Elements that one thread handles at a time in elementwise loops.
inline constexpr std::int64_t elementwise_block = 1 << 14;

/// How K arrays are read to make one of shape `shape`, in rows as long as they can be: an array is read along a row
/// with step 1, or 0 if it repeats one element.
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

  /// 0 or 1.
  std::int64_t step(std::size_t k) const { return inner_.strides[k]; }

  /// Calls f(offsets, n), in parallel, for rows of n elements that together make the result: offsets[k] says where
  /// input k is read, offsets[K] where the result is written.
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
  plan.for_each_row([&](const auto& at, std::int64_t n) {
    detail::map_row<K>(out + at[K], each(indices, [&](std::size_t k) { return inputs[k]->data() + at[k]; }), steps, n,
                       f);
  });
  return result;
}

template <class F>
Array map(const Array& x, const F& f) {
  return map<1>(x.shape(), {&x}, f);
}

namespace detail {

// GCC 12 vectorises loops over bytes, but not over truth values.
inline const unsigned char* readable(const bool* in) { return reinterpret_cast<const unsigned char*>(in); }
template <class T>
const T* readable(const T* in) {
  return in;
}

// Calls f(steps...) with the plan's steps as types, so that the compiler knows them.
template <std::size_t K, class F, class... Steps>
void with_steps(const BroadcastPlan<K>& plan, const F& f, Steps... steps) {
  constexpr std::size_t k = sizeof...(Steps);
  if constexpr (k == K) {
    f(steps...);
  } else if (plan.step(k) == 1) {
    with_steps(plan, f, steps..., std::integral_constant<std::int64_t, 1>{});
  } else {
    with_steps(plan, f, steps..., std::integral_constant<std::int64_t, 0>{});
  }
}

}  // namespace detail

/// out = f(in0, in1, ...) elementwise with broadcasting to `shape`, for elements of any types, where f takes and
/// returns single numbers.
template <class Out, class F, class... In>
BasicArray<Out> map_elements(const Shape& shape, const F& f, const BasicArray<In>&... inputs) {
  constexpr std::size_t K = sizeof...(In);
  BasicArray<Out> result(shape);
  if (result.size() == 0) return result;
  Out* out = result.mutable_data();
  const BroadcastPlan<K> plan(shape, {&inputs.shape()...});
  detail::with_steps(plan, [&](auto... step) {
    [&]<std::size_t... k>(std::index_sequence<k...>, const auto*... in) {
      plan.for_each_row([&](const auto& at, std::int64_t n) {
        const auto own = f;  // what f holds cannot be among the results, so it stays in registers
        for (std::int64_t i = 0; i < n; ++i) out[at[K] + i] = own(in[at[k] + i * step]...);
      });
    }
    (std::make_index_sequence<K>{}, detail::readable(inputs.data())...);
  });
  return result;
}

}  // namespace xgrad::inline XGRAD_ABI
