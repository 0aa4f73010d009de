// Normalising along axes. Kernels go row by row; xtensor's broadcasting reductions are 20 to 80 times slower here.
#include "normalize.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "../core/grad.h"
#include "arithmetic.h"
#include "create.h"
#include "elementwise.h"
#include "kernels/loops.h"
#include "reduce.h"
#include "kernels/rows.h"
#include "shape.h"

namespace xgrad {
namespace {

constexpr Real infinity = std::numeric_limits<Real>::infinity();

// f(x) where f works along the last axis.
template <class F>
Tensor along(const char* op, const Tensor& x, int axis, const F& f) {
  axis = normalize_axis(op, axis, std::max(x.rank(), 1));
  if (x.rank() == 0) return reshape(f(reshape(x, {1})), {});
  if (axis == x.rank() - 1) return f(x);
  return transpose(f(transpose(x, axis, -1)), axis, -1);
}

// Calls f(row, offset) for every row along the last axis of an array of this shape.
template <class F>
void each_row(const Shape& shape, const F& f) {
  const std::int64_t columns = shape.back();
  if (columns == 0) return;
  parallel_for(shape.numel() / columns, rows_per_block(columns), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) f(row, row * columns);
  });
}

// y = softmax(x) of n numbers.
void softmax_row(const Real* x, Real* y, std::int64_t n) {
  Real most = max_of_row(x, n);
  if (most == -infinity) {
    // All of them are -inf, or NaN.
    for (std::int64_t i = 0; i < n; ++i) y[i] = x[i] == -infinity ? 0 : x[i];
    return;
  }
  if (most == infinity) {
    replace_infinities(x, y, n);
    x = y;
    most = 0;
  }
  const Pack shift(most);
  const Real total = sum_packs(n, [&](std::int64_t i, auto part) {
    const Pack e = exp(part.load(x + i, -infinity) - shift);
    part.store(e, y + i);
    return e;
  });
  const Pack scale(1 / total);
  each_pack(n, [&](std::int64_t i, auto part) { part.store(part.load(y + i) * scale, y + i); });
}

void softmax_gradient_row(const Real* gy, const Real* y, Real* gx, std::int64_t n) {
  const Pack mean(sum_packs(n, [&](std::int64_t i, auto part) { return part.load(gy + i) * part.load(y + i); }));
  each_pack(n, [&](std::int64_t i, auto part) { part.store(part.load(y + i) * (part.load(gy + i) - mean), gx + i); });
}

// y = x - ln sum e^x of n numbers.
void log_softmax_row(const Real* x, Real* y, std::int64_t n) {
  Real most = max_of_row(x, n);
  if (most == -infinity) {
    std::copy_n(x, n, y);
    return;
  }
  if (most == infinity) {
    replace_infinities(x, y, n);
    x = y;
    most = 0;
  }
  const Pack shift(most);
  const Pack log_total(
      std::log(sum_packs(n, [&](std::int64_t i, auto part) { return exp(part.load(x + i, -infinity) - shift); })));
  each_pack(n, [&](std::int64_t i, auto part) { part.store(part.load(x + i) - shift - log_total, y + i); });
}

void log_softmax_gradient_row(const Real* gy, const Real* y, Real* gx, std::int64_t n) {
  const Pack total(sum_packs(n, [&](std::int64_t i, auto part) { return part.load(gy + i); }));
  each_pack(n,
            [&](std::int64_t i, auto part) { part.store(part.load(gy + i) - exp(part.load(y + i)) * total, gx + i); });
}

}  // namespace

Tensor softmax(const Tensor& x, int axis) {
  return along("softmax", x, axis, [](const Tensor& u) {
    Array y(u.shape());
    const Real* in = u.value().data();
    Real* out = y.mutable_data();
    const std::int64_t n = u.shape().back();
    each_row(u.shape(), [=](std::int64_t, std::int64_t at) { softmax_row(in + at, out + at, n); });
    return record("softmax", std::move(y), wrt(u, [](const Tensor& gv, const Tensor& v) {
                    if (recording()) return v * (gv - sum(gv * v, {.axis = -1, .keepdim = true}));
                    Array gu(v.shape());
                    const Real *g = gv.value().data(), *p = v.value().data();
                    Real* to = gu.mutable_data();
                    const std::int64_t columns = v.shape().back();
                    each_row(v.shape(), [=](std::int64_t, std::int64_t at) {
                      softmax_gradient_row(g + at, p + at, to + at, columns);
                    });
                    return Tensor(std::move(gu));
                  }));
  });
}

