// Shared by the files of linear algebra: loops over a batch of matrices, checks, and functions for rules. Private.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "../../core/graph/tensor.h"
#include "../../core/runtime/parallel.h"
#include "../creation/create.h"
#include "../elementwise/arithmetic.h"
#include "../indexing/axis.h"
#include "../shape/broadcast.h"
#include "../shape/shape.h"
#include "../shape/slice.h"
#include "lapack.h"
#include "matmul.h"

namespace xgrad::linalg {

inline constexpr Real eps = std::numeric_limits<Real>::epsilon();

// ---- Batches of matrices --------------------------------------------------------------------------------------------

// The sizes of matrices that lie one after another in memory.
struct Matrices {
  Shape batch;
  std::int64_t m, n, count;

  explicit Matrices(const Shape& shape)
      : batch(leading(shape, 2)), m(shape.dim(-2)), n(shape.dim(-1)), count(batch.numel()) {}
  std::int64_t size() const { return m * n; }
  std::int64_t k() const { return std::min(m, n); }

  // The batch's shape followed by these sizes.
  Shape with(const Shape& sizes) const { return joined(batch, sizes); }

  // `the matrix` or `matrix [1, 0] of the batch`.
  std::string name(std::int64_t i) const {
    if (batch.empty()) return "the matrix";
    return str("matrix ", position_of(i, batch), " of the batch");
  }

  // How many matrices a thread takes at a time if each takes `work` multiplications.
  static std::int64_t grain(std::int64_t work) {
    constexpr std::int64_t enough = 1 << 16;
    return std::max<std::int64_t>(1, enough / std::max<std::int64_t>(work, 1));
  }
  // Calls f(i) for every matrix, in parallel.
  void each(std::int64_t work, const auto& f) const {
    parallel_for(count, grain(work), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) f(i);
    });
  }
  // The same for an f that returns 0, or a code if it failed.
  std::vector<int> codes_of_each(std::int64_t work, const auto& f) const {
    std::vector<int> codes(static_cast<std::size_t>(count));
    each(work, [&](std::int64_t i) { codes[static_cast<std::size_t>(i)] = f(i); });
    return codes;
  }
};

// Calls `error(i, code)`, which throws, for the first matrix that failed.
void check_codes(const std::vector<int>& codes, const auto& error) {
  const auto bad = std::ranges::find_if(codes, [](int code) { return code != 0; });
  if (bad != codes.end()) error(bad - codes.begin(), *bad);
}

inline Matrices checked(const char* op, const Tensor& a) {
  const Shape& shape = a.shape();
  if (shape.rank() < 2) fail<ShapeError>(op, "needs matrices (..., m, n), got shape ", shape);
  if (shape.dim(-1) == 0 || shape.dim(-2) == 0) {
    fail<ShapeError>(op, "needs matrices with at least one row and one column, got shape ", shape);
  }
  if (std::max(shape.dim(-1), shape.dim(-2)) > lapack::largest_size) {
    fail<LimitError>(op, "matrices of shape ", shape, " are larger than ", lapack::largest_size);
  }
  return Matrices(shape);
}

inline Matrices checked_square(const char* op, const Tensor& a) {
  Matrices sizes = checked(op, a);
  if (sizes.m != sizes.n) fail<ShapeError>(op, "needs square matrices, got shape ", a.shape());
  return sizes;
}

// The diagonals of matrices that are read, counted from the main one: the lower triangle is {.last = 0}.
struct Diagonals {
  std::int64_t first = std::numeric_limits<std::int64_t>::min(), last = std::numeric_limits<std::int64_t>::max();
};

inline void check_finite(const char* op, const Tensor& a, const char* which = "", const Diagonals& read = {}) {
  const Matrices sizes(a.shape());
  const Real* values = a.value().data();
  for (std::int64_t i = 0; i < a.size(); ++i) {
    if (std::isfinite(values[i])) continue;
    const std::int64_t within = i % sizes.size(), row = within / sizes.n, column = within % sizes.n;
    if (column - row < read.first || column - row > read.last) continue;
    fail<NumericError>(op, which, sizes.name(i / sizes.size()), " has ", values[i], " at [", row, ", ", column,
                       "]; needs finite numbers");
  }
}

[[noreturn]] inline void refuse_singular(const char* op, const Matrices& sizes, std::int64_t i) {
  fail<NumericError>(op, sizes.name(i), " is singular; needs one that has an inverse");
}

// ---- Functions for rules --------------------------------------------------------------------------------------------

// a' b and a b'.
inline Tensor transposed_times(const Tensor& a, const Tensor& b) { return matmul(a, b, {.transpose_a = true}); }
inline Tensor times_transposed(const Tensor& a, const Tensor& b) { return matmul(a, b, {.transpose_b = true}); }
inline Tensor symmetric(const Tensor& x) { return (x + transpose(x)) / 2; }
// One number for every matrix (...) -> (..., 1, 1); for every row (..., m) -> (..., m, 1); every column -> (..., 1, n).
inline Tensor for_matrices(const Tensor& x) { return unsqueeze(unsqueeze(x, -1), -1); }
inline Tensor for_rows(const Tensor& x) { return unsqueeze(x, -1); }
inline Tensor for_columns(const Tensor& x) { return unsqueeze(x, -2); }
// The lower triangle with half of the diagonal.
inline Tensor lower_half(const Tensor& x) { return tril(x) * (1 - eye(x.dim(-1)) / 2); }

/// a^-1 b or a'^-1 b for the triangle of a, recorded, without checks.
Tensor triangular(const Tensor& a, const Tensor& b, lapack::Triangle triangle, lapack::Transposed trans);

}  // namespace xgrad::linalg
