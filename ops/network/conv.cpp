// Convolutions: the formula, rules, and checks. The map from images to results, the one back and the one to kernels are
// linear in each of their two arguments, and each is the gradient of the others.
#include "conv.h"

#include "../../core/array/shape_hints.h"
#include "../../core/base/error.h"
#include "../../core/base/formula.h"
#include "../../core/graph/record.h"
#include "../elementwise/arithmetic.h"
#include "../kernels/conv/conv.h"
#include "../products/matmul.h"
#include "../reduce/reduce.h"
#include "../shape/shape.h"
#include "../shape/slice.h"

namespace xgrad {
namespace {

// f(x) of images (B, C, H, W), also for one image without B.
Tensor batched(const char* op, const Tensor& x, int axes, const auto& f);

void check_weight(const char* op, const Tensor& weight, int axes);
// The channels, of which each group of the kernel has `own`.
void check(const char* op, const Tensor& x, const Tensor& weight, std::int64_t groups, std::int64_t own);
// The sizes of a convolution. Throws unless the options fit them.
ConvSizes sizes_of(const char* op, const Tensor& x, const Tensor& weight, const Tensor& bias,
                   const Conv2dFuncOptions& options);

}  // namespace

constexpr const char *convolved = "y_op = [bias_o + ]sum_ck x_c(stride p - padding + dilation k) weight_ock",
                     *from_convolved =
                         "dL/dx = conv_transpose(gy, weight); dL/dweight = conv_kernel(x, gy); dL/dbias = sum of gy";
XGRAD_FORMULA conv2d_formula{"conv2d", convolved, from_convolved, OperationKind::product};
Tensor plain::conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias, const Conv2dFuncOptions& options) {
  check_weight("conv2d", weight, 4);
  return batched("conv2d", x, 4, [&](const Tensor& all) {
    check("conv2d", all, weight, options.groups, weight.dim(1));
    const ConvSizes sizes = sizes_of("conv2d", all, weight, bias, options);
    const ConvAxis &h = sizes.h, &w = sizes.w;
    const std::int64_t B = sizes.batch, groups = sizes.groups, taps = sizes.in * h.kernel * w.kernel;
    // With same_padding the zeros after an image may be one more than those before it.
    const std::int64_t below = h.dilation * (h.kernel - 1) - h.padding, right = w.dilation * (w.kernel - 1) - w.padding;
    const bool same = options.padding.same();
    const Tensor image = same ? pad(all, {{0, 0}, {0, 0}, {h.padding, below}, {w.padding, right}}) : all;
    const Size2d padding = same ? Size2d(0) : options.padding.each();
    const Tensor columns = unfold(image, {h.kernel, w.kernel}, {options.dilation, padding, options.stride});
    const Tensor y =
        matmul(reshape(weight, {groups, sizes.out, taps}), reshape(columns, {B, groups, taps, h.out * w.out}));
    const Tensor results = reshape(y, {B, groups * sizes.out, h.out, w.out});
    return bias.defined() ? results + reshape(bias, {groups * sizes.out, 1, 1}) : results;
  });
}

