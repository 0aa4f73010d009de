// Batch norm: checks, and the rule in numbers (ops/kernels/layers/batch_norm.cpp) and in operations.
#include "batch_norm.h"

#include <array>
#include <vector>

#include "../../core/graph/record_fused.h"
#include "../../core/watch/formula.h"
#include "../arrange/create.h"
#include "../arrange/shape.h"
#include "../elementwise/arithmetic.h"
#include "../kernels/layers/batch_norm.h"
#include "layer_norm.h"

namespace xgrad {
namespace {

// The sizes of one call. Channels of x (B, C, ...) go over (1, C, 1, ...).
struct BatchNormCall {
  std::int64_t N, C, L;
  Shape kept;
  Real eps;

  BatchNormCall(const Shape& x, Real given_eps) : N(x[0]), C(x[1]), L(1), kept(Shape::filled(x.rank(), 1)), eps(given_eps) {
    for (int axis = 2; axis < x.rank(); ++axis) L *= x[axis];
    kept[1] = C;
  }

  template <std::size_t K>
  Channels channels(const std::array<Tensor, K>& inputs) const {
    const auto numbers = [&](std::size_t i) { return i < K ? inputs[i < K ? i : 0].value().data() : nullptr; };
    return {inputs[0].value().data(), N, C, L, numbers(1), numbers(2)};
  }

  Tensor composed(const Array& factors, const Tensor& x) const { return detail::standardized(x, factors, eps); }
  Tensor composed(const Array& factors, const Tensor& x, const Tensor& gamma) const {
    return composed(factors, x) * reshape(gamma, kept);
  }
  Tensor composed(const Array& factors, const Tensor& x, const Tensor& gamma, const Tensor& beta) const {
    return composed(factors, x, gamma) + reshape(beta, kept);
  }
};

// The operation on x, x and gamma, or all three.
template <std::size_t K>
BatchNormed fused(const BatchNormCall& call, const std::array<Tensor, K>& inputs) {
  Array y(inputs[0].shape()), mean(Shape{call.C}), variance(Shape{call.C}), kept(Shape{call.C, statistics_size});
  std::vector<RowStatistics, PoolAllocator<RowStatistics>> found(static_cast<std::size_t>(call.C));
  batch_norm_channels(call.channels(inputs), call.eps, y.mutable_data(), found.data());
  for (std::int64_t channel = 0; channel < call.C; ++channel) {
    const RowStatistics& s = found[static_cast<std::size_t>(channel)];
    mean.mutable_data()[channel] = s.mean + s.mean_rest;
    variance.mutable_data()[channel] = s.variance;
    std::copy_n(&s.mean, statistics_size, kept.mutable_data() + channel * statistics_size);
  }
  Tensor result = record_fused(
      "batch_norm", std::move(y), inputs,
      [call, kept](const std::array<Tensor, K>& in, const Tensor& gy, Wanted wanted) {
        const LayerNormGradients g = batch_norm_gradient_channels(call.channels(in), kept.data(), gy.value().data(),
                                                                  {wanted[0], K > 1 && wanted[1], K > 2 && wanted[2]});
        const Array* all[] = {&g.x, &g.gamma, &g.beta};
        std::array<Tensor, K> gradients;
        for (std::size_t i = 0; i < K; ++i) {
          if (wanted[static_cast<int>(i)]) gradients[i] = all[i]->reshaped(in[i].shape());
        }
        return gradients;
      },
      [call, kept](const auto&... own) { return call.composed(detail::range_factors(kept, call.kept), own...); },
      told("eps", call.eps));
  return {std::move(result), std::move(mean), std::move(variance)};
}

}  // namespace

XGRAD_FORMULA batch_norm_formula{
    "batch_norm", "y = gamma z + beta with z = (x - mean)/s, s = sqrt(variance + eps), for each channel",
    "dL/dx = (u - mean(u) - z mean(u z))/s with u = gamma gy; dL/dgamma = sum of gy z; dL/dbeta = sum of gy"};
BatchNormed batch_norm(const Tensor& x, const Tensor& gamma, const Tensor& beta, const BatchNormFuncOptions& options) {
  if (!(options.eps >= 0)) fail<ValueError>("batch_norm", "eps ", options.eps, " is negative");
  if (x.rank() < 2 || x.size() == 0) {
    fail<ShapeError>("batch_norm", "needs numbers (B, C, ...) for each channel, got ", x.shape());
  }
  const BatchNormCall call(x.shape(), static_cast<Real>(options.eps));
  for (const Tensor* affine : {&gamma, &beta}) {
    if (affine->defined() && affine->shape() != Shape{call.C}) {
      fail<ShapeError>("batch_norm", affine == &gamma ? "gamma " : "beta ", affine->shape(), " is not of shape ",
                       Shape{call.C});
    }
  }
  if (beta.defined()) return fused(call, std::array{x, gamma.defined() ? gamma : ones({call.C}), beta});
  if (gamma.defined()) return fused(call, std::array{x, gamma});
  return fused(call, std::array{x});
}

}  // namespace xgrad
