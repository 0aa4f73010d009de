// Each row of the result is a weighted sum of rows, in a buffer; then its columns are weighted sums within that.
#include "resample.h"

#include <algorithm>
#include <vector>

#include "rows.h"

namespace xgrad {
namespace {

// Rows of a band that follow each other and have equally many weights.
struct Run {
  std::int64_t begin, end, count;
};

std::vector<Run> runs_of(const Band& band) {
  std::vector<Run> runs;
  for (std::int64_t i = 0; i < band.out; ++i) {
    const std::int64_t count = band.start.data()[i + 1] - band.start.data()[i];
    if (runs.empty() || runs.back().count != count) runs.push_back({i, i, count});
    runs.back().end = i + 1;
  }
  return runs;
}

// y_i = sum of the weights of row i times x, for a run of rows with `count` weights.
template <std::int64_t count>
void narrow_sums(const Band& band, const Run& run, const Real* x, Real* y) {
  const std::int64_t* first = band.first.data();
  const Real* weight = band.weights.data() + band.start.data()[run.begin];
  for (std::int64_t i = run.begin; i < run.end; ++i, weight += count) {
    Real sum = weight[0] * x[first[i]];
    for (std::int64_t k = 1; k < count; ++k) sum += weight[k] * x[first[i] + k];
    y[i] = sum;
  }
}

// The same for any number of weights.
void wide_sums(const Band& band, const Run& run, const Real* x, Real* y) {
  const Real* weight = band.weights.data() + band.start.data()[run.begin];
  for (std::int64_t i = run.begin; i < run.end; ++i, weight += run.count) {
    const Real* from = x + band.first.data()[i];
    y[i] = sum_packs(run.count, [=](std::int64_t k, auto part) { return part.load(weight + k) * part.load(from + k); });
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

// Whether a row of the band is the one before it once more.
bool repeats(const Band& band, std::int64_t row) {
  if (row == 0 || band.first.data()[row] != band.first.data()[row - 1]) return false;
  const Real* weights = band.weights.data();
  const std::int64_t* start = band.start.data() + row;
  return std::equal(weights + start[-1], weights + start[0], weights + start[0], weights + start[1]);
}

// y = sum of the weights of a row of the band times the rows of x, each of n numbers.
void sum_of_rows(const Band& band, std::int64_t row, const Real* x, std::int64_t n, Real* y) {
  const std::int64_t begin = band.start.data()[row], count = band.start.data()[row + 1] - begin;
  const Real* weights = band.weights.data() + begin;
  x += band.first.data()[row] * n;
  each_pack(n, [=](std::int64_t i, auto part) {
    Pack sum(0);
    for (std::int64_t k = 0; k < count; ++k) sum = sum + Pack(weights[k]) * part.load(x + k * n + i);
    part.store(sum, y + i);
  });
}

}  // namespace

Band transposed(const Band& band) {
  const std::int64_t *first = band.first.data(), *start = band.start.data();
  const Real* weights = band.weights.data();
  std::vector<Span> spans(static_cast<std::size_t>(band.in));  // of rows that reach each column
  for (std::int64_t i = 0; i < band.out; ++i) {
    for (std::int64_t k = 0; k < start[i + 1] - start[i]; ++k) {
      Span& span = spans[static_cast<std::size_t>(first[i] + k)];
      if (span.count == 0) span.first = i;
      span.count = i - span.first + 1;
    }
  }
  return make_band(
      band.out, band.in, [&](std::int64_t column) { return spans[static_cast<std::size_t>(column)]; },
      [&](std::int64_t column, std::int64_t row) {
        const std::int64_t k = column - first[row];
        return k >= 0 && k < start[row + 1] - start[row] ? weights[start[row] + k] : 0;
      });
}

Array resampled(std::int64_t planes, const Array& x, const Band& rows, const Band& columns) {
  Array y(Shape{planes, rows.out, columns.out});
  const Real* from = x.data();
  Real* to = y.mutable_data();
  const std::int64_t in = rows.in * columns.in, out = rows.out * columns.out;
  const std::vector<Run> runs = runs_of(columns);
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
      }
    }
  });
  return y;
}

}  // namespace xgrad