namespace {

// ---- The three maps, on (B, C, H, W) ----

Tensor to_result(const ConvSizes& sizes, const char* op, const Tensor& image, const Tensor& kernel, const Tensor& bias);
Tensor to_image(const ConvSizes& sizes, const char* op, const Tensor& result, const Tensor& kernel, const Tensor& bias);
Tensor to_kernel(const ConvSizes& sizes, const Tensor& image, const Tensor& result);

const Real* data_of(const Tensor& x) { return x.defined() ? x.value().data() : nullptr; }

// Attributes of a convolution, without those at their defaults.
auto kernel_attribute(const ConvSizes& sizes) { return attribute("kernel", Shape{sizes.h.kernel, sizes.w.kernel}); }
auto stride_attribute(const ConvSizes& sizes) {
  return attribute("stride", unless({1, 1}, Shape{sizes.h.stride, sizes.w.stride}));
}
auto padding_attribute(const ConvSizes& sizes) {
  return attribute("padding", unless({0, 0}, Shape{sizes.h.padding, sizes.w.padding}));
}
auto dilation_attribute(const ConvSizes& sizes) {
  return attribute("dilation", unless({1, 1}, Shape{sizes.h.dilation, sizes.w.dilation}));
}
// The rows and columns that a transposed convolution adds at the end: those that the convolution has no use for.
auto output_padding_attribute(const ConvSizes& sizes) {
  const auto left = [](const ConvAxis& axis) {
    return axis.in + 2 * axis.padding - axis.dilation * (axis.kernel - 1) - 1 - axis.stride * (axis.out - 1);
  };
  return attribute("output_padding", unless({0, 0}, Shape{left(sizes.h), left(sizes.w)}));
}
auto groups_attribute(const ConvSizes& sizes) { return attribute("groups", unless(1, sizes.groups)); }

// The multiply-adds of each of the three maps.
auto count_of(const ConvSizes& sizes) {
  return multiply_adds(sizes.batch, sizes.groups, sizes.in, sizes.out, sizes.h.out, sizes.w.out, sizes.h.kernel,
                       sizes.w.kernel);
}

auto to_bias(const Tensor& bias) {
  return wrt(bias, [](const Tensor& gy) { return sum(gy, {0, 2, 3}); });
}

// Formulas of the three maps, of which the gradients of convolutions consist.
XGRAD_FORMULA conv_formula{"conv", "y = conv(x, weight)",
                           "dL/dx = conv_transpose(gy, weight); dL/dweight = conv_kernel(x, gy)",
                           OperationKind::product};
XGRAD_FORMULA conv_transpose_formula{"conv_transpose", "y = conv_transpose(x, weight)",
                                     "dL/dx = conv(gy, weight); dL/dweight = conv_kernel(gy, x)",
                                     OperationKind::product};
XGRAD_FORMULA conv_kernel_formula{"conv_kernel", "y_ock = sum_p a_c(stride p - padding + dilation k) b_op",
                                  "dL/da = conv_transpose(b, gy); dL/db = conv(a, gy)"};

// With the rules of both arguments, and attributes other than those of all three maps.
template <class First, class Second, class... Attributes>
Tensor record_map(const char* op, const ConvSizes& sizes, Array y, First first, Second second, const Tensor& bias,
                  const Attributes&... attributes) {
  const auto with = [&](auto&&... all) {
    return record(op, std::move(y), std::move(first), std::move(second), std::move(all)..., stride_attribute(sizes),
                  padding_attribute(sizes), attributes..., dilation_attribute(sizes), groups_attribute(sizes),
                  count_of(sizes));
  };
  return bias.defined() ? with(to_bias(bias)) : with();
}

Tensor to_result(const ConvSizes& sizes, const char* op, const Tensor& image, const Tensor& kernel,
                 const Tensor& bias) {
  Array y = conv_rows(sizes, data_of(image), data_of(kernel), data_of(bias));
  auto first = wrt(image, [=](const Tensor& gy) { return to_image(sizes, "conv_transpose", gy, kernel, {}); });
  auto second = wrt(kernel, [=](const Tensor& gy) { return to_kernel(sizes, image, gy); });
  return record_map(op, sizes, std::move(y), std::move(first), std::move(second), bias);
}

Tensor to_image(const ConvSizes& sizes, const char* op, const Tensor& result, const Tensor& kernel,
                const Tensor& bias) {
  Array x = conv_image_rows(sizes, data_of(result), data_of(kernel), data_of(bias));
  auto first = wrt(result, [=](const Tensor& g) { return to_result(sizes, "conv", g, kernel, {}); });
  auto second = wrt(kernel, [=](const Tensor& g) { return to_kernel(sizes, g, result); });
  return record_map(op, sizes, std::move(x), std::move(first), std::move(second), bias,
                    output_padding_attribute(sizes));
}

Tensor to_kernel(const ConvSizes& sizes, const Tensor& image, const Tensor& result) {
  Array kernel = conv_kernel_rows(sizes, data_of(image), data_of(result));
  auto first = wrt(image, [=](const Tensor& g) { return to_image(sizes, "conv_transpose", result, g, {}); });
  auto second = wrt(result, [=](const Tensor& g) { return to_result(sizes, "conv", image, g, {}); });
  return record_map("conv_kernel", sizes, std::move(kernel), std::move(first), std::move(second), {});
}

// ---- Checks ----

void at_least(const char* op, const char* what, std::int64_t least, const Size2d& given) {
  for (const std::int64_t number : {given.height, given.width}) {
    if (number < least) fail<ValueError>(op, what, " ", number, least > 0 ? " is not positive" : " is negative");
  }
}

// How far a kernel reaches: dilation (kernel - 1) + 1.
std::int64_t reach(const char* op, std::int64_t kernel, std::int64_t dilation) {
  return checked_add(op, checked_multiply(op, dilation, kernel - 1), 1);
}

// The axis of a convolution over `in` positions. Throws for a kernel that is larger than the padded image.
ConvAxis axis_of(const char* op, std::int64_t in, std::int64_t kernel, std::int64_t stride, std::int64_t padding,
                 std::int64_t dilation) {
  const std::int64_t all = checked_add(op, in, checked_multiply(op, 2, padding)), far = reach(op, kernel, dilation);
  if (far > all) {
    fail<ShapeError>(op, "a kernel of ", kernel, " with dilation ", dilation, " reaches over ", far,
                     ", the padded image has ", all);
  }
  return {.in = in,
          .out = (all - far) / stride + 1,
          .kernel = kernel,
          .stride = stride,
          .padding = padding,
          .dilation = dilation};
}

// The checks of all convolutions: the kernel's axes, and the channels, `own` of them in each group of the kernel.
void check(const char* op, const Tensor& x, const Tensor& weight, std::int64_t groups, std::int64_t own) {
  if (groups < 1) fail<ValueError>(op, "groups ", groups, " is not positive");
  if (weight.dim(2) < 1 || weight.dim(-1) < 1) fail<ShapeError>(op, "weight ", weight.shape(), " has an empty kernel");
  if (weight.dim(0) % groups != 0) {
    fail<ShapeError>(op, "weight ", weight.shape(), " cannot be divided into ", groups, " groups");
  }
  if (x.dim(1) != checked_multiply(op, own, groups)) {
    fail<ShapeError>(op, "input ", x.shape(), " has ", x.dim(1), " channels, weight ", weight.shape(), " takes ", own,
                     " in each of ", groups, groups == 1 ? " group" : " groups");
  }
}

void check_bias(const char* op, const Tensor& bias, std::int64_t channels) {
  if (bias.defined() && bias.shape() != Shape{channels}) {
    fail<ShapeError>(op, "bias ", bias.shape(), " does not fit ", channels, " channels");
  }
}

Tensor batched(const char* op, const Tensor& x, int axes, const auto& f) {
  if (x.rank() == axes) return f(x);
  if (x.rank() != axes - 1) {
    fail<ShapeError>(op, "needs ", axes, " axes, or ", axes - 1, " without a batch, got ", x.shape(),
                     detail::volume_hint(x.shape()));
  }
  return squeeze(f(unsqueeze(x, 0)), {0});
}

void check_weight(const char* op, const Tensor& weight, int axes) {
  if (weight.rank() != axes) fail<ShapeError>(op, "weight needs ", axes, " axes, got ", weight.shape());
}

ConvSizes sizes_of(const char* op, const Tensor& x, const Tensor& weight, const Tensor& bias,
                   const Conv2dFuncOptions& options) {
  at_least(op, "stride", 1, options.stride);
  at_least(op, "dilation", 1, options.dilation);
  at_least(op, "padding", 0, options.padding.each());
  check_bias(op, bias, weight.dim(0));
  const Size2d &stride = options.stride, &dilation = options.dilation;
  const Padding2d& padding = options.padding;
  if (padding.same() && stride != Size2d(1)) {
    fail<ValueError>(op, "same_padding needs stride 1, got ", stride.height, " and ", stride.width);
  }
  const auto axis = [&](int dim, std::int64_t step, std::int64_t zeros, std::int64_t spread) {
    const std::int64_t in = x.dim(dim), kernel = weight.dim(dim);
    if (!padding.same()) return axis_of(op, in, kernel, step, zeros, spread);
    (void)checked_add(op, in - 1, reach(op, kernel, spread));
    const std::int64_t front = spread * (kernel - 1) / 2;  // of the zeros, an odd one is trailing
    return ConvAxis{.in = in, .out = in, .kernel = kernel, .padding = front, .dilation = spread};
  };
  return {.batch = x.dim(0),
          .groups = options.groups,
          .in = weight.dim(1),
          .out = weight.dim(0) / options.groups,
          .h = axis(2, stride.height, padding.each().height, dilation.height),
          .w = axis(3, stride.width, padding.each().width, dilation.width)};
}

ConvSizes unfolding(const char* op, std::int64_t batch, std::int64_t channels, const Size2d& size, const Size2d& kernel,
                    const UnfoldOptions& options) {
  at_least(op, "kernel", 1, kernel);
  at_least(op, "stride", 1, options.stride);
  at_least(op, "dilation", 1, options.dilation);
  at_least(op, "padding", 0, options.padding);
  const ConvSizes sizes{
      .batch = batch,
      .groups = 1,
      .in = channels,
      .out = 1,
      .h = axis_of(op, size.height, kernel.height, options.stride.height, options.padding.height,
                   options.dilation.height),
      .w = axis_of(op, size.width, kernel.width, options.stride.width, options.padding.width, options.dilation.width)};
  (void)checked_multiply(op, channels, checked_multiply(op, kernel.height, kernel.width));
  (void)checked_multiply(op, sizes.h.out, sizes.w.out);
  return sizes;
}

Tensor folded(const ConvSizes& sizes, const Tensor& columns);

Tensor unfolded(const ConvSizes& sizes, const Tensor& image) {
  return record("unfold", unfold_rows(sizes, data_of(image)),
                wrt(image, [sizes](const Tensor& gy) { return folded(sizes, gy); }), kernel_attribute(sizes),
                stride_attribute(sizes), padding_attribute(sizes), dilation_attribute(sizes));
}

Tensor folded(const ConvSizes& sizes, const Tensor& columns) {
  return record("fold", fold_rows(sizes, data_of(columns)),
                wrt(columns, [sizes](const Tensor& gy) { return unfolded(sizes, gy); }), kernel_attribute(sizes),
                stride_attribute(sizes), padding_attribute(sizes), dilation_attribute(sizes));
}

}  // namespace

