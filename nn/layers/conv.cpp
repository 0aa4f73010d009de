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

std::int64_t checked_kernel(const std::int64_t& kernel, const auto& positive) { return positive(kernel); }
Size2d checked_kernel(const Size2d& kernel, const auto& positive) {
  return {positive(kernel.height), positive(kernel.width)};
}

Shape with_kernel(std::int64_t first, std::int64_t second, std::int64_t kernel) { return {first, second, kernel}; }
Shape with_kernel(std::int64_t first, std::int64_t second, const Size2d& kernel) {
  return {first, second, kernel.height, kernel.width};
}

}  // namespace

template <class Self, class OptionsOf, class Kernel, bool transposed>
detail::ConvLayer<Self, OptionsOf, Kernel, transposed>::ConvLayer(At here, std::int64_t in_channels,
                                                                  std::int64_t out_channels, const Kernel& size,
                                                                  const Options& given)
    : LayerCall<Self>(std::move(here)),
      in(this->positive("in", in_channels)),
      out(this->positive("out", out_channels)),
      kernel(checked_kernel(size, [this](std::int64_t side) { return this->positive("kernel", side); })),
      options(given),
      weight([&] {
        const auto& [first_name, first] = transposed ? std::pair("in", in) : std::pair("out", out);
        const auto& [second_name, second] = transposed ? std::pair("out", out) : std::pair("in", in);
        of_group(first_name, first, options.groups);
        const Shape shape = with_kernel(first, of_group(second_name, second, options.groups), kernel);
        return this->param("weight", shape, or_usual(options.init, shape.numel() / first));
      }()),
      bias(options.bias ? this->param("bias", {out}, or_usual(options.bias_init, weight.size() / weight.dim(0)))
                        : Tensor()) {}

template <class Self, class OptionsOf, class Kernel, bool transposed>
std::string detail::ConvLayer<Self, OptionsOf, Kernel, transposed>::settings() const {
  return described(in, out, kernel, options);
}

template struct detail::ConvLayer<Conv1d, Conv1dOptions, std::int64_t, false>;
template struct detail::ConvLayer<Conv2d, Conv2dOptions, Size2d, false>;
template struct detail::ConvLayer<ConvTranspose1d, ConvTranspose1dOptions, std::int64_t, true>;
template struct detail::ConvLayer<ConvTranspose2d, ConvTranspose2dOptions, Size2d, true>;

Tensor Conv1d::forward(const Tensor& x) const {
  return conv1d(
      x, weight, bias,
      {.stride = options.stride, .padding = options.padding, .dilation = options.dilation, .groups = options.groups});
}

Tensor Conv2d::forward(const Tensor& x) const {
  return conv2d(
      x, weight, bias,
      {.stride = options.stride, .padding = options.padding, .dilation = options.dilation, .groups = options.groups});
}

Tensor ConvTranspose1d::forward(const Tensor& x) const {
  return conv_transpose1d(x, weight, bias,
                          {.stride = options.stride,
                           .padding = options.padding,
                           .output_padding = options.output_padding,
                           .dilation = options.dilation,
                           .groups = options.groups});
}

Tensor ConvTranspose2d::forward(const Tensor& x) const {
  return conv_transpose2d(x, weight, bias,
                          {.stride = options.stride,
                           .padding = options.padding,
                           .output_padding = options.output_padding,
                           .dilation = options.dilation,
                           .groups = options.groups});
}

}  // namespace xgrad::nn
