// Products are cut into pieces for the threads; each piece goes to the way that suits the sizes.
#include "product.h"

#include <algorithm>

#include "../../../core/array/array.h"
#include "../../../core/base/assert.h"
#include "../../../core/runtime/parallel.h"
#include "../registers/rows.h"
#include "ways.h"

namespace xgrad {
namespace {

// So few rows, or columns, leave the tiles of other products mostly empty.
constexpr std::int64_t few = 8;

// The kernel of a product. An element of c has the same bits whichever part of c is computed with it.
enum class Way { rounded, loops, few_rows, low_tiles, tiles };

Way way_of(const Gemm& p, const Factor& a, const Factor& b) {
  // A few rows take the time of reading a b that is in no near cache, and rounding it would add to that.
  constexpr std::int64_t near = 1 << 18, tiny = 300;
  const bool is_near = p.n * p.k < near, few_rows = detail::suits_few_rows(p, b);
  if (few_rows && !is_near) return Way::few_rows;
  if (p.rounding.unit && p.rounding.unit->rounds(p, a, b)) return Way::rounded;
  if (p.m * p.n * p.k <= tiny) return Way::loops;
  if (few_rows && p.m <= few) return Way::few_rows;
  return p.m < few && !is_near ? Way::low_tiles : Way::tiles;
}

// c_ij becomes product + bias_j + keep c_ij.
void finish(const Gemm& p, std::int64_t j, Real product, Real& c) {
  const Real value = product + (p.bias ? p.bias[j] : 0);
  c = p.keep == 0 ? value : p.keep * c + value;
}

void loops(const Gemm& p, const Factor& a, const Factor& b, Real* c, std::int64_t c_stride) {
  const std::int64_t a_row = a.transposed ? 1 : a.stride, a_step = a.transposed ? a.stride : 1;
  const std::int64_t b_column = b.transposed ? b.stride : 1, b_step = b.transposed ? 1 : b.stride;
  for (std::int64_t i = 0; i < p.m; ++i) {
    for (std::int64_t j = 0; j < p.n; ++j) {
      Real sum = 0;
      for (std::int64_t k = 0; k < p.k; ++k) sum += a.data[i * a_row + k * a_step] * b.data[j * b_column + k * b_step];
      finish(p, j, p.scale * sum, c[i * c_stride + j]);
    }
  }
}

// The longest chain of additions along k. Longer sums are halved, as those of sum().
std::int64_t most_depth(Way way) {
  constexpr std::int64_t most_in_chain = 512, most_in_blocks = 1 << 14;
  return way == Way::few_rows    ? most_in_chain * pack_width
         : way == Way::low_tiles ? most_in_chain * detail::low_depth
                                 : most_in_blocks;
}

void serial_gemm(const Gemm& p, const Factor& a, const Factor& b, Real* c, std::int64_t c_stride, Way way) {
  if (const std::int64_t most = most_depth(way); p.k > most) {
    const std::int64_t half = (p.k / 2 + most - 1) / most * most;
    Gemm first = p, second = p;
    first.k = half;
    second.k = p.k - half;
    second.keep = 0;
    second.bias = nullptr;
    serial_gemm(first, a, b, c, c_stride, way);
    Array second_half(Shape{p.m, p.n});
    serial_gemm(second, a.from(0, half), b.from(half, 0), second_half.mutable_data(), p.n, way);
    for (std::int64_t i = 0; i < p.m; ++i) {
      for (std::int64_t j = 0; j < p.n; ++j) c[i * c_stride + j] += second_half.data()[i * p.n + j];
    }
    return;
  }
  if (way == Way::rounded) return p.rounding.unit->gemm(p, a, b, c, c_stride);
  if (way == Way::few_rows) return detail::few_rows_gemm(p, a, b, c, c_stride);
  detail::tile_gemm(p, a, b, c, c_stride, way == Way::low_tiles);
}

// Cuts the longer side of c into pieces. Each copies the other factor anew, so there are no more of them than threads.
void in_pieces(const Gemm& p, const Factor& a, const Factor& b, Real* c, std::int64_t c_stride, Way way) {
  constexpr std::int64_t least = 1 << 18;
  const std::int64_t pieces = std::min<std::int64_t>(threads(), p.m * p.n * p.k / least);
  const bool by_rows = p.m >= p.n;
  const std::int64_t side = by_rows ? p.m : p.n;
  const std::int64_t piece = (side / std::max<std::int64_t>(1, pieces) + 31) / 32 * 32;
  parallel_for(side, piece, [&](std::int64_t begin, std::int64_t end) {
    Gemm part = p;
    (by_rows ? part.m : part.n) = end - begin;
    if (by_rows) return serial_gemm(part, a.from(begin, 0), b, c + begin * c_stride, c_stride, way);
    if (p.bias) part.bias += begin;
    serial_gemm(part, a, b.from(0, begin), c + begin, c_stride, way);
  });
}

// A single row whose elements lie one after another is a single column as well.
Factor lengthwise(const Factor& x, bool single, bool transposed, std::int64_t length) {
  return single && x.transposed != transposed && x.stride == 1 ? Factor{x.data, length, transposed} : x;
}

}  // namespace

void gemm(const Gemm& p, const Factor& given_a, const Factor& given_b, Real* c, std::int64_t c_stride) {
  XGRAD_ASSERT(p.m >= 0 && p.n >= 0 && p.k >= 0);
  if (p.m == 0 || p.n == 0) return;
  XGRAD_ASSERT(p.m == 1 || c_stride >= p.n);
  const Factor a = lengthwise(given_a, p.m == 1, false, p.k), b = lengthwise(given_b, p.n == 1, true, p.k);
  const Way way = p.k == 0 ? Way::loops : way_of(p, a, b);
  if (way == Way::loops) return loops(p, a, b, c, c_stride);
  // c' = b' a' for few columns, where a' is read well: along its rows, or as the few rows of b' want it.
  const Gemm turned{.m = p.n, .n = p.m, .k = p.k, .scale = p.scale};
  const Factor left{b.data, b.stride, !b.transposed}, right{a.data, a.stride, !a.transposed};
  const bool turns = way != Way::rounded && way != Way::few_rows && p.n < few && p.n <= p.m &&
                     (a.transposed || (p.n <= pack_width / 2 && detail::suits_few_rows(turned, right)));
  if (!turns) return in_pieces(p, a, b, c, c_stride, way);
  Array product(Shape{turned.m, turned.n});
  in_pieces(turned, left, right, product.mutable_data(), turned.n, way_of(turned, left, right));
  for (std::int64_t i = 0; i < p.m; ++i) {
    for (std::int64_t j = 0; j < p.n; ++j) finish(p, j, product.data()[j * p.m + i], c[i * c_stride + j]);
  }
}

}  // namespace xgrad
