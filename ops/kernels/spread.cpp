// Three passes over each line, of which the first alone comes from far away: the mean, what is left of it, the squares.
#include "spread.h"

#include "fold.h"
#include "lines.h"

namespace xgrad {
namespace {

// The mean in two parts, the second much smaller.
struct Mean {
  Real mean, rest;
};

Mean mean_of_row(const Lines& lines, const Real* line) {
  const Real share = Real(1) / static_cast<Real>(lines.count), mean = fold_line<Sum>(lines, line) * share;
  return {mean, fold_line<Sum>(lines, line, [shift = Pack(mean)](const Pack& v) { return v - shift; }) * share};
}

// Those of lines that stand side by side.
struct Means {
  Real mean[lines_side_by_side], rest[lines_side_by_side];

  Means(const Lines& lines, const Real* from, std::int64_t n) {
    const Real share = Real(1) / static_cast<Real>(lines.count);
    fold_columns<Sum>(from, lines.count, lines.inner, n, mean);
    for (std::int64_t j = 0; j < n; ++j) mean[j] *= share;
    fold_columns<Sum>(from, lines.count, lines.inner, n, rest,
                      [this](const auto& v, std::int64_t j) { return less_mean(v, j); });
    for (std::int64_t j = 0; j < n; ++j) rest[j] *= share;
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

}  // namespace

Array squared_deviations(const Array& x, const Axes& axes, const Shape& to) {
  Array result(to);
  Real* out = result.mutable_data();
  const Lines lines = lines_of(x, axes);
  const Real* in = lines.numbers.data();
  for_lines(
      lines,
      [&](std::int64_t line) {
        const Real* from = in + line * lines.count;
        const Mean means = mean_of_row(lines, from);
        out[line] = fold_line<Sum>(lines, from, [mean = Pack(means.mean), rest = Pack(means.rest)](const Pack& v) {
          const Pack d = v - mean - rest;
          return d * d;
        });
      },
      [&](std::int64_t line, std::int64_t at, std::int64_t n) {
        const Means means(lines, in + at, n);
        fold_columns<Sum>(in + at, lines.count, lines.inner, n, out + line, [&](const auto& v, std::int64_t j) {
          const auto d = means.deviation(v, j);
          return d * d;
        });
      });
  return result;
}

Array scaled_deviations(const Array& x, const Axes& axes, const Array& slope) {
  const Lines lines = lines_of(x, axes);
  Array result(lines.numbers.shape());
  const Real *in = lines.numbers.data(), *slopes = slope.data();
  Real* out = result.mutable_data();
  for_lines(
      lines,
      [&](std::int64_t line) {
        const std::int64_t at = line * lines.count;
        const Mean means = mean_of_row(lines, in + at);
        const Pack mean(means.mean), rest(means.rest), scale(slopes[line]);
        parallel_for(lines.count, std::int64_t{1} << 15, [&](std::int64_t begin, std::int64_t end) {
          const Real* from = in + at + begin;
          Real* to = out + at + begin;
          each_pack(end - begin, [&](std::int64_t i, auto part) {
            part.store((part.load(from + i) - mean - rest) * scale, to + i);
          });
        });
      },
      [&](std::int64_t line, std::int64_t at, std::int64_t n) {
        const Means means(lines, in + at, n);
        for (std::int64_t i = 0; i < lines.count; ++i) {
          const Real* from = in + at + i * lines.inner;
          Real* to = out + at + i * lines.inner;
          for (std::int64_t j = 0; j < n; ++j) to[j] = means.deviation(from[j], j) * slopes[line + j];
        }
      });
  return out_of_lines(result, lines, x.shape());
}

}  // namespace xgrad
