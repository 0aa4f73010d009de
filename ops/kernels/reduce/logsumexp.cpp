// Each line in two passes: its maximum, then the powers and their sum.
#include "logsumexp.h"

#include <cmath>

#include "../registers/fold.h"
#include "../products/lines.h"
#include "../registers/loops.h"

namespace xgrad {
namespace {

using detail::infinity;


template <class V>
V power(const V& exponent) {
  return first_of(exp(Pack(exponent)));
}
template <>
Pack power(const Pack& exponent) {
  return exp(exponent);
}

// The share of a number in the sum of its line, times gy.
Real share_of(Real x, Real most, Real sum, Real gy) {
  if (most == -infinity) return gy * 0;
  return gy * (most == infinity ? static_cast<Real>(x == infinity) : power(x - most)) / sum;
}

}  // namespace

LogSumExp logsumexp_over(const Array& x, const Axes& axes, const Shape& to) {
  LogSumExp result{.most = Array(to), .sum = Array(to), .y = {}};
  Real *most = result.most.mutable_data(), *sum = result.sum.mutable_data();
  const Lines lines = lines_of(x, axes);
  const Real* in = lines.numbers.data();
  const std::int64_t count = lines.count, inner = lines.inner;
  const auto infinities = [&](const Real* line) {
    std::int64_t number = 0;
    for (std::int64_t i = 0; i < count; ++i) number += line[i * inner] == infinity;
    return static_cast<Real>(number);
  };
  for_lines(
      lines,
      [&](std::int64_t line) {
        const Real* from = in + line * count;
        const Real m = fold_line<Max>(lines, from);
        const auto powers = [shift = Pack(m)](const Pack& v) { return exp(v - shift); };
        most[line] = m;
        sum[line] = std::abs(m) < infinity ? fold_line<Sum>(lines, from, powers) : Real(1);
        if (m == infinity) sum[line] = infinities(from);
      },
      [&](std::int64_t line, std::int64_t at, std::int64_t n) {
        fold_columns<Max>(in + at, count, inner, n, most + line);
        fold_columns<Sum>(in + at, count, inner, n, sum + line, [m = most + line](const auto& v, std::int64_t j) {
          return power(v - load_as<std::remove_cvref_t<decltype(v)>>(m + j));
        });
        for (std::int64_t j = 0; j < n; ++j) {
          if (most[line + j] == infinity) sum[line + j] = infinities(in + at + j);
        }
      });
  result.y = map(
      to, [](auto m, auto s) { return where(abs(m) < infinity, log(s) + m, m); }, result.most, result.sum);
  return result;
}

Array logsumexp_gradient(const Array& x, const Axes& axes, const LogSumExp& sums, const Array& gy) {
  const Lines lines = lines_of(x, axes);
  Array result(lines.numbers.shape());
  const Real *in = lines.numbers.data(), *most = sums.most.data(), *sum = sums.sum.data(), *slope = gy.data();
  Real* out = result.mutable_data();
  const std::int64_t count = lines.count, inner = lines.inner;
  for_lines(
      lines,
      [&](std::int64_t line) {
        const Real* from = in + line * count;
        Real* to = out + line * count;
        const Real m = most[line], s = sum[line], g = slope[line];
        if (!(std::abs(m) < infinity)) {
          for (std::int64_t i = 0; i < count; ++i) to[i] = share_of(from[i], m, s, g);
          return;
        }
        const Pack shift(m), scale(g / s);
        parallel_for(count, std::int64_t{1} << 15, [&](std::int64_t begin, std::int64_t end) {
          each_pack(end - begin, [&](std::int64_t i, auto part) {
            part.store(exp(part.load(from + begin + i) - shift) * scale, to + begin + i);
          });
        });
      },
      [&](std::int64_t line, std::int64_t at, std::int64_t n) {
        Real shift[lines_side_by_side], scale[lines_side_by_side];
        bool finite = true;
        for (std::int64_t j = 0; j < n; ++j) {
          finite = finite && std::abs(most[line + j]) < infinity;
          shift[j] = most[line + j];
          scale[j] = slope[line + j] / sum[line + j];
        }
        for (std::int64_t i = 0; i < count; ++i) {
          const Real* from = in + at + i * inner;
          Real* to = out + at + i * inner;
          if (finite) {
            each_pack(n, [&](std::int64_t j, auto part) {
              part.store(exp(part.load(from + j) - part.load(shift + j)) * part.load(scale + j), to + j);
            });
          } else {
            for (std::int64_t j = 0; j < n; ++j) to[j] = share_of(from[j], most[line + j], sum[line + j], slope[line + j]);
          }
        }
      });
  return out_of_lines(result, lines, x.shape());
}

}  // namespace xgrad