Tensor log_softmax(const Tensor& x, int axis) {
  return along("log_softmax", x, axis, [](const Tensor& u) {
    Array y(u.shape());
    const Real* in = u.value().data();
    Real* out = y.mutable_data();
    const std::int64_t n = u.shape().back();
    each_row(u.shape(), [=](std::int64_t, std::int64_t at) { log_softmax_row(in + at, out + at, n); });
    return record("log_softmax", std::move(y), wrt(u, [](const Tensor& gv, const Tensor& v) {
                    if (recording()) return gv - exp(v) * sum(gv, {.axis = -1, .keepdim = true});
                    Array gu(v.shape());
                    const Real *g = gv.value().data(), *p = v.value().data();
                    Real* to = gu.mutable_data();
                    const std::int64_t columns = v.shape().back();
                    each_row(v.shape(), [=](std::int64_t, std::int64_t at) {
                      log_softmax_gradient_row(g + at, p + at, to + at, columns);
                    });
                    return Tensor(std::move(gu));
                  }));
  });
}

namespace {

// The lengths of masked_softmax, row by row.
class RowLengths {
 public:
  RowLengths(const Shape& x, Index lengths) : lengths_(std::move(lengths)) {
    const bool fits = x.rank() > lengths_.rank() && (lengths_.rank() == 1 || lengths_.rank() == 2) &&
                      lengths_.dim(0) == x.dim(0) && (lengths_.rank() == 1 || lengths_.dim(1) == x.dim(-2));
    if (!fits) {
      fail<ShapeError>("masked_softmax", "lengths ", lengths_.shape(), " fit neither the sequences nor the rows of ",
                       x);
    }
    for (std::int64_t i = 0; i < lengths_.size(); ++i) {
      const std::int64_t length = lengths_.data()[i];
      if (length < 0 || length > x.back()) {
        fail<ValueError>("masked_softmax", "length ", length, " at position ", i, " not in [0, ", x.back(), "]");
      }
    }
    rows_per_sequence_ = 1;
    for (int axis = 1; axis < x.rank() - 1; ++axis) rows_per_sequence_ *= x[axis];
    steps_ = lengths_.rank() == 2 ? lengths_.dim(1) : 1;
  }

  std::int64_t operator()(std::int64_t row) const {
    return lengths_.data()[row / rows_per_sequence_ * steps_ + row % steps_];
  }

 private:
  Index lengths_;
  std::int64_t rows_per_sequence_, steps_;
};

// True for the entries within the length of their row.
Mask within(const RowLengths& length, const Shape& shape) {
  Mask mask(shape);
  bool* out = mask.mutable_data();
  each_row(shape, [&](std::int64_t row, std::int64_t at) {
    std::fill_n(std::fill_n(out + at, length(row), true), shape.back() - length(row), false);
  });
  return mask;
}

}  // namespace

Tensor masked_softmax(const Tensor& x, const Index& lengths) {
  if (x.rank() < 2) fail<ShapeError>("masked_softmax", "needs sequences and entries, got ", x.shape());
  const RowLengths length(x.shape(), lengths);
  const std::int64_t n = x.shape().back();
  Array y(x.shape());
  const Real* in = x.value().data();
  Real* out = y.mutable_data();
  each_row(x.shape(), [&](std::int64_t row, std::int64_t at) {
    softmax_row(in + at, out + at, length(row));
    std::fill(out + at + length(row), out + at + n, Real(0));
  });
  return record("masked_softmax", std::move(y), wrt(x, [length](const Tensor& gy, const Tensor& v) {
                  if (recording()) {
                    const Tensor g = where(within(length, v.shape()), gy, 0);
                    return v * (g - sum(g * v, {.axis = -1, .keepdim = true}));
                  }
                  Array gx(v.shape());
                  const Real *g = gy.value().data(), *p = v.value().data();
                  Real* to = gx.mutable_data();
                  const std::int64_t columns = v.shape().back();
                  each_row(v.shape(), [&](std::int64_t row, std::int64_t at) {
                    softmax_gradient_row(g + at, p + at, to + at, length(row));
                    std::fill(to + at + length(row), to + at + columns, Real(0));
                  });
                  return Tensor(std::move(gx));
                }));
}

