// Convolutional layers.
#include "conv.h"

namespace xgrad::nn {
namespace {

std::string text_of(const Size2d& extent) {
  return extent.height == extent.width ? str(extent.height) : str(extent.height, " x ", extent.width);
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
  std::string text = str(in, " -> ", out, ", kernel ", text_of(kernel));
  if (const std::string stride = text_of(options.stride); stride != "1") text += str(", stride ", stride);
  if (const std::string padding = text_of_padding(options.padding); padding != "0") text += str(", padding ", padding);
  if (options.groups != 1) text += str(", ", options.groups, " groups");
  return text;
}

}  // namespace

std::int64_t detail::conv_channels(const char* name, std::int64_t channels, std::int64_t groups) {
  if (groups < 1 || channels % groups != 0) {
    fail<ValueError>("conv", name, " ", channels, " cannot be divided into ", groups, " groups");
  }
  return channels / groups;
}

Init detail::conv_init(const Init& given, std::int64_t products) {
  return given ? given : init::uniform_within_root(products);
}

Tensor Conv1d::forward(const Tensor& x) const {
  return conv1d(
      x, weight, bias,
      {.stride = options.stride, .padding = options.padding, .dilation = options.dilation, .groups = options.groups});
}

std::string Conv1d::settings() const { return described(in, out, kernel, options); }

Tensor Conv2d::forward(const Tensor& x) const {
  return conv2d(
      x, weight, bias,
      {.stride = options.stride, .padding = options.padding, .dilation = options.dilation, .groups = options.groups});
}

std::string Conv2d::settings() const { return described(in, out, kernel, options); }

Tensor ConvTranspose1d::forward(const Tensor& x) const {
  return conv_transpose1d(x, weight, bias,
                          {.stride = options.stride,
                           .padding = options.padding,
                           .output_padding = options.output_padding,
                           .dilation = options.dilation,
                           .groups = options.groups});
}

std::string ConvTranspose1d::settings() const { return described(in, out, kernel, options); }

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
