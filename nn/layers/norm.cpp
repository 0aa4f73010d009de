// Normalising layers.
#include "norm.h"

#include "../../core/graph/record.h"
#include "../../ops/elementwise/arithmetic.h"
#include "../../ops/elementwise/elementwise.h"
#include "../../ops/network/batch_norm.h"
#include "../../ops/network/layer_norm.h"
#include "../../ops/shape/shape.h"

namespace xgrad::nn {
namespace {

void check_eps(const char* op, double eps) {
  if (!(eps >= 0)) fail<ValueError>(op, "eps ", eps, " is negative or NaN");
}

// Numbers of the channels (C) in a shape that broadcasts over x (B, C, ...).
Tensor per_channel(const Tensor& numbers, const Tensor& x) {
  Shape shape = Shape::filled(x.rank() - 1, 1);
  shape[0] = numbers.size();
  return reshape(numbers, shape);
}

Tensor scaled_and_shifted(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  return weight.defined() ? x * per_channel(weight, x) + per_channel(bias, x) : x;
}

}  // namespace

// -- norms of rows ----------------------------------------------------------------------------------------------------

template <class Self, class OptionsOf>
detail::NormLayer<Self, OptionsOf>::NormLayer(At here, const Shape& given_sizes, const OptionsOf& given)
    : Layer<Self, OptionsOf>(std::move(here), given),
      sizes([&] {
        for (const std::int64_t size : given_sizes) this->positive("size", size);
        return given_sizes;
      }()),
      weight(given.affine ? this->param("weight", sizes, init::ones(), Decay::no) : Tensor()) {
  constexpr const char* op = std::is_same_v<Self, LayerNorm> ? "layer_norm" : "rms_norm";
  const Scope scope(this->place());
  if (sizes.empty()) fail<ValueError>(op, "no axis to normalise over");
  check_eps(op, given.eps);
}

template struct detail::NormLayer<LayerNorm, LayerNormOptions>;
template struct detail::NormLayer<RMSNorm, RMSNormOptions>;

Tensor LayerNorm::forward(const Tensor& x) const {
  return layer_norm(x, weight, bias, {.eps = options.eps, .normalized = sizes});
}

Tensor RMSNorm::forward(const Tensor& x) const {
  return rms_norm(x, weight, {.eps = options.eps, .normalized = sizes});
}

// -- batch norm -------------------------------------------------------------------------------------------------------

BatchNorm::BatchNorm(At here, int axis_count, std::int64_t channel_count, const Options& given)
    : Module(std::move(here)),
      axes(axis_count),
      channels(positive("channels", channel_count)),
      options(given),
      weight(options.affine ? param("weight", {channels}, init::ones()) : Tensor()),
      bias(options.affine ? param("bias", {channels}, init::zeros()) : Tensor()),
      running_mean(options.track_running_stats ? buffer("running_mean", Array({channels}, Real(0))) : Tensor()),
      running_var(options.track_running_stats ? buffer("running_var", Array({channels}, Real(1))) : Tensor()),
      num_batches_tracked(options.track_running_stats ? buffer("num_batches_tracked", Index(Shape{}, 0)) : Tensor()) {
  const Scope scope(place());
  check_eps("batch_norm", options.eps);
  if (options.momentum) probability("momentum", *options.momentum);
}

Tensor BatchNorm::operator()(const Tensor& x) const {
  const ModuleScope here(*this, x);
  const bool vectors = axes == 1 && x.rank() == 2;
  if ((!vectors && x.rank() != 2 + axes) || x.dim(1) != channels) {
    const std::string shapes =
        axes == 1 ? str("(B, ", channels, ") or (B, ", channels, ", T)") : str("(B, ", channels, ", H, W)");
    fail<ShapeError>("batch_norm", "needs ", shapes, ", got ", x.shape());
  }
  if (!training() && options.track_running_stats) {
    const Tensor scale = rsqrt(running_var + options.eps);
    const Tensor y = (x - per_channel(running_mean, x)) * per_channel(scale, x);
    return here(scaled_and_shifted(y, weight, bias));
  }
  const std::int64_t count = x.size() / channels;
  if (count < 2) fail<ValueError>("batch_norm", "needs more than one value per channel in training, got ", x.shape());
  const BatchNormed normed = batch_norm(x, weight, bias, {.eps = options.eps});
  Tensor y = here(normed.y);
  if (options.track_running_stats) track(normed.mean, normed.variance, count);
  return y;
}

// Everything that may fail comes before the first buffer changes.
void BatchNorm::track(const Array& mean, const Array& variance, std::int64_t count) const {
  const NoGrad off;
  const Tensor batches = num_batches_tracked + 1;
  const auto momentum = static_cast<Real>(options.momentum.value_or(1 / static_cast<double>(batches.item())));
  const auto moved = [momentum](const Tensor& running, const Tensor& batch) {
    return (running * (1 - momentum) + batch * momentum).value();
  };
  const Real unbiased = static_cast<Real>(count) / static_cast<Real>(count - 1);
  Array new_mean = moved(running_mean, mean), new_var = moved(running_var, Tensor(variance) * unbiased);
  num_batches_tracked.assign(batches.value());
  running_mean.assign(std::move(new_mean));
  running_var.assign(std::move(new_var));
}

std::string BatchNorm::class_name() const {
  return Class::of(*this) == Class::of<BatchNorm>() ? str("BatchNorm", axes, "d") : Module::class_name();
}

// -- group norm -------------------------------------------------------------------------------------------------------

GroupNorm::GroupNorm(At here, std::int64_t group_count, std::int64_t channel_count, const Options& given)
    : Layer(std::move(here), given),
      groups(positive("groups", group_count)),
      channels(positive("channels", channel_count)),
      weight(options.affine ? param("weight", {channels}, init::ones()) : Tensor()),
      bias(options.affine ? param("bias", {channels}, init::zeros()) : Tensor()) {
  const Scope scope(place());
  check_eps("group_norm", options.eps);
  if (channels % groups != 0) {
    fail<ValueError>("group_norm", channels, " channels do not divide by ", groups, " groups");
  }
}

Tensor GroupNorm::forward(const Tensor& x) const {
  if (x.rank() < 2 || x.dim(1) != channels) {
    fail<ShapeError>("group_norm", "needs (B, ", channels, ", ...), got ", x.shape());
  }
  if (x.size() == 0) return scaled_and_shifted(x, weight, bias);
  const Tensor rows = reshape(x, {x.dim(0) * groups, -1});  // a group of a sample each
  const Tensor standardized = reshape(layer_norm(rows, {}, {}, {.eps = options.eps}), x.shape());
  return scaled_and_shifted(standardized, weight, bias);
}

}  // namespace xgrad::nn
