// c = a b' by inner products: rows of b are read once, from memory, while the few rows of a stay in the first-level
// cache. b is not copied, so the time is that of reading it.
#include "ways.h"

#include <algorithm>

#include "../../../core/array/array.h"
#include "../../../core/base/assert.h"
#include "../registers/multiply_add.h"

namespace xgrad::detail {
namespace {

constexpr std::int64_t most_rows = 16;
constexpr int rows_at_once = 8;  // of a
constexpr int rows_in_place = 2;

// Rows of a as they are read: pack k of row i is at data + i row_stride + k pack_stride. Side by side they are one
// stream, which leaves the processor's other streams to b.
struct LeftStream {
  const Real* data;
  std::int64_t row_stride, pack_stride;
};

// sum[i][j] += a_i . b_j for the numbers of one pack; the rows of b that come next are fetched.
template <int rows, int columns, class Part>
[[gnu::always_inline]] inline void add_products(Pack (&sum)[rows][columns], const Real* a, std::int64_t a_stride,
                                                const Real* b, std::int64_t b_stride, const Part& part) {
  Pack right[columns];
  XGRAD_UNROLL
  for (int j = 0; j < columns; ++j) {
    __builtin_prefetch(b + (j + columns) * b_stride);
    right[j] = part.load(b + j * b_stride);
  }
  XGRAD_UNROLL
  for (int i = 0; i < rows; ++i) {
    const Pack left = part.load(a + i * a_stride);
    XGRAD_UNROLL
    for (int j = 0; j < columns; ++j) sum[i][j] = multiply_add(left, right[j], sum[i][j]);
  }
}

// c[i][j] = scale (a_i . b_j) + bias_j + keep c[i][j] for `rows` rows of a and `columns` of b.
template <int rows, int columns>
void inner_products(const Gemm& p, const LeftStream& a, const Real* b, std::int64_t b_stride, const Real* bias, Real* c,
                    std::int64_t c_stride) {
  Pack sum[rows][columns];
  const Real* left = a.data;
  const std::int64_t row_stride = a.row_stride, pack_stride = a.pack_stride, depth = p.k;
  std::int64_t k = 0;
  for (; k + pack_width <= depth; k += pack_width, left += pack_stride) {
    add_products(sum, left, row_stride, b + k, b_stride, FullPack());
  }
  if (k < depth) add_products(sum, left, row_stride, b + k, b_stride, PartPack{static_cast<std::size_t>(depth - k)});
  XGRAD_UNROLL
  for (int i = 0; i < rows; ++i) {
    XGRAD_UNROLL
    for (int j = 0; j < columns; ++j) {
      Real& to = c[i * c_stride + j];
      const Real value = p.scale * sum_of(sum[i][j]) + (bias ? bias[j] : 0);
      to = p.keep == 0 ? value : p.keep * to + value;
    }
  }
}

// inner_products<rows, columns> for rows = 1 ... rows_at_once.
template <int columns>
constexpr auto computes = by_rows_at_once<rows_at_once>([](auto rows) { return inner_products<rows, columns>; });

// Copies the rows of a: in groups of rows_at_once the packs of a group lie side by side.
void copy_rows(const Gemm& p, const Factor& a, Real* to) {
  const std::int64_t row_stride = a.transposed ? 1 : a.stride, stride = a.transposed ? a.stride : 1;
  for (std::int64_t i = 0; i < p.m; i += rows_at_once) {
    for (std::int64_t k = 0; k < p.k; k += pack_width) {
      const std::int64_t width = std::min<std::int64_t>(pack_width, p.k - k);
      for (std::int64_t row = i; row < std::min(i + rows_at_once, p.m); ++row, to += pack_width) {
        const Real* const from = a.data + row * row_stride + k * stride;
        for (std::int64_t j = 0; j < width; ++j) to[j] = from[j * stride];
      }
    }
  }
}

// Computes columns of c from column j on, `together` at a time; returns the first column that is left. rows_of(i,
// count) are rows of a.
template <int together, class RowsOf>
std::int64_t columns_from(std::int64_t j, const Gemm& p, const RowsOf& rows_of, const Factor& b, Real* c,
                          std::int64_t c_stride) {
  for (; j + together <= p.n; j += together) {
    for (std::int64_t i = 0; i < p.m; i += rows_at_once) {
      const std::int64_t count = std::min<std::int64_t>(rows_at_once, p.m - i);
      computes<together>[static_cast<std::size_t>(count - 1)](p, rows_of(i, count), b.data + j * b.stride, b.stride,
                                                              p.bias ? p.bias + j : nullptr, c + i * c_stride + j,
                                                              c_stride);
    }
  }
  return j;
}

}  // namespace

bool suits_few_rows(const Gemm& p, const Factor& b) {
  // Tiles transpose b while they copy it, which in float takes few steps, and need no sum across a register.
  return p.m <= most_rows && b.transposed && p.k >= (sizeof(Real) == 4 ? 2 * p.m : 2) * pack_width;
}

void few_rows_gemm(const Gemm& p, const Factor& a, const Factor& b, Real* c, std::int64_t c_stride) {
  XGRAD_ASSERT(p.m <= most_rows && b.transposed);
  const bool in_place = p.m <= rows_in_place && !a.transposed;
  const std::int64_t row_size = padded(p.k);
  Array copies(Shape{in_place ? 0 : p.m * row_size});
  if (!in_place) copy_rows(p, a, copies.mutable_data());
  const auto rows_of = [&](std::int64_t i, std::int64_t count) -> LeftStream {
    if (in_place) return {a.data, a.stride, pack_width};  // they are few enough to be one group
    return {copies.data() + i * row_size, pack_width, count * pack_width};
  };
  // As many rows of b at a time as there are registers for their sums: each load of a serves all of them.
  constexpr int few = registers >= 32 ? 2 : 1, at_once = 4;
  const bool can_be_wide = p.m <= (registers >= 32 ? 4 : 2);
  std::int64_t j = can_be_wide ? columns_from<at_once>(0, p, rows_of, b, c, c_stride) : 0;
  j = columns_from<few>(j, p, rows_of, b, c, c_stride);
  columns_from<1>(j, p, rows_of, b, c, c_stride);
}

}  // namespace xgrad::detail
