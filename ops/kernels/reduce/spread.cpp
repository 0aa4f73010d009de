// Three passes over each line, of which only the first reads from memory: the mean, its correction, the squares. A line
// whose sums or squares leave the range is copied, brought near 1 by a power of two, and processed again.
#include "spread.h"

#include <cmath>
#include <limits>
#include <vector>

#include "../layers/layer_norm.h"
#include "../products/lines.h"
#include "../registers/fold.h"

namespace xgrad {
namespace {

using Limits = std::numeric_limits<Real>;

// The mean in two parts, the second much smaller.
struct Mean {
  Real mean, rest;

  Pack deviation(const Pack& v) const { return v - Pack(mean) - Pack(rest); }
};

Mean mean_of_row(const Lines& lines, const Real* line) {
  const Real count = static_cast<Real>(lines.count), mean = fold_line<Sum>(lines, line) / count;
  return {mean, fold_line<Sum>(lines, line, [shift = Pack(mean)](const Pack& v) { return v - shift; }) / count};
}

Real squares_of_row(const Lines& lines, const Real* line) {
  const Mean mean = mean_of_row(lines, line);
  return fold_line<Sum>(lines, line, [mean](const Pack& v) {
    const Pack d = mean.deviation(v);
    return d * d;
  });
}

// The means of lines side by side.
struct Means {
  Real mean[lines_side_by_side], rest[lines_side_by_side];

  Means(const Lines& lines, const Real* from, std::int64_t n) {
    const Real count = static_cast<Real>(lines.count);
    fold_columns<Sum>(from, lines.count, lines.inner, n, mean);
    for (std::int64_t j = 0; j < n; ++j) mean[j] /= count;
    fold_columns<Sum>(from, lines.count, lines.inner, n, rest,
                      [this](const auto& v, std::int64_t j) { return less_mean(v, j); });
    for (std::int64_t j = 0; j < n; ++j) rest[j] /= count;
  }
  template <class V>
  V less_mean(const V& v, std::int64_t j) const {
    return v - load_as<V>(mean + j);
  }
  template <class V>
  V deviation(const V& v, std::int64_t j) const {
    return less_mean(v, j) - load_as<V>(rest + j);
  }
};

// A contiguous copy of a line, times a power of two that brings its largest number near 1; times 1 if a number is not
// finite or all are 0.
struct ScaledLine {
  std::vector<Real, PoolAllocator<Real>> numbers;
  Real power = 1;

  ScaledLine(const Lines& lines, const Real* line) : numbers(static_cast<std::size_t>(lines.count)) {
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = line[static_cast<std::int64_t>(i) * lines.inner];
    Real largest = 0;
    for (const Real v : numbers) largest = std::max(largest, std::abs(v));
    if (largest == 0 || !all_finite(numbers.data(), lines.count)) return;
    power = power_near_inverse(largest);
    for (Real& v : numbers) v *= power;
  }
};

// Whether a sum of squares is right: nothing overflowed, and underflowed terms are small against the rest.
bool plausible(Real squares) { return squares > Limits::min() / Limits::epsilon() && squares <= Limits::max(); }

// The same spread from a line whose squares are not plausible.
Real scaled_spread(const Lines& lines, const Real* line, Real freedom, Spread spread) {
  const ScaledLine scaled(lines, line);
  const Real variance = squares_of_row(lines, scaled.numbers.data()) / freedom;
  return spread == Spread::variance ? variance / scaled.power / scaled.power : std::sqrt(variance) / scaled.power;
}

// Whether a mean and the factor of deviations from it are right.
bool plausible(Real mean, Real rest, Real slope, Real scale) {
  return std::isfinite(mean) && std::isfinite(rest) && (std::isnormal(scale) || slope == 0);
}

// (x - mean) slope/unit where they are not.
void write_scaled_deviations(const Lines& lines, const Real* line, Real slope, Real unit, Real* to) {
  const ScaledLine scaled(lines, line);
  const Mean mean = mean_of_row(lines, scaled.numbers.data());
  const Real inverse = 1 / (unit * scaled.power);
  for (const Real v : scaled.numbers) {
    *to = (v - mean.mean - mean.rest) * inverse * slope;
    to += lines.inner;
  }
}

}  // namespace

Array spread_over(const Array& x, const Axes& axes, const Shape& to, Real freedom, Spread spread) {
  Array result(to);
  Real* out = result.mutable_data();
  const Lines lines = lines_of(x, axes);
  const Real* in = lines.numbers.data();
  const auto of_squares = [=, &lines](Real squares, const Real* line) {
    if (!plausible(squares)) return scaled_spread(lines, line, freedom, spread);
    return spread == Spread::variance ? squares / freedom : std::sqrt(squares / freedom);
  };
  for_lines(
      lines,
      [&](std::int64_t line) {
        const Real* from = in + line * lines.count;
        out[line] = of_squares(squares_of_row(lines, from), from);
      },
      [&](std::int64_t line, std::int64_t at, std::int64_t n) {
        const Means means(lines, in + at, n);
        fold_columns<Sum>(in + at, lines.count, lines.inner, n, out + line, [&](const auto& v, std::int64_t j) {
          const auto d = means.deviation(v, j);
          return d * d;
        });
        for (std::int64_t j = 0; j < n; ++j) out[line + j] = of_squares(out[line + j], in + at + j);
      });
  return result;
}

Array scaled_deviations(const Array& x, const Axes& axes, const Array& slope, const Array& unit) {
  const Lines lines = lines_of(x, axes);
  Array result(lines.numbers.shape());
  const Real *in = lines.numbers.data(), *slopes = slope.data();
  Real* out = result.mutable_data();
  const auto unit_of = [units = unit.size() > 0 ? unit.data() : nullptr](std::int64_t line) {
    return units ? units[line] : Real(1);
  };
  for_lines(
      lines,
      [&](std::int64_t line) {
        const std::int64_t at = line * lines.count;
        const Mean mean = mean_of_row(lines, in + at);
        const Real scale = slopes[line] / unit_of(line);
        if (!plausible(mean.mean, mean.rest, slopes[line], scale)) {
          return write_scaled_deviations(lines, in + at, slopes[line], unit_of(line), out + at);
        }
        parallel_for(lines.count, std::int64_t{1} << 15, [&](std::int64_t begin, std::int64_t end) {
          const Real* from = in + at + begin;
          Real* to = out + at + begin;
          each_pack(end - begin, [&, scale = Pack(scale)](std::int64_t i, auto part) {
            part.store(mean.deviation(part.load(from + i)) * scale, to + i);
          });
        });
      },
      [&](std::int64_t line, std::int64_t at, std::int64_t n) {
        const Means means(lines, in + at, n);
        Real scale[lines_side_by_side];
        for (std::int64_t j = 0; j < n; ++j) scale[j] = slopes[line + j] / unit_of(line + j);
        for (std::int64_t i = 0; i < lines.count; ++i) {
          const Real* from = in + at + i * lines.inner;
          Real* to = out + at + i * lines.inner;
          for (std::int64_t j = 0; j < n; ++j) to[j] = means.deviation(from[j], j) * scale[j];
        }
        for (std::int64_t j = 0; j < n; ++j) {
          if (plausible(means.mean[j], means.rest[j], slopes[line + j], scale[j])) continue;
          write_scaled_deviations(lines, in + at + j, slopes[line + j], unit_of(line + j), out + at + j);
        }
      });
  return out_of_lines(result, lines, x.shape());
}

}  // namespace xgrad