namespace {

// What the gradient of a normalised row needs of it. The mean is kept in two parts because x - mean loses its digits
// when the mean, rounded to one number, is large against the spread.
struct RowStatistics {
  Real mean, mean_rest, scale;
};
constexpr std::int64_t statistics_size = 3;

RowStatistics statistics_of(const Real* x, std::int64_t n, Real eps) {
  const Real mean = sum_packs(n, [=](std::int64_t i, auto part) { return part.load(x + i); }) / static_cast<Real>(n);
  const auto deviation = [=](std::int64_t i, auto part) { return part.load(x + i, mean) - Pack(mean); };
  const Real rest = sum_packs(n, deviation) / static_cast<Real>(n);
  const Real squares = sum_packs(n, [&](std::int64_t i, auto part) {
    const Pack d = deviation(i, part);
    return d * d;
  });
  const Real variance = std::max(squares / static_cast<Real>(n) - rest * rest, Real(0));
  return {mean, rest, 1 / std::sqrt(variance + eps)};
}

// A power of two that brings numbers of about this size near 1, and is itself normal.
Real power_near_inverse(Real size) {
  constexpr int most = std::numeric_limits<Real>::max_exponent - 2;
  return std::ldexp(Real(1), std::clamp(-std::ilogb(size), -most, most));
}

// The same where a sum or squares left the range: of the row scaled to numbers near 1.
RowStatistics scaled_statistics_of(const Real* x, std::int64_t n, Real eps) {
  std::vector<Real, PoolAllocator<Real>> scaled(x, x + n);
  const Real size = std::abs(*std::ranges::max_element(scaled, {}, [](Real v) { return std::abs(v); }));
  if (size == 0 || !all_finite(x, n)) return statistics_of(x, n, eps);
  const Real factor = power_near_inverse(size);
  for (Real& v : scaled) v *= factor;
  const RowStatistics s = statistics_of(scaled.data(), n, eps * factor * factor);
  return {s.mean / factor, s.mean_rest / factor, s.scale * factor};
}

RowStatistics checked_statistics_of(const Real* x, std::int64_t n, Real eps) {
  const RowStatistics s = statistics_of(x, n, eps);
  // Not so if the variance overflowed or came to nothing, or is NaN because the mean overflowed.
  using Limits = std::numeric_limits<Real>;
  const bool plausible = s.scale > 0 && s.scale * s.scale < Limits::max() * Limits::epsilon();
  return plausible ? s : scaled_statistics_of(x, n, eps);
}

// What composed_layer_norm multiplies each row with, so that its squares stay in range; mostly 1.
Array row_factors(const Array& statistics, const Shape& kept) {
  Array factors(kept, Real(1));
  constexpr Real far = 0x1p40;
  for (std::int64_t row = 0; row < factors.size(); ++row) {
    const Real scale = statistics.data()[row * statistics_size + 2];
    if (std::isfinite(scale) && scale > 0 && (scale > far || scale < 1 / far)) {
      factors.mutable_data()[row] = power_near_inverse(1 / scale);
    }
  }
  return factors;
}

Tensor standardized(const Tensor& x, const Array& factors, Real eps) {
  const Shape& rows = factors.shape();
  const Real count = static_cast<Real>(x.size()) / static_cast<Real>(std::max<std::int64_t>(rows.numel(), 1));
  const auto centred = [&](const Tensor& u) { return u - sum_to(u, rows) / count; };
  const Tensor factor(factors), d = centred(centred(x * factor));
  return d * rsqrt(sum_to(square(d), rows) / count + factor * eps * factor);
}

Tensor composed_layer_norm(const Array& factors, Real eps, const Tensor& x) { return standardized(x, factors, eps); }
Tensor composed_layer_norm(const Array& factors, Real eps, const Tensor& x, const Tensor& gamma) {
  return standardized(x, factors, eps) * gamma;
}
Tensor composed_layer_norm(const Array& factors, Real eps, const Tensor& x, const Tensor& gamma, const Tensor& beta) {
  return standardized(x, factors, eps) * gamma + beta;
}

// Gradients of x, gamma and beta at once, those that are wanted. Sums over rows are taken block by block, then over the
// blocks, so they are the same for any number of threads.
template <std::size_t N>
std::array<Tensor, N> layer_norm_gradients(const std::array<Tensor, N>& inputs, const Array& statistics,
                                           const Tensor& gy, Wanted wanted) {
  const Array& x = inputs[0].value();
  const std::int64_t rows = statistics.dim(0);
  const std::int64_t n = N > 1 ? inputs[N > 1].size() : x.size() / std::max<std::int64_t>(rows, 1);
  const std::int64_t block = rows_per_block(n), blocks = (rows + block - 1) / block;
  const bool wants_x = wanted[0], wants_gamma = N > 1 && wanted[1], wants_beta = N > 2 && wanted[2];
  const Real* gamma = N > 1 ? inputs[N > 1].value().data() : nullptr;
  Array gx(wants_x ? x.shape() : Shape{0});
  Array ggamma(wants_gamma ? Shape{blocks, n} : Shape{0}, Real(0)),
      gbeta(wants_beta ? Shape{blocks, n} : Shape{0}, Real(0));
  Real *to_x = gx.mutable_data(), *to_gamma = ggamma.mutable_data(), *to_beta = gbeta.mutable_data();
  parallel_for(rows, block, [&](std::int64_t begin, std::int64_t end) {
    Real* gamma_sum = to_gamma + begin / block * n;
    Real* beta_sum = to_beta + begin / block * n;
    for (std::int64_t row = begin; row < end; ++row) {
      const Real* u = x.data() + row * n;
      const Real* g = gy.value().data() + row * n;
      const Real* kept = statistics.data() + row * statistics_size;
      const Pack mean(kept[0]), mean_rest(kept[1]), scale(kept[2]);
      const auto standard = [&](std::int64_t i, auto part) { return (part.load(u + i) - mean - mean_rest) * scale; };
      if (wants_gamma) {
        each_pack(n, [&](std::int64_t i, auto part) {
          part.store(part.load(gamma_sum + i) + part.load(g + i) * standard(i, part), gamma_sum + i);
        });
      }
      if (wants_beta) {
        each_pack(n, [&](std::int64_t i, auto part) {
          part.store(part.load(beta_sum + i) + part.load(g + i), beta_sum + i);
        });
      }
      if (!wants_x) continue;
      const auto scaled = [&](std::int64_t i, auto part) {
        return gamma ? part.load(g + i) * part.load(gamma + i) : part.load(g + i);
      };
      const Real count = static_cast<Real>(n);
      const Pack offset(sum_packs(n, scaled) / count);
      const Pack slope(sum_packs(n, [&](std::int64_t i, auto part) { return scaled(i, part) * standard(i, part); }) /
                       count);
      each_pack(n, [&](std::int64_t i, auto part) {
        part.store((scaled(i, part) - offset - standard(i, part) * slope) * scale, to_x + row * n + i);
      });
    }
  });
  std::array<Tensor, N> result;
  if (wants_x) result[0] = Tensor(std::move(gx));
  if constexpr (N > 1) {
    if (wants_gamma) result[1] = reshape(sum(Tensor(std::move(ggamma)), {.axis = 0}), inputs[1].shape());
  }
  if constexpr (N > 2) {
    if (wants_beta) result[2] = reshape(sum(Tensor(std::move(gbeta)), {.axis = 0}), inputs[2].shape());
  }
  return result;
}

template <class... Affine>
Tensor record_layer_norm(Array y, Array statistics, const Shape& kept, Real eps, const Tensor& x,
                         const Affine&... affine) {
  return record("layer_norm", std::move(y),
                jointly(
                    [=, inputs = std::array{x, affine...}](const Tensor& gy, Wanted wanted) {
                      if (!recording()) return layer_norm_gradients(inputs, statistics, gy, wanted);
                      return composed_gradients(inputs, gy, wanted, [&](const auto&... own) {
                        return composed_layer_norm(row_factors(statistics, kept), eps, own...);
                      });
                    },
                    x, affine...));
}

}  // namespace

