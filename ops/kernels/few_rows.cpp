// c = a b' by inner products: rows of b pass by once, from memory, while the few rows of a stay in the first-level
// cache. Nothing is copied, so the time is that of reading b.
#include "few_rows.h"

#include <algorithm>
#include <array>
#include <utility>

#include "multiply_add.h"

namespace xgrad::detail {
namespace {

constexpr std::int64_t most_rows = 16;
constexpr int rows_at_once = 8;                                                 // of a
constexpr std::int64_t ahead = 1024 / static_cast<std::int64_t>(sizeof(Real));  // numbers of b that are fetched early

// sum[i][j] += a_i . b_j for the numbers of one pack.
template <int rows, int columns, class Part>
[[gnu::always_inline]] inline void add_products(Pack (&sum)[rows][columns], const Real* a, std::int64_t a_stride,
                                                const Real* b, std::int64_t b_stride, const Part& part) {
  Pack right[columns];
  XGRAD_UNROLL
  for (int j = 0; j < columns; ++j) {
    __builtin_prefetch(b + j * b_stride + ahead);
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
void inner_products(const Gemm& p, const Factor& a, const Real* b, std::int64_t b_stride, const Real* bias, Real* c,
                    std::int64_t c_stride) {
  Pack sum[rows][columns];
  const Real* const left = a.data;
  const std::int64_t a_stride = a.stride, depth = p.k;
  std::int64_t k = 0;
  for (; k + pack_width <= depth; k += pack_width) {
    add_products(sum, left + k, a_stride, b + k, b_stride, FullPack());
  }
  if (k < depth) {
    add_products(sum, left + k, a_stride, b + k, b_stride, PartPack{static_cast<std::size_t>(depth - k)});
  }
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

using Compute = void (*)(const Gemm&, const Factor&, const Real*, std::int64_t, const Real*, Real*, std::int64_t);

// inner_products<rows, columns> for rows = 1 ... rows_at_once.
template <int columns>
constexpr auto computes = []<int... i>(std::integer_sequence<int, i...>) {
  return std::array<Compute, sizeof...(i)>{inner_products<i + 1, columns>...};
}(std::make_integer_sequence<int, rows_at_once>());

}  // namespace

bool suits_few_rows(const Gemm& p, const Factor& a, const Factor& b) {
  return p.m <= most_rows && p.n >= 8 && p.k >= pack_width && b.transposed && !a.transposed;
}

void few_rows_gemm(const Gemm& p, const Factor& a, const Factor& b, Real* c, std::int64_t c_stride) {
  // Rows of b that pass by together share what is loaded of a; for one or two rows of a they are the only sums.
  constexpr int few = registers >= 32 ? 2 : 1, many = 4;
  for (std::int64_t i = 0; i < p.m; i += rows_at_once) {
    const auto rows = std::min<std::int64_t>(rows_at_once, p.m - i);
    const auto number = static_cast<std::size_t>(rows - 1);
    const Factor left{a.data + i * a.stride, a.stride, false};
    const std::int64_t together = rows <= 2 ? many : few;
    std::int64_t j = 0;
    const auto compute = [&](Compute products) {
      products(p, left, b.data + j * b.stride, b.stride, p.bias ? p.bias + j : nullptr, c + i * c_stride + j, c_stride);
    };
    for (; j + together <= p.n; j += together) compute(rows <= 2 ? computes<many>[number] : computes<few>[number]);
    for (; j < p.n; ++j) compute(computes<1>[number]);
  }
}

}  // namespace xgrad::detail
