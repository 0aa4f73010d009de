// Batch norm: checks, the formula, and the operation by a kernel (ops/kernels/network/batch_norm.cpp).
#include "batch_norm.h"

#include <array>
#include <vector>

#include "../../core/base/formula.h"
#include "../creation/create.h"
#include "../elementwise/arithmetic.h"
#include "../kernels/network/batch_norm.h"
#include "../record_fused.h"
#include "../reduce/reduce.h"
#include "../shape/shape.h"
#include "layer_norm.h"

namespace xgrad {
namespace {

void check(const Tensor& x, const Tensor& gamma, const Tensor& beta, double eps) {
  if (!(eps >= 0)) fail<ValueError>("batch_norm", "eps ", eps, " is negative");
  if (x.rank() < 2 || x.size() == 0) {
    fail<ShapeError>("batch_norm", "needs numbers (B, C, ...) for each channel, got ", x.shape());
  }
  detail::check_affine("batch_norm", gamma, beta, {x.dim(1)});
}

}  // namespace

XGRAD_FORMULA batch_norm_formula{
    "batch_norm", "y = [gamma ]z[ + beta] with z = (x - mean)/s, s = sqrt(variance + eps), for each channel",
    "dL/dx = (u - mean(u) - z mean(u z))/s with u = [gamma ]gy; dL/dgamma = sum of gy z; dL/dbeta = sum of gy"};
BatchNormed plain::batch_norm(const Tensor& x, const Tensor& gamma, const Tensor& beta,
                              const BatchNormFuncOptions& options) {
  check(x, gamma, beta, options.eps);
  Axes axes{0};  // all but that of the channels
  for (int axis = 2; axis < x.rank(); ++axis) axes.push_back(axis);
  Shape channels = Shape::filled(x.rank(), 1);
  channels[1] = x.dim(1);
  Tensor y = detail::standardized(x, axes, options.eps);
  if (gamma.defined()) y = y * reshape(gamma, channels);
  if (beta.defined()) y = y + reshape(beta, channels);
  const auto [variance, mean] = var_mean(x.detach(), axes, {.correction = 0});
  return {y, mean.value(), variance.value()};
}

namespace {

// ---- By the kernel --------------------------------------------------------------------------------------------------

// The operation on x, x and gamma, or all three.
template <std::size_t K>
BatchNormed fused(const std::array<Tensor, K>& inputs, double eps) {
  const Shape& shape = inputs[0].shape();
  const std::int64_t N = shape[0], C = shape[1], L = inputs[0].size() / (N * C);
  const auto channels = [N, C, L](const std::array<Tensor, K>& all) {
    const auto data_of = [&](std::size_t i) { return i < K ? all[i < K ? i : 0].value().data() : nullptr; };
    return Channels{all[0].value().data(), N, C, L, data_of(1), data_of(2)};
  };
  Array mean(Shape{C}), variance(Shape{C});
  Tensor result = record_fused(
      "batch_norm", inputs,
      [eps](const Tensor& x, const Tensor& gamma = {}, const Tensor& beta = {}) {
        return plain::batch_norm(x, gamma, beta, {eps}).y;
      },
      [&] {
        Array y(shape), saved(Shape{C, statistics_size});
        std::vector<RowStatistics, PoolAllocator<RowStatistics>> found(static_cast<std::size_t>(C));
        batch_norm_channels(channels(inputs), eps, y.mutable_data(), found.data());
        for (std::int64_t channel = 0; channel < C; ++channel) {
          const RowStatistics& s = found[static_cast<std::size_t>(channel)];
          mean.mutable_data()[channel] = s.mean + s.mean_low;
          variance.mutable_data()[channel] = s.variance;
          std::copy_n(&s.mean, statistics_size, saved.mutable_data() + channel * statistics_size);
        }
        return std::pair(
            std::move(y), [channels, saved](const std::array<Tensor, K>& in, const Tensor& gy, Wanted wanted) {
              const LayerNormGradients g = batch_norm_gradient_channels(
                  channels(in), saved.data(), gy.value().data(), {wanted[0], K > 1 && wanted[1], K > 2 && wanted[2]});
              const Array* all[] = {&g.x, &g.gamma, &g.beta};
              std::array<Tensor, K> gradients;
              for (std::size_t i = 0; i < K; ++i) {
                if (wanted[static_cast<int>(i)]) gradients[i] = all[i]->reshaped(in[i].shape());
              }
              return gradients;
            });
      },
      attribute("eps", eps));
  return {std::move(result), std::move(mean), std::move(variance)};
}

}  // namespace

BatchNormed batch_norm(const Tensor& x, const Tensor& gamma, const Tensor& beta, const BatchNormFuncOptions& options) {
  if (runs_plain()) return run_composed("batch_norm", plain::batch_norm, x, gamma, beta, options);
  check(x, gamma, beta, options.eps);
  if (beta.defined()) return fused(std::array{x, gamma.defined() ? gamma : ones(beta.shape()), beta}, options.eps);
  if (gamma.defined()) return fused(std::array{x, gamma}, options.eps);
  return fused(std::array{x}, options.eps);
}

}  // namespace xgrad
