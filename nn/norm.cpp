// Normalising layers.
#include "norm.h"

#include "../core/record.h"
#include "../ops/arithmetic.h"
#include "../ops/elementwise.h"
#include "../ops/layer_norm.h"
#include "../ops/reduce.h"
#include "../ops/shape.h"

namespace xgrad::nn {

LayerNorm::LayerNorm(At here, std::int64_t size, const Options& options)
    : LayerNorm(std::move(here), Shape{size}, options) {}

LayerNorm::LayerNorm(At here, const Shape& given, const Options& options)
    : Module(std::move(here)),
      sizes([&] {
        for (const std::int64_t size : given) positive("size", size);
        return given;
      }()),
      eps(options.eps),
      weight(options.affine ? param("weight", sizes, init::ones()) : Tensor()),
      bias(options.affine && options.bias ? param("bias", sizes, init::zeros()) : Tensor()) {
  const auto constructing = enter();
  if (sizes.empty()) fail<ValueError>("layer_norm", "no axis to normalise over");
  if (!(eps >= 0)) fail<ValueError>("layer_norm", "eps must not be negative, got ", eps);
}

Tensor LayerNorm::operator()(const Tensor& x) const {
  const auto here = enter(x);
  return here(layer_norm(x, weight, bias, {.eps = static_cast<Real>(eps), .normalized = sizes}));
}

std::string LayerNorm::settings() const { return sizes.rank() == 1 ? cat(sizes[0]) : cat(sizes); }

BatchNorm1d::BatchNorm1d(At here, std::int64_t channel_count, const Options& given)
    : Module(std::move(here)),
      channels(positive("channels", channel_count)),
      options(given),
      weight(options.affine ? param("weight", {channels}, init::ones()) : Tensor()),
      bias(options.affine ? param("bias", {channels}, init::zeros()) : Tensor()),
      running_mean(options.track_running_stats ? buffer("running_mean", Array({channels}, Real(0))) : Tensor()),
      running_var(options.track_running_stats ? buffer("running_var", Array({channels}, Real(1))) : Tensor()),
      num_batches_tracked(options.track_running_stats ? buffer("num_batches_tracked", Index(Shape{}, 0)) : Tensor()) {
  const auto constructing = enter();
  if (!(options.eps >= 0)) fail<ValueError>("batch_norm", "eps must not be negative, got ", options.eps);
  if (options.momentum) probability("momentum", *options.momentum);
}

Tensor BatchNorm1d::operator()(const Tensor& x) const {
  const auto here = enter(x);
  if ((x.rank() != 2 && x.rank() != 3) || x.dim(1) != channels) {
    fail<ShapeError>("batch_norm", "needs (B, ", channels, ") or (B, ", channels, ", T), got ", x.shape());
  }
  const AxisSet others = x.rank() == 2 ? AxisSet{0} : AxisSet{0, 2};
  const Shape per_channel = x.rank() == 2 ? Shape{channels} : Shape{channels, 1};
  const bool own_statistics = training() || !options.track_running_stats;
  const std::int64_t count = x.size() / channels;
  Tensor mean, variance;
  if (own_statistics) {
    if (count < 2) fail<ValueError>("batch_norm", "needs more than one value per channel in training, got ", x.shape());
    mean = xgrad::mean(x, {.axis = others, .keepdim = true});
    variance = var(x, {.axis = others, .keepdim = true, .correction = 0});
  } else {
    mean = reshape(running_mean, per_channel);
    variance = reshape(running_var, per_channel);
  }
  Tensor y = (x - mean) * rsqrt(variance + static_cast<Real>(options.eps));
  if (options.affine) y = y * reshape(weight, per_channel) + reshape(bias, per_channel);
  y = here(std::move(y));
  if (own_statistics && options.track_running_stats) {
    const NoGrad off;
    const Real unbiased = static_cast<Real>(count) / static_cast<Real>(count - 1);
    track(reshape(mean, {channels}), reshape(variance * unbiased, {channels}));
  }
  return y;
}

// Everything that may fail comes before the first buffer changes.
void BatchNorm1d::track(const Tensor& mean, const Tensor& unbiased_variance) const {
  const Tensor batches = num_batches_tracked + 1;
  const auto share = static_cast<Real>(options.momentum.value_or(1 / static_cast<double>(batches.item())));
  const auto moved = [share](const Tensor& running, const Tensor& batch) {
    return (running * (1 - share) + batch * share).value();
  };
  Array new_mean = moved(running_mean, mean), new_var = moved(running_var, unbiased_variance);
  num_batches_tracked.assign(batches.value());
  running_mean.assign(std::move(new_mean));
  running_var.assign(std::move(new_var));
}

std::string BatchNorm1d::settings() const { return cat(channels); }

}  // namespace xgrad::nn
