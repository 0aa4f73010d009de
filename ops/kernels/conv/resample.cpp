// Each row of the result is a weighted sum of rows, in a buffer; then its columns are weighted sums within that.
#include "resample.h"

#include <algorithm>
#include <vector>

#include "../../../core/base/assert.h"
#include "../registers/reduce.h"
#include "../registers/rows.h"

namespace xgrad {
namespace {

// Consecutive rows of a band with equally many columns.
struct Run {
  std::int64_t begin, end, count;
};

std::vector<Run> runs_of(const Band& band) {
  std::vector<Run> runs;
  for (std::int64_t i = 0; i < band.out; ++i) {
    const std::int64_t count = band.count(i);
    if (runs.empty() || runs.back().count != count) runs.push_back({i, i, count});
    runs.back().end = i + 1;
  }
  return runs;
}

// y_i = sum of row i of the band times x, for a run of rows with `count` columns.
template <std::int64_t count>
void narrow_sums(const Band& band, const Run& run, const Real* x, Real* y) {
  const std::int64_t* first = band.first.data();
  const auto each = [&](const auto& term) {
    for (std::int64_t i = run.begin; i < run.end; ++i) {
      Real sum = term(i, 0);
      for (std::int64_t k = 1; k < count; ++k) sum += term(i, k);
      y[i] = sum;
    }
  };
  if (const Real* weights = band.weights_of(run.begin)) {
    each([&](std::int64_t i, std::int64_t k) { return weights[(i - run.begin) * count + k] * x[first[i] + k]; });
  } else {
    each([&](std::int64_t i, std::int64_t k) { return x[first[i] + k]; });
  }
}

// The same for any number of columns.
void wide_sums(const Band& band, const Run& run, const Real* x, Real* y) {
  for (std::int64_t i = run.begin; i < run.end; ++i) {
    const Real *from = x + band.first.data()[i], *weights = band.weights_of(i);
    y[i] = weights ? sum_packs(run.count,
                               [=](std::int64_t k, auto part) { return part.load(weights + k) * part.load(from + k); })
                   : reduce_row<Sum>(from, run.count);
  }
}

void sums(const Band& band, const std::vector<Run>& runs, const Real* x, Real* y) {
  for (const Run& run : runs) {
    const auto sums_of_run = run.count == 1   ? narrow_sums<1>
                             : run.count == 2 ? narrow_sums<2>
                             : run.count == 3 ? narrow_sums<3>
                                              : wide_sums;
    sums_of_run(band, run, x, y);
  }
}

// Whether a row of the band equals the one before it.
bool repeats(const Band& band, std::int64_t row) {
  if (row == 0 || band.first.data()[row] != band.first.data()[row - 1] || band.count(row) != band.count(row - 1)) {
    return false;
  }
  const Real *weights = band.weights_of(row), *divisors = band.divisors.data();
  if (band.divisors.size() > 0 && divisors[row] != divisors[row - 1]) return false;
  return !weights || std::equal(weights, weights + band.count(row), band.weights_of(row - 1));
}

// y = sum of a row of the band times the rows of x, each of n numbers.
void sum_of_rows(const Band& band, std::int64_t row, const Real* x, std::int64_t n, Real* y) {
  constexpr std::int64_t few = 16;
  const std::int64_t count = band.count(row);
  const Real* weights = band.weights_of(row);
  x += band.first.data()[row] * n;
  if (!weights && count > few) return reduce_columns<Sum>(x, count, n, n, y);
  each_pack(n, [=](std::int64_t i, auto part) {
    Pack sum(0);
    for (std::int64_t k = 0; k < count; ++k) {
      const Pack elements = part.load(x + k * n + i);
      sum = sum + (weights ? Pack(weights[k]) * elements : elements);
    }
    part.store(sum, y + i);
  });
}

}  // namespace

Band transposed(const Band& band) {
  const std::int64_t* first = band.first.data();
  std::vector<Span> spans(static_cast<std::size_t>(band.in));  // of rows that reach each column
  // The first row that reaches a column is the first that extends to it, the last one the last that begins before it.
  for (std::int64_t i = 0, reached = 0; i < band.out; ++i) {
    const std::int64_t end = first[i] + band.count(i);
    for (std::int64_t j = std::max(first[i], reached); j < end; ++j) spans[static_cast<std::size_t>(j)].first = i;
    if (band.count(i) > 0) reached = end;
  }
  for (std::int64_t i = band.out - 1, reached = band.in; i >= 0; --i) {
    const std::int64_t end = std::min(first[i] + band.count(i), reached);
    for (std::int64_t j = first[i]; j < end; ++j) {
      Span& span = spans[static_cast<std::size_t>(j)];
      span.count = i + 1 - span.first;
    }
    if (band.count(i) > 0) reached = first[i];
  }
  const auto span_of = [&](std::int64_t column) { return spans[static_cast<std::size_t>(column)]; };
  if (band.weights.size() == 0) return make_band(band.out, band.in, span_of);
  return make_band(band.out, band.in, span_of, [&](std::int64_t column, std::int64_t row) {
    const std::int64_t k = column - first[row];
    return k >= 0 && k < band.count(row) ? band.weights_of(row)[k] : 0;
  });
}

Array resampled(std::int64_t planes, const Array& x, const Band& rows, const Band& columns) {
  XGRAD_ASSERT(x.size() == planes * rows.in * columns.in);
  XGRAD_ASSERT((rows.divisors.size() > 0) == (columns.divisors.size() > 0));
  Array y(Shape{planes, rows.out, columns.out});
  const Real* from = x.data();
  Real* to = y.mutable_data();
  const std::int64_t in = rows.in * columns.in, out = rows.out * columns.out;
  const std::vector<Run> runs = runs_of(columns);
  const Real *down = rows.divisors.data(), *across = columns.divisors.data();
  const bool divided = rows.divisors.size() > 0;
  parallel_for(planes, rows_per_block(in + out), [&](std::int64_t begin, std::int64_t end) {
    std::vector<Real, PoolAllocator<Real>> row_sum(static_cast<std::size_t>(columns.in));
    for (std::int64_t plane = begin; plane < end; ++plane) {
      for (std::int64_t row = 0; row < rows.out; ++row) {
        Real* y_row = to + plane * out + row * columns.out;
        if (repeats(rows, row)) {
          std::copy_n(y_row - columns.out, columns.out, y_row);
          continue;
        }
        sum_of_rows(rows, row, from + plane * in, columns.in, row_sum.data());
        sums(columns, runs, row_sum.data(), y_row);
        for (std::int64_t j = 0; divided && j < columns.out; ++j) y_row[j] /= down[row] * across[j];
      }
    }
  });
  return y;
}

}  // namespace xgrad