Tensor layer_norm(const Tensor& x, const Tensor& gamma, const Tensor& beta, const LayerNormOptions& options) {
  if (!(options.eps >= 0)) fail<ValueError>("layer_norm", "eps ", options.eps, " is negative");
  if (beta.defined() && !gamma.defined()) {
    return layer_norm(x, ones(beta.shape()), beta, options);
  }
  const Shape normalized = !options.normalized.empty() ? options.normalized
                           : gamma.defined()           ? gamma.shape()
                           : x.rank() > 0              ? Shape{x.shape().back()}
                                                       : Shape{};
  const bool fits = !normalized.empty() && x.rank() >= normalized.rank() &&
                    std::equal(normalized.begin(), normalized.end(), x.shape().end() - normalized.rank());
  if (!fits) fail<ShapeError>("layer_norm", x.shape(), " does not end in ", normalized);
  for (const Tensor* affine : {&gamma, &beta}) {
    if (affine->defined() && affine->shape() != normalized) {
      fail<ShapeError>("layer_norm", affine == &gamma ? "gamma " : "beta ", affine->shape(), " is not of shape ",
                       normalized);
    }
  }
  const std::int64_t n = normalized.numel();
  if (n == 0) fail<ShapeError>("layer_norm", "nothing to normalise over in ", x.shape());
  const std::int64_t rows = x.size() / n;
  Shape kept = x.shape();
  for (int axis = kept.rank() - normalized.rank(); axis < kept.rank(); ++axis) kept[axis] = 1;

  Array y(x.shape()), statistics(Shape{rows, statistics_size});
  const Real* in = x.value().data();
  const Real* slope = gamma.defined() ? gamma.value().data() : nullptr;
  const Real* offset = beta.defined() ? beta.value().data() : nullptr;
  Real *out = y.mutable_data(), *keep = statistics.mutable_data();
  parallel_for(rows, rows_per_block(n), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      const Real* u = in + row * n;
      const RowStatistics s = checked_statistics_of(u, n, options.eps);
      std::copy_n(&s.mean, statistics_size, keep + row * statistics_size);
      each_pack(n, [&](std::int64_t i, auto part) {
        Pack v = (part.load(u + i) - Pack(s.mean) - Pack(s.mean_rest)) * Pack(s.scale);
        if (slope) v = v * part.load(slope + i);
        if (offset) v = v + part.load(offset + i);
        part.store(v, out + row * n + i);
      });
    }
  });
  if (beta.defined()) {
    return record_layer_norm(std::move(y), std::move(statistics), kept, options.eps, x, gamma, beta);
  }
  return gamma.defined() ? record_layer_norm(std::move(y), std::move(statistics), kept, options.eps, x, gamma)
                         : record_layer_norm(std::move(y), std::move(statistics), kept, options.eps, x);
}

