// Layer norm and RMS norm: checks, and the rule in numbers (ops/kernels/layers/layer_norm.cpp) and in operations.
#include "layer_norm.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "../../core/graph/record_fused.h"
#include "../../core/watch/formula.h"
#include "../arrange/broadcast.h"
#include "../arrange/create.h"
#include "../elementwise/arithmetic.h"
#include "../elementwise/elementwise.h"
#include "../kernels/layers/layer_norm.h"

namespace xgrad {

Array detail::range_factors(const Array& statistics, const Shape& kept) {
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

Tensor detail::standardized(const Tensor& x, const Array& factors, Real eps) {
  const Shape& rows = factors.shape();
  const Real count = static_cast<Real>(x.size()) / static_cast<Real>(std::max<std::int64_t>(rows.numel(), 1));
  const auto centred = [&](const Tensor& u) { return u - sum_to(u, rows) / count; };
  const Tensor factor(factors), d = centred(centred(x * factor));
  return d * rsqrt(sum_to(square(d), rows) / count + factor * eps * factor);
}

namespace {

// What the operations of this file have in common.
struct Norm {
  const char* op;
  Centre centre;
  Real eps;
};

Tensor composed_norm(const Array& factors, const Norm& norm, const Tensor& x) {
  if (norm.centre == Centre::mean) return detail::standardized(x, factors, norm.eps);
  const Shape& rows = factors.shape();
  const Real count = static_cast<Real>(x.size()) / static_cast<Real>(std::max<std::int64_t>(rows.numel(), 1));
  const Tensor factor(factors), u = x * factor;
  return u * rsqrt(sum_to(square(u), rows) / count + factor * norm.eps * factor);
}
Tensor composed_norm(const Array& factors, const Norm& norm, const Tensor& x, const Tensor& gamma) {
  return composed_norm(factors, norm, x) * gamma;
}
Tensor composed_norm(const Array& factors, const Norm& norm, const Tensor& x, const Tensor& gamma, const Tensor& beta) {
  return composed_norm(factors, norm, x) * gamma + beta;
}

// The operation on x, x and gamma, or all three.
template <std::size_t N>
Tensor fused(const Norm& norm, const std::array<Tensor, N>& inputs, std::int64_t n, const Shape& kept) {
  const auto& x = inputs[0].value();
  const auto numbers = [](const std::array<Tensor, N>& all, std::size_t i) {
    return i < N ? all[i < N ? i : 0].value().data() : nullptr;
  };
  const auto rows_of = [n, numbers, centre = norm.centre](const std::array<Tensor, N>& all) {
    return LayerNormRows{all[0].value().data(), all[0].size() / n, n, numbers(all, 1), numbers(all, 2), centre};
  };
  Array y(x.shape()), statistics(Shape{x.size() / n, statistics_size});
  layer_norm_rows(rows_of(inputs), norm.eps, y.mutable_data(), statistics.mutable_data());
  return record_fused(
      norm.op, std::move(y), inputs,
      [rows_of, statistics](const std::array<Tensor, N>& in, const Tensor& gy, Wanted wanted) {
        const LayerNormGradients g = layer_norm_gradient_rows(rows_of(in), statistics.data(), gy.value().data(),
                                                              {wanted[0], N > 1 && wanted[1], N > 2 && wanted[2]});
        const Array* all[] = {&g.x, &g.gamma, &g.beta};
        std::array<Tensor, N> result;
        for (std::size_t i = 0; i < N; ++i) {
          if (wanted[static_cast<int>(i)]) result[i] = all[i]->reshaped(in[i].shape());
        }
        return result;
      },
      [statistics, kept, norm](const auto&... own) {
        return composed_norm(detail::range_factors(statistics, kept), norm, own...);
      },
      told("eps", norm.eps));
}

// The sizes that x ends in and the norm is over.
Shape normalized_sizes(const Norm& norm, const Tensor& x, const Tensor& gamma, const Tensor& beta,
                       const Shape& wanted) {
  if (!(norm.eps >= 0)) fail<ValueError>(norm.op, "eps ", norm.eps, " is negative");
  const Shape normalized = !wanted.empty()   ? wanted
                           : gamma.defined() ? gamma.shape()
                           : x.rank() > 0    ? Shape{x.shape().back()}
                                             : Shape{};
  const bool fits = !normalized.empty() && x.rank() >= normalized.rank() &&
                    std::equal(normalized.begin(), normalized.end(), x.shape().end() - normalized.rank());
  if (!fits) fail<ShapeError>(norm.op, x.shape(), " does not end in ", normalized);
  for (const Tensor* affine : {&gamma, &beta}) {
    if (affine->defined() && affine->shape() != normalized) {
      fail<ShapeError>(norm.op, affine == &gamma ? "gamma " : "beta ", affine->shape(), " is not of shape ",
                       normalized);
    }
  }
  if (normalized.numel() == 0) fail<ShapeError>(norm.op, "nothing to normalise over in ", x.shape());
  return normalized;
}

Tensor normalize(const Norm& norm, const Tensor& x, const Tensor& gamma, const Tensor& beta, const Shape& wanted) {
  const Shape normalized = normalized_sizes(norm, x, gamma, beta, wanted);
  const std::int64_t n = normalized.numel();
  Shape kept = x.shape();
  for (int axis = kept.rank() - normalized.rank(); axis < kept.rank(); ++axis) kept[axis] = 1;
  if (beta.defined()) return fused(norm, std::array{x, gamma, beta}, n, kept);
  if (gamma.defined()) return fused(norm, std::array{x, gamma}, n, kept);
  return fused(norm, std::array{x}, n, kept);
}

}  // namespace

XGRAD_FORMULA layer_norm_formula{
    "layer_norm", "y = gamma z + beta with z = (x - mean)/s, s = sqrt(variance + eps)",
    "dL/dx = (u - mean(u) - z mean(u z))/s with u = gamma gy; dL/dgamma = sum of gy z; dL/dbeta = sum of gy"};
Tensor layer_norm(const Tensor& x, const Tensor& gamma, const Tensor& beta, const LayerNormFuncOptions& options) {
  if (beta.defined() && !gamma.defined()) return layer_norm(x, ones(beta.shape()), beta, options);
  return normalize({"layer_norm", Centre::mean, static_cast<Real>(options.eps)}, x, gamma, beta, options.normalized);
}

XGRAD_FORMULA rms_norm_formula{"rms_norm", "y = gamma z with z = x/s, s = sqrt(mean(x^2) + eps)",
                               "dL/dx = (u - z mean(u z))/s with u = gamma gy; dL/dgamma = sum of gy z"};
Tensor rms_norm(const Tensor& x, const Tensor& gamma, const RmsNormFuncOptions& options) {
  return normalize({"rms_norm", Centre::zero, static_cast<Real>(options.eps)}, x, gamma, {}, options.normalized);
}

}  // namespace xgrad
