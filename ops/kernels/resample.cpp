// Each row of the result is a weighted sum of rows, in a buffer; then its columns are weighted sums within that.
#include "resample.h"

#include <algorithm>
#include <vector>

#include "rows.h"

namespace xgrad {
namespace {

// y_i = sum of the weights of row i times x, where all rows have `count` weights.
template <std::int64_t count>
void narrow_sums(const Band& band, const Real* x, Real* y) {
  const std::int64_t* first = band.first.data();
  const Real* weights = band.weights.data();
  for (std::int64_t i = 0; i < band.out; ++i) {
    Real sum = weights[i * count] * x[first[i]];
    for (std::int64_t k = 1; k < count; ++k) sum += weights[i * count + k] * x[first[i] + k];
    y[i] = sum;
  }
}

void any_sums(const Band& band, const Real* x, Real* y) {
  const std::int64_t *first = band.first.data(), *start = band.start.data();
  const Real* weights = band.weights.data();
  for (std::int64_t i = 0; i < band.out; ++i) {
    const Real *weight = weights + start[i], *from = x + first[i];
    y[i] = sum_packs(start[i + 1] - start[i],
                     [=](std::int64_t k, auto part) { return part.load(weight + k) * part.load(from + k); });
  }
}

// What sums fastest along the columns.
auto sums_for(const Band& band) {
  const std::int64_t count = band.out == 0 ? 0 : band.start.data()[1];
  for (std::int64_t i = 0; i <= band.out; ++i) {
    if (band.start.data()[i] != i * count) return any_sums;
  }
  return count == 1 ? narrow_sums<1> : count == 2 ? narrow_sums<2> : count == 3 ? narrow_sums<3> : any_sums;
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
  const auto sums = sums_for(columns);
  parallel_for(planes, rows_per_block(in + out), [&](std::int64_t begin, std::int64_t end) {
    std::vector<Real, PoolAllocator<Real>> row_sum(static_cast<std::size_t>(columns.in));
    for (std::int64_t plane = begin; plane < end; ++plane) {
      for (std::int64_t row = 0; row < rows.out; ++row) {
        sum_of_rows(rows, row, from + plane * in, columns.in, row_sum.data());
        sums(columns, row_sum.data(), to + plane * out + row * columns.out);
      }
    }
  });
  return y;
}

}  // namespace xgrad