Tensor dropout(const Tensor& x, double p, const RandomKey& key) {
  if (!(p >= 0 && p <= 1)) fail<ValueError>("dropout", "probability ", p, " not in [0, 1]");
  if (p == 0) return x;
  if (p == 1)
    return record("dropout", Array(x.shape(), Real(0)), wrt(x, [](const Tensor& gy) { return zeros_like(gy); }));
  Array y(x.shape());
  const Real* in = x.value().data();
  Real* out = y.mutable_data();
  const std::uint32_t threshold = dropout_threshold(p);
  const Real scale = static_cast<Real>(1 / (1 - p));
  parallel_for(y.size(), elementwise_block, [&](std::int64_t begin, std::int64_t end) {
    std::array<std::uint32_t, 1024> words;
    for (std::int64_t i = begin; i < end; i += words.size()) {
      const auto count = static_cast<std::size_t>(std::min<std::int64_t>(words.size(), end - i));
      random_words(key, static_cast<std::uint64_t>(i), std::span(words).first(count));
      for (std::size_t j = 0; j < count; ++j) {
        const Real kept = in[static_cast<std::size_t>(i) + j] * scale;
        out[static_cast<std::size_t>(i) + j] = words[j] >= threshold ? kept : 0;
      }
    }
  });
  return record("dropout", std::move(y), wrt(x, [p, key](const Tensor& gy) { return dropout(gy, p, key); }));
}

Tensor dropout(const Tensor& x, double p) { return dropout(x, p, next_random_key()); }

}  // namespace xgrad
