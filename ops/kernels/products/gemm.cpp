// Products are cut into pieces for the threads; each piece goes to the way that suits the sizes.
#include "gemm.h"

#include <algorithm>

#include "../../../core/array/array.h"
#include "../../../core/base/assert.h"
#include "../../../core/runtime/parallel.h"
#include "../bfloat16/bfloat16.h"
#include "../registers/rows.h"
#include "ways.h"

namespace xgrad {
namespace {

// c = keep c + bias
void start_rows(const Gemm& p, Real* c, std::int64_t c_stride) {
  for (std::int64_t i = 0; i < p.m; ++i) {
    Real* row = c + i * c_stride;
    for (std::int64_t j = 0; j < p.n; ++j) row[j] = (p.bias ? p.bias[j] : 0) + (p.keep == 0 ? 0 : p.keep * row[j]);
  }
}

// The kernel of a product. All but the BLAS give the same bits whichever part of c is computed.
enum class Way { bfloat16, few_rows, tiles, blas };

Way way_of(const Gemm& p, const Factor& a, const Factor& b) {
  // A few rows take the time of reading a b that is in no near cache, and rounding it would add to that.
  constexpr std::int64_t far = 1 << 18;
  const bool few_rows = detail::suits_few_rows(p, a, b);
  if (few_rows && p.n * p.k >= far) return Way::few_rows;
  if (detail::rounds(p, a, b)) return Way::bfloat16;
  return few_rows ? Way::few_rows : detail::suits_tiles(p) ? Way::tiles : Way::blas;
}

// The longest chain of additions along k. Longer sums are halved, as those of sum().
std::int64_t most_depth(Way way) {
  constexpr std::int64_t most_in_chain = 512, most_in_blocks = 1 << 14;
  return way == Way::blas ? most_in_chain : way == Way::few_rows ? most_in_chain * pack_width : most_in_blocks;
}

void serial_gemm(Gemm p, const Factor& a, const Factor& b, Real* c, std::int64_t c_stride, Way way) {
  if (const std::int64_t most = most_depth(way); p.k > most) {
    const std::int64_t half = (p.k / 2 + most - 1) / most * most;
    Gemm first = p, second{.m = p.m, .n = p.n, .k = p.k - half, .scale = p.scale, .rounding = p.rounding};
    first.k = half;
    serial_gemm(first, a, b, c, c_stride, way);
    Array second_half(Shape{p.m, p.n});
    serial_gemm(second, {a.data + half * (a.transposed ? a.stride : 1), a.stride, a.transposed},
                {b.data + half * (b.transposed ? 1 : b.stride), b.stride, b.transposed}, second_half.mutable_data(),
                p.n, way);
    for (std::int64_t i = 0; i < p.m; ++i) {
      for (std::int64_t j = 0; j < p.n; ++j) c[i * c_stride + j] += second_half.data()[i * p.n + j];
    }
    return;
  }
  if (way == Way::bfloat16) return detail::bfloat_gemm(p, a, b, c, c_stride);
  if (way == Way::few_rows) return detail::few_rows_gemm(p, a, b, c, c_stride);
  if (way == Way::tiles) return detail::tile_gemm(p, a, b, c, c_stride);
  if (p.bias) {
    start_rows(p, c, c_stride);
    p.keep = 1;
  }
  detail::blas_product(p, a, b, c, c_stride);
}

// The number of pieces of a product, along the longer side of c. A BLAS may give other bits for other pieces, so
// their number must not depend on the number of threads. The others give the same bits; but with tiles each piece
// copies the other factor anew, so there are no more of them than threads.
std::int64_t pieces(const Gemm& p, Way way) {
  constexpr std::int64_t least = 1 << 18, most_for_blas = 8;
  return std::min<std::int64_t>(way == Way::blas ? most_for_blas : threads(), p.m * p.n * p.k / least);
}

}  // namespace

void gemm(const Gemm& p, const Factor& a, const Factor& b, Real* c, std::int64_t c_stride) {
  XGRAD_ASSERT(p.m >= 0 && p.n >= 0 && p.k >= 0);
  if (p.m == 0 || p.n == 0) return;
  XGRAD_ASSERT(p.m == 1 || c_stride >= p.n);
  if (p.k == 0) return start_rows(p, c, c_stride);
  const Way way = way_of(p, a, b);
  const bool by_rows = p.m >= p.n;
  const std::int64_t side = by_rows ? p.m : p.n;
  const std::int64_t piece = (side / std::max<std::int64_t>(1, pieces(p, way)) + 31) / 32 * 32;
  parallel_for(side, piece, [&](std::int64_t begin, std::int64_t end) {
    Gemm part = p;
    Factor from_a = a, from_b = b;
    if (by_rows) {
      part.m = end - begin;
      from_a.data += begin * (a.transposed ? 1 : a.stride);
    } else {
      part.n = end - begin;
      from_b.data += begin * (b.transposed ? b.stride : 1);
      if (p.bias) part.bias += begin;
    }
    serial_gemm(part, from_a, from_b, c + begin * (by_rows ? c_stride : 1), c_stride, way);
  });
}

}  // namespace xgrad
