// Loops over arrays for kernels: same-shape and broadcasting elementwise loops on Packs, in parallel over fixed blocks.
// xtensor broadcasts inner axes element by element, tens of times slower than this; hence loops of our own.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <tuple>
#include <utility>

#include "../../../core/array/array.h"
#include "rows.h"

namespace xgrad {

/// Elements that one thread handles at a time in elementwise loops.
inline constexpr std::int64_t elementwise_block = 1 << 14;

namespace detail {

/// An input along a row.
struct RowInput {
  const Real* from;
  std::int64_t step;  // 0 or 1
};

/// One row of an elementwise loop over K inputs, without the types of its numbers: n elements from out[to] on, of
/// which input k is read from `offsets[k]` on with steps of 0 or 1.
using LoopRow = void (*)(const void* loop, std::int64_t to, std::int64_t n, const std::int64_t* offsets,
                         const std::int64_t* steps);
/// Calls row(loop, ...), in parallel, for rows as long as they can be that together make a result of this shape. K is 1
/// to 5.
template <std::size_t K>
void each_loop_row(LoopRow row, const void* loop, const Shape& shape, const std::array<const Shape*, K>& inputs);

}  // namespace detail

namespace detail::inline XGRAD_SIMD {

// out[i] = f(in[i]...) for i in [0, n). There is one loop, since the compiler expands f for each: repeated elements and
// the numbers of the last, incomplete pack are copied to a whole pack. So a value does not depend on its position.
template <class F, std::same_as<RowInput>... Inputs>
void map_row(Real* out, std::int64_t n, const F& f, const Inputs&... in) {
  constexpr std::size_t K = sizeof...(Inputs);
  alignas(64) Real aside[K + 1][Pack::width];
  const auto remainder = static_cast<std::size_t>(n % pack_width);
  [&]<std::size_t... k>(std::index_sequence<k...>) {
    const auto set_aside = [&](std::size_t which, const Pack& pack) {
      pack.store(aside[which]);
      return aside[which];
    };
    const Real* from[K] = {in.step == 0 ? set_aside(k, Pack(*in.from)) : in.from...};
    const std::int64_t steps[K] = {in.step * pack_width...};
    Real* to = out;
    std::int64_t packs = n / pack_width;
    for (bool last = false;; last = true) {
      for (; packs > 0; --packs) {
        Pack(f(Pack::load(from[k])...)).store(to);
        to += pack_width;
        ((from[k] += steps[k]), ...);
      }
      if (last || remainder == 0) break;
      ((in.step == 0 ? void() : void(from[k] = set_aside(k, Pack::load_first(from[k], remainder)))), ...);
      to = aside[K];
      packs = 1;
    }
  }
  (std::index_sequence_for<Inputs...>());
  if (remainder > 0) Pack::load(aside[K]).store_first(out + n - static_cast<std::int64_t>(remainder), remainder);
}

template <class F, std::same_as<Array>... Inputs>
void map_to(Real* out, const Shape& shape, const F& f, const Inputs&... inputs) {
  constexpr std::size_t K = sizeof...(Inputs);
  struct Loop {
    const F& f;
    Real* out;
    std::array<const Real*, K> in;
  } const loop{f, out, {inputs.data()...}};
  const LoopRow row = [](const void* any, std::int64_t to, std::int64_t n, const std::int64_t* offsets,
                         const std::int64_t* steps) {
    const Loop& all = *static_cast<const Loop*>(any);
    [&]<std::size_t... k>(std::index_sequence<k...>) {
      map_row(all.out + to, n, all.f, RowInput{all.in[k] + offsets[k], steps[k]}...);
    }
    (std::make_index_sequence<K>());
  };
  each_loop_row<K>(row, &loop, shape, {&inputs.shape()...});
}

}  // namespace detail::inline XGRAD_SIMD

/// The shape of a result, and its caller for errors: the calling function, or a named operation.
struct ResultShape {
  ResultShape(const Shape& of, detail::Caller by = {__builtin_FUNCTION()}) : shape(of), caller(by) {}
  const Shape& shape;
  detail::Caller caller;
};

/// f(a, b, ...) elementwise with broadcasting to the shape of the result, where f takes and returns Packs.
template <class F, std::same_as<Array>... Inputs>
Array map(const ResultShape& of, const F& f, const Inputs&... inputs) {
  Array result(of.shape, of.caller);
  detail::map_to(result.mutable_data(), of.shape, f, inputs...);
  return result;
}
/// The same with the shape of a; in place in a if nothing else holds it.
template <class F, std::same_as<Array>... Inputs>
Array map_over(detail::Caller caller, Array a, const F& f, const Inputs&... inputs) {
  if (!a.unique()) return map({a.shape(), caller}, f, a, inputs...);
  Real* const out = a.mutable_data();
  detail::map_to(out, a.shape(), f, a, inputs...);
  return a;
}

Array map(const Array& x, const auto& f, detail::Caller caller = {__builtin_FUNCTION()}) {
  return map({x.shape(), caller}, f, x);
}

namespace detail {

// GCC 12 vectorises loops over bytes, but not over booleans.
inline const unsigned char* readable(const bool* in) { return reinterpret_cast<const unsigned char*>(in); }
template <class T>
const T* readable(const T* in) {
  return in;
}

// The length of the copies from which a repeated element of a row is read.
inline constexpr std::int64_t repeats = 256;

}  // namespace detail

/// out = f(in0, in1, ...) elementwise with broadcasting to the shape of the result, for elements of any types, where f
/// takes and returns single numbers.
template <class Out, class F, class... In>
BasicArray<Out> map_elements(const ResultShape& of, const F& f, const BasicArray<In>&... inputs) {
  constexpr std::size_t K = sizeof...(In);
  BasicArray<Out> result(of.shape, of.caller);
  struct Loop {
    const F& f;
    Out* out;
    std::tuple<const In*...> in;
  } const loop{f, result.mutable_data(), {inputs.data()...}};
  const detail::LoopRow row = [](const void* any, std::int64_t to, std::int64_t n, const std::int64_t* offsets,
                                 const std::int64_t* steps) {
    const Loop& all = *static_cast<const Loop*>(any);
    Out* const out = all.out + to;
    const auto own = all.f;  // a copy of f does not alias the results, so it stays in registers
    [&]<std::size_t... k>(std::index_sequence<k...>) {
      const std::tuple<const In*...> in{std::get<k>(all.in) + offsets[k]...};
      if (n == 1) {
        *out = own(*detail::readable(std::get<k>(in))...);
        return;
      }
      std::tuple<std::array<In, detail::repeats>...> copies;
      const bool repeated = ((steps[k] == 0) || ...);
      ((steps[k] == 0 ? std::get<k>(copies).fill(*std::get<k>(in)) : void()), ...);
      const std::int64_t piece = repeated ? detail::repeats : n;
      for (std::int64_t begin = 0; begin < n; begin += piece) {
        const std::int64_t count = std::min(piece, n - begin);
        const auto run = [&](Out* y, const auto*... x) {
          for (std::int64_t i = 0; i < count; ++i) y[i] = own(x[i]...);
        };
        run(out + begin, detail::readable(steps[k] == 0 ? std::get<k>(copies).data() : std::get<k>(in) + begin)...);
      }
    }
    (std::make_index_sequence<K>());
  };
  detail::each_loop_row<K>(row, &loop, of.shape, {&inputs.shape()...});
  return result;
}

}  // namespace xgrad
