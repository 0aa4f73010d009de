// Reducing an array along one axis: sums, products and extremes of lines.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "../../../core/array/array.h"
#include "../../../core/runtime/parallel.h"
#include "rows.h"

namespace xgrad::inline XGRAD_SIMD {

struct Sum {
  static constexpr Real identity = 0;
  static auto combine(const auto& a, const auto& b) { return a + b; }
};
struct Product {
  static constexpr Real identity = 1;
  static auto combine(const auto& a, const auto& b) { return a * b; }
};
struct Max {
  static constexpr Real identity = -std::numeric_limits<Real>::infinity();
  static Pack combine(const Pack& a, const Pack& b) { return maximum(a, b); }
  static Real combine(Real a, Real b) { return a >= b ? a : b > a ? b : a + b; }
};
struct Min {
  static constexpr Real identity = std::numeric_limits<Real>::infinity();
  static Pack combine(const Pack& a, const Pack& b) { return minimum(a, b); }
  static Real combine(Real a, Real b) { return a <= b ? a : b < a ? b : a + b; }
};

/// All numbers of a register by halving, within registers.
template <class Op>
Real reduce_pack(Pack elements) {
  typedef Real Register __attribute__((vector_size(Pack::width * sizeof(Real))));
  const auto halved = [&]<std::size_t step>(std::integral_constant<std::size_t, step>) {
    const auto all = std::bit_cast<Register>(elements);
    const Register upper = [&]<std::size_t... i>(std::index_sequence<i...>) {
      return __builtin_shufflevector(all, all, ((i + step) % Pack::width)...);
    }
    (std::make_index_sequence<Pack::width>());
    elements = Op::combine(elements, std::bit_cast<Pack>(upper));
  };
  [&]<std::size_t... k>(std::index_sequence<k...>) {
    (halved(std::integral_constant<std::size_t, (Pack::width >> (k + 1))>()), ...);
  }
  (std::make_index_sequence<std::countr_zero(Pack::width)>());
  return first_of(elements);
}

/// in[0] + ... + in[n-1] by halving, down to leaves that a few registers add up.
template <class Op>
Real reduce_row(const Real* in, std::int64_t n) {
  constexpr std::int64_t width = pack_width, leaf = 32 * width;
  if (n > leaf) {
    const std::int64_t half = (n / 2 + leaf - 1) / leaf * leaf;
    return Op::combine(reduce_row<Op>(in, half), reduce_row<Op>(in + half, n - half));
  }
  Real total = Op::identity;
  std::int64_t i = 0;
  if (n >= width) {
    Pack sum[4] = {Pack(Op::identity), Pack(Op::identity), Pack(Op::identity), Pack(Op::identity)};
    for (; i + 4 * width <= n; i += 4 * width) {
      for (std::int64_t j = 0; j < 4; ++j) sum[j] = Op::combine(sum[j], Pack::load(in + i + j * width));
    }
    for (; i + width <= n; i += width) sum[0] = Op::combine(sum[0], Pack::load(in + i));
    total = reduce_pack<Op>(Op::combine(Op::combine(sum[0], sum[1]), Op::combine(sum[2], sum[3])));
  }
  for (; i < n; ++i) total = Op::combine(total, in[i]);
  return total;
}

/// The same for one long row: its parts in parallel, then their results.
template <class Op>
Real reduce_long_row(const Real* in, std::int64_t n) {
  constexpr std::int64_t part = 1 << 15;
  const std::int64_t parts = (n + part - 1) / part;
  std::vector<Real, PoolAllocator<Real>> sums(static_cast<std::size_t>(parts));
  parallel_for(n, part, [&](std::int64_t begin, std::int64_t end) {
    sums[static_cast<std::size_t>(begin / part)] = reduce_row<Op>(in + begin, end - begin);
  });
  return reduce_row<Op>(sums.data(), parts);
}

/// out[j] = combination over i < rows of in[i step + j] for j < columns, rows by halving.
template <class Op>
void reduce_columns(const Real* in, std::int64_t rows, std::int64_t step, std::int64_t columns, Real* out) {
  constexpr std::int64_t width = pack_width, leaf = 64;
  if (rows > leaf) {
    const std::int64_t half = (rows / 2 + leaf - 1) / leaf * leaf;
    std::vector<Real, PoolAllocator<Real>> second(static_cast<std::size_t>(columns));
    reduce_columns<Op>(in, half, step, columns, out);
    reduce_columns<Op>(in + half * step, rows - half, step, columns, second.data());
    for (std::int64_t j = 0; j < columns; ++j) out[j] = Op::combine(out[j], second[static_cast<std::size_t>(j)]);
    return;
  }
  std::int64_t j = 0;
  constexpr std::int64_t together = 4;  // packs whose sums do not wait for each other
  for (; j + together * width <= columns; j += together * width) {
    Pack total[together];
    for (Pack& each : total) each = Op::identity;
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t t = 0; t < together; ++t) {
        total[t] = Op::combine(total[t], Pack::load(in + i * step + j + t * width));
      }
    }
    for (std::int64_t t = 0; t < together; ++t) total[t].store(out + j + t * width);
  }
  for (; j + width <= columns; j += width) {
    Pack total(Op::identity);
    for (std::int64_t i = 0; i < rows; ++i) total = Op::combine(total, Pack::load(in + i * step + j));
    total.store(out + j);
  }
  for (; j < columns; ++j) {
    Real total = Op::identity;
    for (std::int64_t i = 0; i < rows; ++i) total = Op::combine(total, in[i * step + j]);
    out[j] = total;
  }
}

}  // namespace xgrad::inline XGRAD_SIMD
