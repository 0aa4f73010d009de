// Loops over arrays for kernels: same-shape and broadcasting elementwise loops on Packs, in parallel over fixed blocks.
// xtensor broadcasts inner axes element by element, tens of times slower than this; hence loops of our own.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "../../../core/array/array.h"
#include "../../../core/runtime/parallel.h"
#include "rows.h"
#include "walk.h"
#include "wide.h"

namespace xgrad {

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

namespace detail::inline XGRAD_SIMD {

// The same when some inputs of the row repeat one element.
class MixedInput {
 public:
  MixedInput(const RowInput& in) : in_(in), same_(in.step == 0 ? *in.from : Real(0)) {}
  template <class Part>
  Pack load(std::int64_t i, const Part& part) const {
    return in_.step == 0 ? same_ : part.load(in_.from + i);
  }

 private:
  RowInput in_;
  Pack same_;
};

// out[i] = f(in[i]...) for i in [0, n). The last, incomplete pack is computed by the same instructions as the others,
// so an element's value does not depend on where it stands.
template <class F, std::same_as<RowInput>... Inputs>
void map_row(Real* out, std::int64_t n, const F& f, const Inputs&... in) {
  if (n == 1) {  // a number that was just written is there for a load of the same size, not for a wider one
    *out = first_of(Pack(f(Pack(*in.from)...)));
  } else if (((in.step == 1) && ...)) {
    each_pack(n, [&](std::int64_t i, auto part) { part.store(Pack(f(part.load(in.from + i)...)), out + i); });
  } else {
    const auto loop = [&](const auto&... mixed) {
      each_pack(n, [&](std::int64_t i, auto part) { part.store(Pack(f(mixed.load(i, part)...)), out + i); });
    };
    loop(MixedInput(in)...);
  }
}

// map_row for the processor that the program runs on, if it may be another than this file was compiled for.
template <class F, class... Inputs>
void map_row_here(Real* out, std::int64_t n, const F& f, const Inputs&... in) {
#ifdef XGRAD_WIDE_LOOPS
  if constexpr (std::is_invocable_v<const F&, decltype(static_cast<void>(in), wide_v4::Lanes())...>) {
    switch (level_of_kernels()) {
      case Level::v4:
        return wide_v4::map_row(out, n, f, in...);
      case Level::v3:
        return wide_v3::map_row(out, n, f, in...);
      case Level::base:
        break;
    }
  }
#endif
  map_row(out, n, f, in...);
}

template <class F, std::size_t... k, class... Inputs>
void map_to(Real* out, std::int64_t size, const Shape& shape, const F& f, std::index_sequence<k...>,
            const Inputs&... inputs) {
  if (size == 0) return;
  if (((inputs.size() == size || inputs.size() == 1) && ...)) {
    parallel_for(size, elementwise_block, [&](std::int64_t begin, std::int64_t end) {
      map_row_here(out + begin, end - begin, f,
              (inputs.size() == size ? RowInput{inputs.data() + begin, 1} : RowInput{inputs.data(), 0})...);
    });
    return;
  }
  const BroadcastPlan<sizeof...(k)> plan(shape, {&inputs.shape()...});
  plan.for_each_row([&](const auto& at, std::int64_t n) {
    map_row_here(out + at[sizeof...(k)], n, f, RowInput{inputs.data() + at[k], plan.step(k)}...);
  });
}

}  // namespace detail::inline XGRAD_SIMD

/// The shape of a result and who asks for it: the calling function, or the operation that is said.
struct ResultShape {
  ResultShape(const Shape& of, detail::Caller by = {__builtin_FUNCTION()}) : shape(of), caller(by) {}
  const Shape& shape;
  detail::Caller caller;
};

/// f(a, b, ...) elementwise with broadcasting to the shape of the result, where f takes and returns Packs.
template <class F, std::same_as<Array>... Inputs>
Array map(const ResultShape& of, const F& f, const Inputs&... inputs) {
  Array result(of.shape, of.caller);
  detail::map_to(result.mutable_data(), result.size(), of.shape, f, std::index_sequence_for<Inputs...>(), inputs...);
  return result;
}
/// The same with the shape of a; written over a if nobody else holds it.
template <class F, std::same_as<Array>... Inputs>
Array map_over(detail::Caller caller, Array a, const F& f, const Inputs&... inputs) {
  if (!a.unique()) return map({a.shape(), caller}, f, a, inputs...);
  Real* const out = a.mutable_data();
  detail::map_to(out, a.size(), a.shape(), f, std::index_sequence_for<Array, Inputs...>(), a, inputs...);
  return a;
}

template <class F>
Array map(const Array& x, const F& f, detail::Caller caller = {__builtin_FUNCTION()}) {
  return map({x.shape(), caller}, f, x);
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

/// out = f(in0, in1, ...) elementwise with broadcasting to the shape of the result, for elements of any types, where f takes and
/// returns single numbers.
template <class Out, class F, class... In>
BasicArray<Out> map_elements(const ResultShape& of, const F& f, const BasicArray<In>&... inputs) {
  constexpr std::size_t K = sizeof...(In);
  BasicArray<Out> result(of.shape, of.caller);
  if (result.size() == 0) return result;
  Out* out = result.mutable_data();
  const BroadcastPlan<K> plan(of.shape, {&inputs.shape()...});
  detail::with_steps(plan, [&](auto... step) {
    [&]<std::size_t... k>(std::index_sequence<k...>, const auto*... in) {
      plan.for_each_row([&](const auto& at, std::int64_t n) {
        const auto own = f;  // what f holds cannot be among the results, so it stays in registers
        for (std::int64_t i = 0; i < n; ++i) out[at[K] + i] = own(in[at[k] + i * step]...);
      });
    }(std::make_index_sequence<K>{}, detail::readable(inputs.data())...);
  });
  return result;
}

}  // namespace xgrad