XGRAD_FORMULA conv1d_formula{"conv1d", convolved, from_convolved, OperationKind::product};
Tensor conv1d(const Tensor& x, const Tensor& weight, const Tensor& bias, const Conv1dFuncOptions& options) {
  check_weight("conv1d", weight, 3);
  const Conv2dFuncOptions on_rows{
      .stride = {1, options.stride},
      .padding = options.padding.same() ? Padding2d(same_padding) : Padding2d(0, options.padding.each()),
      .dilation = {1, options.dilation},
      .groups = options.groups};
  return batched("conv1d", x, 3, [&](const Tensor& all) {
    check("conv1d", all, weight, options.groups, weight.dim(1));
    const Tensor image = unsqueeze(all, 2), kernel = unsqueeze(weight, 2);
    return squeeze(to_result(sizes_of("conv1d", image, kernel, bias, on_rows), "conv1d", image, kernel, bias), {2});
  });
}

Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias, const Conv2dFuncOptions& options) {
  check_weight("conv2d", weight, 4);
  return batched("conv2d", x, 4, [&](const Tensor& all) {
    check("conv2d", all, weight, options.groups, weight.dim(1));
    return to_result(sizes_of("conv2d", all, weight, bias, options), "conv2d", all, weight, bias);
  });
}

constexpr const char *transposed_y =
                         "y_oq = [bias_o + ]sum_cpk x_cp weight_cok with q = stride p - padding + dilation k",
                     *from_transposed =
                         "dL/dx = conv(gy, weight); dL/dweight = conv_kernel(gy, x); dL/dbias = sum of gy";
