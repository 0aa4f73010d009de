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

// The options of a function, from those of its layer.
template <class To, class From>
To options_of(Tensor (*)(const Tensor&, const Tensor&, const Tensor&, const To&), const From& from) {
  To to{.stride = from.stride, .padding = from.padding, .dilation = from.dilation, .groups = from.groups};
  if constexpr (requires { to.output_padding; }) to.output_padding = from.output_padding;
  return to;
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

template <class Self, auto function, class Extent, class OptionsOf>
Tensor detail::ConvLayer<Self, function, Extent, OptionsOf>::forward(const Tensor& x) const {
  return function(x, weight, bias, options_of(function, this->options));
}

template <class Self, auto function, class Extent, class OptionsOf>
std::string detail::ConvLayer<Self, function, Extent, OptionsOf>::extra_repr() const {
  return described(in, out, kernel, this->options);
}

template class detail::ConvLayer<Conv1d, conv1d, std::int64_t, Conv1dOptions>;
template class detail::ConvLayer<Conv2d, conv2d, Size2d, Conv2dOptions>;
template class detail::ConvLayer<ConvTranspose2d, conv_transpose2d, Size2d, ConvTranspose2dOptions>;

}  // namespace xgrad::nn
