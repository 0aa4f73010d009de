// Layer norm and RMS norm: the formulas, checks, and the operations by a kernel (ops/kernels/network/layer_norm.cpp).
#include "layer_norm.h"

#include <algorithm>
#include <array>

#include "../../core/base/formula.h"
#include "../creation/create.h"
#include "../elementwise/arithmetic.h"
#include "../elementwise/elementwise.h"
#include "../kernels/network/layer_norm.h"
#include "../record_fused.h"
#include "../reduce/reduce.h"

namespace xgrad {
namespace {

// The parameters of both layer norm and RMS norm.
struct Norm {
  const char* op;
  Centre centre;
  double eps;
};

// The trailing sizes of x, over which the norm goes, and their axes.
Shape normalized_sizes(const Norm& norm, const Tensor& x, const Tensor& gamma, const Tensor& beta, const Shape& wanted);
Axes last_axes(const Tensor& x, const Shape& normalized);

Tensor scaled_and_shifted(Tensor z, const Tensor& gamma, const Tensor& beta) {
  if (gamma.defined()) z = z * gamma;
  return beta.defined() ? z + beta : z;
}

}  // namespace

void detail::check_affine(const char* op, const Tensor& gamma, const Tensor& beta, const Shape& shape) {
  for (const Tensor* affine : {&gamma, &beta}) {
    if (!affine->defined() || affine->shape() == shape) continue;
    fail<ShapeError>(op, affine == &gamma ? "gamma " : "beta ", affine->shape(), " is not of shape ", shape);
  }
}

Tensor detail::standardized(const Tensor& x, const Axes& axes, Real eps) {
  const auto mean_of = [&](const Tensor& u) { return mean(u, axes, {.keepdim = true}); };
  const Tensor near = x - mean_of(x);
  const Tensor d = near - mean_of(near);  // the mean, rounded, is off by much where it is large against the spread
  return d * rsqrt(mean_of(square(d)) + eps);
}

XGRAD_FORMULA layer_norm_formula{
    "layer_norm", "y = [gamma ]z[ + beta] with z = (x - mean)/s, s = sqrt(variance + eps)",
    "dL/dx = (u - mean(u) - z mean(u z))/s with u = [gamma ]gy; dL/dgamma = sum of gy z; dL/dbeta = sum of gy"};
Tensor plain::layer_norm(const Tensor& x, const Tensor& gamma, const Tensor& beta,
                         const LayerNormFuncOptions& options) {
  const Shape sizes = normalized_sizes({"layer_norm", Centre::mean, options.eps}, x, gamma, beta, options.normalized);
  return scaled_and_shifted(detail::standardized(x, last_axes(x, sizes), options.eps), gamma, beta);
}

XGRAD_FORMULA rms_norm_formula{"rms_norm", "y = [gamma ]z with z = x/s, s = sqrt(mean(x^2) + eps)",
                               "dL/dx = (u - z mean(u z))/s with u = [gamma ]gy; dL/dgamma = sum of gy z"};
Tensor plain::rms_norm(const Tensor& x, const Tensor& gamma, const RmsNormFuncOptions& options) {
  const Axes axes =
      last_axes(x, normalized_sizes({"rms_norm", Centre::zero, options.eps}, x, gamma, {}, options.normalized));
  const Tensor z = x * rsqrt(mean(square(x), axes, {.keepdim = true}) + static_cast<Real>(options.eps));
  return scaled_and_shifted(z, gamma, {});
}

namespace {

// ---- Checks ---------------------------------------------------------------------------------------------------------

Shape normalized_sizes(const Norm& norm, const Tensor& x, const Tensor& gamma, const Tensor& beta,
                       const Shape& wanted) {
  if (!(norm.eps >= 0)) fail<ValueError>(norm.op, "eps ", norm.eps, " is negative");
  Shape normalized = !wanted.empty()   ? wanted
                     : gamma.defined() ? gamma.shape()
                     : x.rank() > 0    ? Shape{x.shape().back()}
                                       : Shape{};
  const bool fits = !normalized.empty() && x.rank() >= normalized.rank() &&
                    std::equal(normalized.begin(), normalized.end(), x.shape().end() - normalized.rank());
  if (!fits) fail<ShapeError>(norm.op, x.shape(), " does not end in ", normalized);
  detail::check_affine(norm.op, gamma, beta, normalized);
  if (normalized.numel() == 0) fail<ShapeError>(norm.op, "nothing to normalise over in ", x.shape());
  return normalized;
}

Axes last_axes(const Tensor& x, const Shape& normalized) {
  Axes axes;
  for (int axis = x.rank() - normalized.rank(); axis < x.rank(); ++axis) axes.push_back(axis);
  return axes;
}

// ---- By the kernel --------------------------------------------------------------------------------------------------

// The operation on x, x and gamma, or all three.
template <std::size_t N>
Tensor fused(const Norm& norm, const std::array<Tensor, N>& inputs, const Shape& normalized) {
  const auto data_of = [](const std::array<Tensor, N>& all, std::size_t i) {
    return i < N ? all[i < N ? i : 0].value().data() : nullptr;
  };
  const auto rows_of = [n = normalized.numel(), data_of, centre = norm.centre](const std::array<Tensor, N>& all) {
    return LayerNormRows{all[0].value().data(), all[0].size() / n, n, data_of(all, 1), data_of(all, 2), centre};
  };
  const auto composed = [norm, normalized](const Tensor& x, const Tensor& gamma = {}, const Tensor& beta = {}) {
    if (norm.centre == Centre::zero) return plain::rms_norm(x, gamma, {norm.eps, normalized});
    return plain::layer_norm(x, gamma, beta, {norm.eps, normalized});
  };
  return record_fused(
      norm.op, inputs, composed,
      [&] {
        const LayerNormRows rows = rows_of(inputs);
        Array y(inputs[0].shape()), statistics(Shape{rows.rows, statistics_size});
        layer_norm_rows(rows, static_cast<Real>(norm.eps), y.mutable_data(), statistics.mutable_data());
        return std::pair(std::move(y), [rows_of, statistics](const std::array<Tensor, N>& in, const Tensor& gy,
                                                             Wanted wanted) {
          const LayerNormGradients g = layer_norm_gradient_rows(rows_of(in), statistics.data(), gy.value().data(),
                                                                {wanted[0], N > 1 && wanted[1], N > 2 && wanted[2]});
          const Array* all[] = {&g.x, &g.gamma, &g.beta};
          std::array<Tensor, N> result;
          for (std::size_t i = 0; i < N; ++i) {
            if (wanted[static_cast<int>(i)]) result[i] = all[i]->reshaped(in[i].shape());
          }
          return result;
        });
      },
      attribute("eps", norm.eps),
      attribute("normalized", normalized.rank() > 1 ? std::optional(normalized) : std::nullopt));
}

Tensor normalize(const Norm& norm, const Tensor& x, const Tensor& gamma, const Tensor& beta, const Shape& wanted) {
  const Shape normalized = normalized_sizes(norm, x, gamma, beta, wanted);
  if (beta.defined()) return fused(norm, std::array{x, gamma, beta}, normalized);
  if (gamma.defined()) return fused(norm, std::array{x, gamma}, normalized);
  return fused(norm, std::array{x}, normalized);
}

}  // namespace

Tensor layer_norm(const Tensor& x, const Tensor& gamma, const Tensor& beta, const LayerNormFuncOptions& options) {
  if (beta.defined() && !gamma.defined()) return layer_norm(x, ones(beta.shape()), beta, options);
  return normalize({"layer_norm", Centre::mean, options.eps}, x, gamma, beta, options.normalized);
}

Tensor rms_norm(const Tensor& x, const Tensor& gamma, const RmsNormFuncOptions& options) {
  return normalize({"rms_norm", Centre::zero, options.eps}, x, gamma, {}, options.normalized);
}

}  // namespace xgrad