XGRAD_FORMULA conv_transpose2d_formula{"conv_transpose2d", transposed_y, from_transposed, OperationKind::product};
Tensor conv_transpose2d(const Tensor& x, const Tensor& weight, const Tensor& bias,
                        const ConvTranspose2dFuncOptions& options) {
  const char* op = "conv_transpose2d";
  check_weight(op, weight, 4);
  return batched(op, x, 4, [&](const Tensor& all) {
    check(op, all, weight, options.groups, options.groups < 1 ? 0 : weight.dim(0) / options.groups);
    const Size2d &stride = options.stride, &padding = options.padding, &more = options.output_padding,
                 &dilation = options.dilation;
    const std::int64_t groups = options.groups;
    at_least(op, "stride", 1, stride);
    at_least(op, "dilation", 1, dilation);
    at_least(op, "padding", 0, padding);
    at_least(op, "output_padding", 0, more);
    check_bias(op, bias, checked_multiply(op, weight.dim(1), groups));
    const auto axis = [&](int dim, std::int64_t step, std::int64_t zeros, std::int64_t extra, std::int64_t spread) {
      if (extra >= std::max(step, spread)) {
        fail<ValueError>(op, "output_padding ", extra, " is not below stride ", step, " or dilation ", spread);
      }
      const std::int64_t out = all.dim(dim), kernel = weight.dim(dim);
      const std::int64_t far = checked_add(op, reach(op, kernel, spread), extra);
      const std::int64_t padded = checked_add(op, checked_multiply(op, std::max<std::int64_t>(out, 1) - 1, step), far);
      const std::int64_t in = padded - checked_multiply(op, 2, zeros);
      if (in < 1 || out < 1) {
        fail<ShapeError>(op, "an axis of ", out, " gives ", padded, " places, of which padding ", zeros,
                         " leaves none");
      }
      return ConvAxis{.in = in, .out = out, .kernel = kernel, .stride = step, .padding = zeros, .dilation = spread};
    };
    const ConvSizes sizes{.batch = all.dim(0),
                          .groups = groups,
                          .in = weight.dim(1),
                          .out = weight.dim(0) / groups,
                          .h = axis(2, stride.height, padding.height, more.height, dilation.height),
                          .w = axis(3, stride.width, padding.width, more.width, dilation.width)};
    return to_image(sizes, op, all, weight, bias);
  });
}

