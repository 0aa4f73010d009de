// Convolutional layers.
#include "conv.h"

namespace xgrad::nn {
namespace {

// The channels of one of the groups.
std::int64_t of_group(const char* name, std::int64_t channels, std::int64_t groups) {
  if (groups < 1 || channels % groups != 0) {
    fail<ValueError>("conv", name, " ", channels, " cannot be divided into ", groups, " groups");
  }
  return channels / groups;
}

// The given Init, else PyTorch's default for results that are sums of so many products.
Init or_usual(const Init& given, std::int64_t products) { return given ? given : init::uniform_within_root(products); }

std::string text_of(const Size2d& extent) {
  return extent.height == extent.width ? cat(extent.height) : cat(extent.height, " x ", extent.width);
}

template <class Padding>
std::string text_of_padding(const Padding& padding) {
  if constexpr (requires { padding.same(); }) {
    return padding.same() ? "same" : text_of(padding.each());
  } else {
    return text_of(padding);
  }
}

// "3 -> 64, kernel 3, stride 2, padding 1, 4 groups": defaults are left out.
template <class Options>
std::string described(std::int64_t in, std::int64_t out, const Size2d& kernel, const Options& options) {
  std::string text = cat(in, " -> ", out, ", kernel ", text_of(kernel));
  if (const std::string stride = text_of(options.stride); stride != "1") text += cat(", stride ", stride);
  if (const std::string padding = text_of_padding(options.padding); padding != "0") text += cat(", padding ", padding);
  if (options.groups != 1) text += cat(", ", options.groups, " groups");
  return text;
}

}  // namespace

Conv1d::Conv1d(At here, std::int64_t in_channels, std::int64_t out_channels, std::int64_t size, const Options& given)
    : Layer(std::move(here)),
      in(positive("in", in_channels)),
      out(positive("out", out_channels)),
      kernel(positive("kernel", size)),
      options(given),
      weight([&] {
        of_group("out", out, options.groups);
        const Shape shape{out, of_group("in", in, options.groups), kernel};
        return param("weight", shape, or_usual(options.init, shape.numel() / out));
      }()),
      bias(options.bias ? param("bias", {out}, or_usual(options.bias_init, weight.size() / out)) : Tensor()) {}

Tensor Conv1d::forward(const Tensor& x) const {
  return conv1d(
      x, weight, bias,
      {.stride = options.stride, .padding = options.padding, .dilation = options.dilation, .groups = options.groups});
}

std::string Conv1d::settings() const { return described(in, out, kernel, options); }

Conv2d::Conv2d(At here, std::int64_t in_channels, std::int64_t out_channels, const Size2d& size, const Options& given)
    : Layer(std::move(here)),
      in(positive("in", in_channels)),
      out(positive("out", out_channels)),
      kernel(positive("kernel", size.height), positive("kernel", size.width)),
      options(given),
      weight([&] {
        of_group("out", out, options.groups);
        const Shape shape{out, of_group("in", in, options.groups), kernel.height, kernel.width};
        return param("weight", shape, or_usual(options.init, shape.numel() / out));
      }()),
      bias(options.bias ? param("bias", {out}, or_usual(options.bias_init, weight.size() / out)) : Tensor()) {}

Tensor Conv2d::forward(const Tensor& x) const {
  return conv2d(
      x, weight, bias,
      {.stride = options.stride, .padding = options.padding, .dilation = options.dilation, .groups = options.groups});
}

std::string Conv2d::settings() const { return described(in, out, kernel, options); }

ConvTranspose1d::ConvTranspose1d(At here, std::int64_t in_channels, std::int64_t out_channels, std::int64_t size,
                                 const Options& given)
    : Layer(std::move(here)),
      in(positive("in", in_channels)),
      out(positive("out", out_channels)),
      kernel(positive("kernel", size)),
      options(given),
      weight([&] {
        of_group("in", in, options.groups);
        const Shape shape{in, of_group("out", out, options.groups), kernel};
        return param("weight", shape, or_usual(options.init, shape.numel() / in));
      }()),
      bias(options.bias ? param("bias", {out}, or_usual(options.bias_init, weight.size() / in)) : Tensor()) {}

Tensor ConvTranspose1d::forward(const Tensor& x) const {
  return conv_transpose1d(x, weight, bias,
                          {.stride = options.stride,
                           .padding = options.padding,
                           .output_padding = options.output_padding,
                           .dilation = options.dilation,
                           .groups = options.groups});
}

std::string ConvTranspose1d::settings() const { return described(in, out, kernel, options); }

ConvTranspose2d::ConvTranspose2d(At here, std::int64_t in_channels, std::int64_t out_channels, const Size2d& size,
                                 const Options& given)
    : Layer(std::move(here)),
      in(positive("in", in_channels)),
      out(positive("out", out_channels)),
      kernel(positive("kernel", size.height), positive("kernel", size.width)),
      options(given),
      weight([&] {
        of_group("in", in, options.groups);
        const Shape shape{in, of_group("out", out, options.groups), kernel.height, kernel.width};
        return param("weight", shape, or_usual(options.init, shape.numel() / in));
      }()),
      bias(options.bias ? param("bias", {out}, or_usual(options.bias_init, weight.size() / in)) : Tensor()) {}

Tensor ConvTranspose2d::forward(const Tensor& x) const {
  return conv_transpose2d(x, weight, bias,
                          {.stride = options.stride,
                           .padding = options.padding,
                           .output_padding = options.output_padding,
                           .dilation = options.dilation,
                           .groups = options.groups});
}

std::string ConvTranspose2d::settings() const { return described(in, out, kernel, options); }

}  // namespace xgrad::nn
