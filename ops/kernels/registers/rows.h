// Rows of numbers pack by pack, for the kernels that go over the last axis (softmax, layer norm, losses, attention).
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "../../../core/base/config.h"
#include "../../../core/runtime/parallel.h"
#include "simd.h"

namespace xgrad::inline XGRAD_SIMD {

inline constexpr auto pack_width = static_cast<std::int64_t>(Pack::width);

/// n rounded up to whole packs.
inline std::int64_t padded(std::int64_t n) { return (n + pack_width - 1) / pack_width * pack_width; }

/// A full pack of a row.
struct FullPack {
  static Pack load(const Real* from, Real = 0) { return Pack::load(from); }
  static void store(const Pack& pack, Real* to) { pack.store(to); }
};
/// The last, incomplete pack of a row.
struct PartPack {
  std::size_t count;
  Pack load(const Real* from, Real rest = 0) const { return Pack::load_first(from, count, rest); }
  void store(const Pack& pack, Real* to) const { pack.store_first(to, count); }
};

/// Calls f(i, part) for i = 0, width, 2 width, ... below n; `part` loads and stores the numbers from i on.
void each_pack(std::int64_t n, const auto& f) {
  std::int64_t i = 0;
  for (; i + pack_width <= n; i += pack_width) f(i, FullPack{});
  if (i < n) f(i, PartPack{static_cast<std::size_t>(n - i)});
}

/// Combines f(i, part) over a row of n, in four interleaved chains. f must give `identity` where `part` has no numbers.
template <class F, class Combine>
Pack reduce_packs(std::int64_t n, const Pack& identity, const F& f, const Combine& combine) {
  Pack total[4] = {identity, identity, identity, identity};
  std::int64_t i = 0;
  for (; i + 4 * pack_width <= n; i += 4 * pack_width) {
    for (std::int64_t j = 0; j < 4; ++j) total[j] = combine(total[j], f(i + j * pack_width, FullPack{}));
  }
  const std::int64_t rest = (n - i) / pack_width;  // which chains go on is known here, so that they stay in registers
  for (int j = 0; j < 3; ++j) {
    if (j < rest) total[j] = combine(total[j], f(i + j * pack_width, FullPack{}));
  }
  i += rest * pack_width;
  if (i < n) total[3] = combine(total[3], f(i, PartPack{static_cast<std::size_t>(n - i)}));
  return combine(combine(total[0], total[1]), combine(total[2], total[3]));
}

/// The sum of f(i, part) over a row. Sums of parts of a long row are added up in double: a longer chain of
/// additions would lose digits.
Real sum_packs(std::int64_t n, const auto& f) {
  constexpr std::int64_t most = 4 * 512 * pack_width;
  double before = 0;
  for (std::int64_t first = 0;; first += most) {
    const Real sum = sum_of(reduce_packs(
        std::min(n - first, most), Pack(0), [&](std::int64_t i, auto part) { return f(first + i, part); },
        [](const Pack& a, const Pack& b) { return a + b; }));
    if (n - first <= most) return first == 0 ? sum : static_cast<Real>(before + sum);
    before += sum;
  }
}

/// The largest number of a row; -inf if there is none. Unspecified for a row with NaN.
inline Real max_of_row(const Real* x, std::int64_t n) {
  constexpr Real lowest = -std::numeric_limits<Real>::infinity();
  return max_of(reduce_packs(
      n, Pack(lowest), [x](std::int64_t i, auto part) { return part.load(x + i, lowest); },
      [](const Pack& a, const Pack& b) { return larger(a, b); }));
}

/// Whether n numbers are all neither infinite nor NaN.
inline bool all_finite(const Real* x, std::int64_t n) {
  // Each is multiplied by 0, so that the sum is 0 or NaN.
  return sum_packs(n, [x](std::int64_t i, auto part) { return part.load(x + i) * 0; }) == 0;
}

/// Rows of `columns` numbers that one thread handles at a time.
inline std::int64_t rows_per_block(std::int64_t columns) {
  constexpr std::int64_t block = 1 << 14;
  return std::max<std::int64_t>(1, block / std::max<std::int64_t>(columns, 1));
}

}  // namespace xgrad::inline XGRAD_SIMD