XGRAD_FORMULA unfold_formula{"unfold", "y_kp = x_(p + k) for places k of the kernel around p", "dL/dx = fold(gy)"};
Tensor unfold(const Tensor& x, const Size2d& kernel, const UnfoldOptions& options) {
  return batched("unfold", x, 4, [&](const Tensor& all) {
    return unfolded(unfolding("unfold", all.dim(0), all.dim(1), {all.dim(2), all.dim(3)}, kernel, options), all);
  });
}

XGRAD_FORMULA fold_formula{"fold", "y_q = sum of x_kp with p + k = q", "dL/dx = unfold(gy)"};
Tensor fold(const Tensor& x, const Size2d& size, const Size2d& kernel, const UnfoldOptions& options) {
  return batched("fold", x, 3, [&](const Tensor& all) {
    at_least("fold", "size", 0, size);
    ConvSizes sizes = unfolding("fold", all.dim(0), 0, size, kernel, options);
    const std::int64_t taps = kernel.height * kernel.width, pixels = sizes.h.out * sizes.w.out;
    if (all.dim(1) % taps != 0 || all.dim(2) != pixels) {
      fail<ShapeError>("fold", "columns ", all.shape(), " for ", taps, " taps of a kernel and ", pixels,
                       " of an image of ", Shape{size.height, size.width});
    }
    sizes.in = all.dim(1) / taps;
    return folded(sizes, all);
  });
}

}  // namespace xgrad
