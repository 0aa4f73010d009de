// Random calls of every operation with a kernel of its own, against its composed form: values and gradients, at sizes 1
// to 70 with all that a call can ask for. XGRAD_CASES says how many (600 if it is not set), XGRAD_SEED where they
// begin; a failure names the number of its case, which `XGRAD_SEED=number XGRAD_CASES=1` repeats. From 10,000 cases on
// all settings of convolution and pooling up to size 6 are tried, below some of them. `tests/long random` runs it with
// sanitizers, for every level of registers.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <xgrad/ops/ops.h>

#include "support/draw.h"
#include "support/fused.h"

using namespace xgrad;
using namespace xgrad::testing;

namespace {

// A call in two forms.
struct Case {
  std::string what;
  std::vector<Array> inputs;
  Function fused, composed;
};

#define BOTH(call) [=](const Tensors& x) { return call; }, [=](const Tensors& x) { return plain::call; }

// ---- Products ----

// The product as a sum of products of single numbers.
Tensor summed_product(const Tensor& a, const Tensor& b) { return sum(unsqueeze(a, -1) * unsqueeze(b, -3), -2); }

Case products(Draw& draw) {
  const std::int64_t m = draw.size(), n = draw.size(), k = draw.size();
  const MatmulOptions options{.transpose_a = draw.coin(), .transpose_b = draw.coin()};
  const auto matrix = [](std::int64_t rows, std::int64_t columns, bool transposed) {
    return transposed ? Shape{columns, rows} : Shape{rows, columns};
  };
  Shape a = matrix(m, k, options.transpose_a), b = matrix(k, n, options.transpose_b);
  if (draw.one_in(3)) {
    const std::int64_t batch = draw.from(1, 4);
    a.insert(0, draw.one_in(4) ? 1 : batch);
    if (draw.coin()) b.insert(0, draw.one_in(4) ? 1 : batch);
  }
  return {str("matmul ", a, options.transpose_a, " ", b, options.transpose_b),
          {draw.normal(a), draw.normal(b)},
          [=](const Tensors& x) { return matmul(x[0], x[1], options); },
          [=](const Tensors& x) {
            return summed_product(options.transpose_a ? transpose(x[0], -1, -2) : x[0],
                                  options.transpose_b ? transpose(x[1], -1, -2) : x[1]);
          }};
}

Case linears(Draw& draw) {
  const std::int64_t in = draw.size(), out = draw.size(), rows = draw.size();
  const bool bias = draw.coin();
  std::vector<Array> inputs{draw.normal({rows, in}), draw.normal({out, in})};
  if (bias) inputs.push_back(draw.normal({out}));
  return {str("linear ", rows, " ", in, " -> ", out, bias ? " with bias" : ""), inputs,
          BOTH(linear(x[0], x[1], bias ? x[2] : Tensor()))};
}

// ---- Attention ----

AttentionOptions attention_options(Draw& draw, std::int64_t B, std::int64_t H, std::int64_t T, std::int64_t S) {
  AttentionOptions options;
  if (draw.one_in(3)) options.mask.causal = true;
  if (draw.one_in(5)) options.mask.band = AttentionBand{draw.from(0, S), draw.from(0, S)};
  if (draw.one_in(3)) options.mask.lengths = draw.index(draw.coin() ? Shape{B} : Shape{B, T}, 0, S);
  const auto broadcast = [&] {
    return Shape{draw.coin() ? 1 : B, draw.coin() ? 1 : H, draw.coin() ? 1 : T, draw.coin() ? 1 : S};
  };
  if (draw.one_in(5)) options.mask.masked = draw.mask(broadcast());
  if (draw.one_in(6)) options.mask.bias = draw.normal(broadcast());
  if (draw.one_in(5)) {
    options.dropout = draw.real(0, 1);
    options.key = draw.key();
  }
  if (draw.one_in(5)) options.scale = draw.real(-2, 2);
  return options;
}

std::string described(const AttentionOptions& o) {
  return str(o.mask.causal ? " causal" : "",
             o.mask.band ? str(" band ", o.mask.band->before, " ", o.mask.band->after) : "",
             o.mask.lengths ? " lengths" : "", o.mask.masked ? " masked" : "", o.mask.bias.defined() ? " bias" : "",
             o.dropout > 0 ? " dropout" : "", o.scale ? " scale" : "");
}

Case attentions(Draw& draw) {
  const std::int64_t group = draw.one_in(4) ? draw.from(2, 3) : 1;
  const std::int64_t B = draw.from(1, 6), H = draw.from(1, 3) * group, d = draw.size(48);
  const std::int64_t T = draw.one_in(4) ? 1 : draw.size(40), S = draw.coin() ? T : draw.size();
  const std::int64_t e = draw.one_in(4) ? draw.size(48) : d, kv = H / group;
  AttentionOptions options = attention_options(draw, B, H, T, S);
  const std::string sizes =
      str(" B ", B, " H ", H, " of ", kv, " T ", T, " S ", S, " d ", d, " e ", e, described(options));
  if (group == 1 && draw.one_in(4)) {
    return {"scaled_dot_product_attention" + sizes,
            {draw.normal({B, H, T, d}), draw.normal({B, H, S, d}), draw.normal({B, H, S, e})},
            BOTH(scaled_dot_product_attention(x[0], x[1], x[2], options))};
  }
  options.kv_heads = kv;
  if (T == S && e == d && draw.coin()) {
    return {"packed attention" + sizes,
            {draw.normal({B, T, (H + 2 * kv) * d})},
            BOTH(multi_head_attention(x[0], H, options))};
  }
  return {"multi_head_attention" + sizes,
          {draw.normal({B, T, H * d}), draw.normal({B, S, kv * d}), draw.normal({B, S, kv * e})},
          BOTH(multi_head_attention(x[0], x[1], x[2], H, options))};
}

// Short sequences of full packs, which have their own kernel.
Case short_attentions(Draw& draw) {
  const std::int64_t B = draw.from(1, 20), H = draw.from(1, 4), T = draw.from(2, 20),
                     S = draw.coin() ? T : draw.from(1, 32);
  const std::int64_t d = draw.coin() ? std::int64_t{1} << draw.from(0, 3) : 2 * draw.from(1, 20);
  AttentionOptions options;
  options.mask.causal = draw.coin();
  if (draw.coin()) options.mask.lengths = draw.index(draw.coin() ? Shape{B} : Shape{B, T}, 0, S);
  return {str("short attention B ", B, " H ", H, " T ", T, " S ", S, " d ", d, described(options)),
          {draw.normal({B, T, H * d}), draw.normal({B, S, H * d}), draw.normal({B, S, H * d})},
          BOTH(multi_head_attention(x[0], x[1], x[2], H, options))};
}

Case linear_attentions(Draw& draw) {
  const std::int64_t B = draw.from(1, 3), H = draw.from(1, 3), d = draw.size(20), e = draw.size(20), T = draw.size();
  LinearAttentionFuncOptions options{.causal = draw.coin()};
  const std::int64_t S = options.causal ? T : draw.size();
  if (draw.one_in(3)) options.lengths = draw.index({B}, 0, S);
  return {str("linear_attention B ", B, " H ", H, " T ", T, " S ", S, " d ", d, " e ", e,
              options.causal ? " causal" : "", options.lengths ? " lengths" : ""),
          {draw.normal({B, T, H * d}), draw.normal({B, S, H * d}), draw.normal({B, S, H * e})},
          BOTH(linear_attention(x[0], x[1], x[2], H, options))};
}

Case rotaries(Draw& draw) {
  RotaryOptions options{.heads = draw.from(1, 4), .first = draw.from(0, 50)};
  if (draw.coin()) options.layout = RotaryLayout::interleaved;
  const std::int64_t d = 2 * draw.size(20), T = draw.size();
  return {str("rotary T ", T, " d ", d, " heads ", options.heads),
          {draw.normal({2, T, options.heads * d})},
          BOTH(rotary(x[0], options))};
}

// ---- Convolution and pooling ----

struct Axis {
  std::int64_t in, kernel, stride, padding, dilation;

  std::int64_t reach() const { return dilation * (kernel - 1) + 1; }
  bool fits() const { return in + 2 * padding >= reach(); }
  std::int64_t out() const { return (in + 2 * padding - reach()) / stride + 1; }
};
void append(std::string& out, const Axis& a) {
  xgrad::append(out, str("(", a.in, " kernel ", a.kernel, " stride ", a.stride, " padding ", a.padding, " dilation ",
                         a.dilation, ")"));
}

Axis random_axis(Draw& draw, std::int64_t most) {
  Axis axis{};
  do {
    axis = {draw.size(most), draw.from(1, 5), draw.from(1, 4), draw.one_in(3) ? 0 : draw.from(0, 3),
            draw.one_in(3) ? draw.from(1, 4) : 1};
  } while (!axis.fits());
  return axis;
}

// The sum of the products of each number of x (B, groups in, H, W) with its part of the kernel.
Tensor transposed_by_columns(const Tensor& x, const Tensor& weight, const Tensor& bias, const Axis& h, const Axis& w,
                             std::int64_t groups, const Size2d& size) {
  const std::int64_t B = x.dim(0), in = weight.dim(0) / groups, made = weight.dim(1) * h.kernel * w.kernel;
  const std::int64_t pixels = x.dim(2) * x.dim(3);
  const Tensor columns =
      summed_product(transpose(reshape(weight, {1, groups, in, made}), 2, 3), reshape(x, {B, groups, in, pixels}));
  const Tensor y =
      fold(reshape(columns, {B, groups * made, pixels}), size, {h.kernel, w.kernel},
           {.dilation = {h.dilation, w.dilation}, .padding = {h.padding, w.padding}, .stride = {h.stride, w.stride}});
  return bias.defined() ? y + reshape(bias, {-1, 1, 1}) : y;
}

Case conv_case(Draw& draw, const Axis& h, const Axis& w, std::int64_t most_channels) {
  const std::int64_t groups = draw.one_in(3) ? draw.from(2, 3) : 1, in = draw.one_in(4) ? 1 : draw.size(most_channels),
                     out = draw.one_in(4) ? 1 : draw.size(most_channels), B = draw.from(1, 3);
  const bool bias = draw.coin();
  const Conv2dFuncOptions options{.stride = {h.stride, w.stride},
                                  .padding = {h.padding, w.padding},
                                  .dilation = {h.dilation, w.dilation},
                                  .groups = groups};
  std::vector<Array> inputs{draw.normal({B, groups * in, h.in, w.in}),
                            draw.normal({groups * out, in, h.kernel, w.kernel})};
  if (bias) inputs.push_back(draw.normal({groups * out}));
  std::string infinite;
  if (draw.one_in(8)) {
    Array& weight = inputs[1];
    weight.mutable_data()[draw.from(0, weight.size() - 1)] = draw.coin() ? infinity : not_a_number;
    infinite = ", a weight infinite or NaN";
  }
  return {str("conv2d B ", B, " groups ", groups, " ", in, " -> ", out, " ", h, " ", w, bias ? " bias" : "", infinite),
          inputs, BOTH(conv2d(x[0], x[1], bias ? x[2] : Tensor(), options))};
}

Case transposed_case(Draw& draw, const Axis& h, const Axis& w, std::int64_t most_channels) {
  const std::int64_t groups = draw.one_in(3) ? draw.from(2, 3) : 1, in = draw.size(most_channels),
                     out = draw.size(most_channels), B = draw.from(1, 3);
  const bool bias = draw.coin();
  const auto more = [&](const Axis& axis) { return (axis.in + 2 * axis.padding - axis.reach()) % axis.stride; };
  const ConvTranspose2dFuncOptions options{.stride = {h.stride, w.stride},
                                           .padding = {h.padding, w.padding},
                                           .output_padding = {more(h), more(w)},
                                           .dilation = {h.dilation, w.dilation},
                                           .groups = groups};
  std::vector<Array> inputs{draw.normal({B, groups * in, h.out(), w.out()}),
                            draw.normal({groups * in, out, h.kernel, w.kernel})};
  if (bias) inputs.push_back(draw.normal({groups * out}));
  return {str("conv_transpose2d B ", B, " groups ", groups, " ", in, " -> ", out, " ", h, " ", w, bias ? " bias" : ""),
          inputs, [=](const Tensors& x) { return conv_transpose2d(x[0], x[1], bias ? x[2] : Tensor(), options); },
          [=](const Tensors& x) {
            return transposed_by_columns(x[0], x[1], bias ? x[2] : Tensor(), h, w, groups, {h.in, w.in});
          }};
}

Case convolutions(Draw& draw) {
  const Axis h = random_axis(draw, 24), w = random_axis(draw, 40);
  const bool transposed = draw.one_in(3);
  // So many multiplications are done one by one.
  const std::int64_t most = h.in * w.in > 300 ? 8 : 40;
  return transposed ? transposed_case(draw, h, w, std::min<std::int64_t>(most, 20)) : conv_case(draw, h, w, most);
}

// The windows of an axis of pooling, with those of ceil_mode.
std::int64_t windows(const Axis& axis, bool ceil_mode) {
  const std::int64_t slack = axis.in + 2 * axis.padding - axis.reach();
  std::int64_t count = (slack + (ceil_mode ? axis.stride - 1 : 0)) / axis.stride + 1;
  if (ceil_mode && (count - 1) * axis.stride - axis.padding >= axis.in) --count;
  return count;
}

// Parts of x, padded with `value`, one for each place of the kernel, side by side in front.
Tensor places(const Tensor& x, const Axis& h, const Axis& w, bool ceil_mode, double value) {
  const auto after = [](const Axis& axis, std::int64_t count) {
    return std::max<std::int64_t>((count - 1) * axis.stride - axis.padding + axis.reach() - axis.in, 0);
  };
  const std::int64_t rows = windows(h, ceil_mode), columns = windows(w, ceil_mode);
  const Tensor all = pad(x, {{0, 0}, {0, 0}, {h.padding, after(h, rows)}, {w.padding, after(w, columns)}}, value);
  const auto part = [](const Axis& axis, std::int64_t place, std::int64_t count) {
    const std::int64_t first = place * axis.dilation;
    return slice(first, first + (count - 1) * axis.stride + 1, axis.stride);
  };
  Tensors parts;
  for (std::int64_t i = 0; i < h.kernel; ++i) {
    for (std::int64_t j = 0; j < w.kernel; ++j) parts.push_back(all[{_, _, part(h, i, rows), part(w, j, columns)}]);
  }
  return stack(parts);
}

Case max_pool_case(Draw& draw, const Axis& h, const Axis& w) {
  const bool ceil_mode = draw.coin();
  const MaxPool2dOptions options{
      .stride = Size2d(h.stride, w.stride), .padding = {h.padding, w.padding}, .ceil_mode = ceil_mode};
  return {str("max_pool2d ", h, " ", w, ceil_mode ? " ceil_mode" : ""),
          {draw.normal({2, draw.from(1, 3), h.in, w.in})},
          [=](const Tensors& x) {
            return max_pool2d(x[0], {h.kernel, w.kernel}, options);
          },
          [=](const Tensors& x) { return max(places(x[0], h, w, ceil_mode, -infinity), Axes{0}); }};
}

Case avg_pool_case(Draw& draw, const Axis& h, const Axis& w) {
  const bool ceil_mode = draw.coin(), include_pad = draw.coin();
  const AvgPool2dOptions options{.stride = Size2d(h.stride, w.stride),
                                 .padding = {h.padding, w.padding},
                                 .ceil_mode = ceil_mode,
                                 .count_include_pad = include_pad};
  return {str("avg_pool2d ", h, " ", w, ceil_mode ? " ceil_mode" : "", include_pad ? " count_include_pad" : ""),
          {draw.normal({2, draw.from(1, 3), h.in, w.in})},
          [=](const Tensors& x) {
            return avg_pool2d(x[0], {h.kernel, w.kernel}, options);
          },
          [=](const Tensors& x) {
            // What counts: the numbers of the picture and, if asked, those of the padding on both sides.
            Tensor counted = ones({1, 1, h.in, w.in});
            Axis rows = h, columns = w;
            if (include_pad) {
              counted = ones({1, 1, h.in + 2 * h.padding, w.in + 2 * w.padding});
              rows = {h.in + 2 * h.padding, h.kernel, h.stride, 0, 1};
              columns = {w.in + 2 * w.padding, w.kernel, w.stride, 0, 1};
            }
            const std::int64_t i = windows(h, ceil_mode), j = windows(w, ceil_mode);
            const Tensor count = sum(places(counted, rows, columns, ceil_mode, 0), 0)[{_, _, slice(0, i), slice(0, j)}];
            return sum(places(x[0], h, w, ceil_mode, 0), 0) / count;
          }};
}

// Whether max_pool and avg_pool take it.
bool pools(const Axis& axis) { return axis.dilation == 1 && axis.padding <= axis.kernel / 2; }

Case poolings(Draw& draw) {
  const auto axis = [&] {
    Axis drawn{};
    do drawn = random_axis(draw, 40);
    while (!pools(drawn));
    return drawn;
  };
  Axis h = axis(), w = axis();
  if (draw.coin()) return max_pool_case(draw, h, w);
  return avg_pool_case(draw, h, w);
}

Case adaptive_poolings(Draw& draw) {
  const std::int64_t in = draw.size(40), out = draw.size(12);
  return {str("adaptive pooling of ", in, " to ", out),
          {draw.normal({2, 3, in})},
          [=](const Tensors& x) { return adaptive_avg_pool1d(x[0], out); },
          [=](const Tensors& x) {
            Tensors parts;
            for (std::int64_t i = 0; i < out; ++i) {
              parts.push_back(mean(x[0][{_, _, slice(i * in / out, ((i + 1) * in + out - 1) / out)}], -1));
            }
            return stack(parts, -1);
          }};
}

Case interpolations(Draw& draw) {
  const Axis h{draw.size(20), draw.size(20), 1, 0, 1},
      w{draw.size(20), draw.size(20), 1, 0, 1};  // from `in` to `kernel`
  const bool corners = draw.coin(), nearest = draw.one_in(3);
  // The matrix of one axis by its definition.
  const auto matrix = [=](const Axis& axis) {
    Array to(Shape{axis.kernel, axis.in}, 0);
    for (std::int64_t i = 0; i < axis.kernel; ++i) {
      const double in = static_cast<double>(axis.in), out = static_cast<double>(axis.kernel),
                   at = static_cast<double>(i);
      if (nearest) {
        to.mutable_data()[i * axis.in + i * axis.in / axis.kernel] = 1;
        continue;
      }
      const double source =
          corners ? (axis.kernel > 1 ? at * (in - 1) / (out - 1) : 0) : std::max((at + 0.5) * in / out - 0.5, 0.);
      const auto low = std::min(static_cast<std::int64_t>(source), axis.in - 1), high = std::min(low + 1, axis.in - 1);
      to.mutable_data()[i * axis.in + low] += static_cast<Real>(1 - (source - static_cast<double>(low)));
      to.mutable_data()[i * axis.in + high] += static_cast<Real>(source - static_cast<double>(low));
    }
    return Tensor(to);
  };
  const InterpolateOptions options{.size = Size2d(h.kernel, w.kernel),
                                   .mode = nearest ? Interpolation::nearest : Interpolation::bilinear,
                                   .align_corners = corners && !nearest ? AlignCorners::yes : AlignCorners::no};
  return {
      str("interpolate ", h.in, " ", w.in, " to ", h.kernel, " ", w.kernel, nearest ? " nearest" : "",
          corners ? " corners" : ""),
      {draw.normal({2, 2, h.in, w.in})},
      [=](const Tensors& x) { return interpolate(x[0], options); },
      [=](const Tensors& x) { return summed_product(summed_product(matrix(h), x[0]), transpose(matrix(w), 0, 1)); }};
}

// ---- Rows ----

Shape random_shape(Draw& draw, int least_rank = 1) {
  Shape shape;
  const std::int64_t rank = draw.from(least_rank, 4);
  for (std::int64_t i = 0; i < rank; ++i) shape.push_back(draw.size(rank > 2 ? 12 : 70));
  return shape;
}

Case softmaxes(Draw& draw) {
  const Shape shape = random_shape(draw);
  const int axis = static_cast<int>(draw.from(0, shape.rank() - 1));
  const std::vector<Array> inputs{draw.normal(shape)};
  switch (draw.from(0, 3)) {
    case 0:
      return {str("softmax ", shape, " along ", axis), inputs, BOTH(softmax(x[0], axis))};
    case 1:
      return {str("log_softmax ", shape, " along ", axis), inputs, BOTH(log_softmax(x[0], axis))};
    case 2: {
      const Mask masked = draw.mask(draw.coin() ? shape : Shape{shape.back()});
      return {str("masked_softmax ", shape), inputs, BOTH(masked_softmax(x[0], masked))};
    }
    default: {
      const Shape own{draw.size(6), draw.size(12), draw.size()};
      const Index lengths = draw.index(draw.coin() ? Shape{own[0]} : Shape{own[0], own[1]}, 0, own[2]);
      return {str("masked_softmax with lengths ", own), {draw.normal(own)}, BOTH(masked_softmax(x[0], lengths))};
    }
  }
}

Case norms(Draw& draw) {
  const Shape shape = random_shape(draw, 2);
  const Shape last{shape.back()}, channels{shape[1]};
  const bool gamma = draw.coin(), beta = gamma && draw.coin();
  const std::int64_t kind = draw.from(0, 2);
  std::vector<Array> inputs{draw.normal(shape)};
  if (gamma) inputs.push_back(draw.normal(kind == 2 ? channels : last));
  if (beta && kind != 1) inputs.push_back(draw.normal(kind == 2 ? channels : last));
  const auto at = [](const Tensors& x, std::size_t i) { return i < x.size() ? x[i] : Tensor(); };
  const double eps = draw.coin() ? 1e-5 : 1e-2;
  if (kind == 0) return {str("layer_norm ", shape), inputs, BOTH(layer_norm(x[0], at(x, 1), at(x, 2), {.eps = eps}))};
  if (kind == 1) return {str("rms_norm ", shape), inputs, BOTH(rms_norm(x[0], at(x, 1), {.eps = eps}))};
  return {str("batch_norm ", shape), inputs, BOTH(batch_norm(x[0], at(x, 1), at(x, 2), {.eps = eps}).y)};
}

Case cross_entropies(Draw& draw) {
  const std::int64_t rows = draw.size(), V = draw.size();
  CrossEntropyOptions options;
  options.reduction =
      std::vector{Reduction::mean, Reduction::sum, Reduction::none}[static_cast<std::size_t>(draw.from(0, 2))];
  const Index targets = draw.index({rows}, 0, V - 1);
  if (draw.coin()) options.label_smoothing = draw.real(0, 1);
  if (draw.coin()) options.ignore_index = draw.from(0, V - 1);
  std::vector<Array> inputs{draw.normal({rows, V})};
  const bool weighted = draw.coin();
  if (weighted) inputs.push_back(uniform({V}, Real(0.5), 2, 5));
  const auto with = [=](const Tensors& x) {
    CrossEntropyOptions all = options;
    if (weighted) all.weight = x[1];
    return all;
  };
  return {str("cross_entropy ", rows, " ", V, weighted ? " weighted" : ""), inputs,
          BOTH(cross_entropy(x[0], targets, with(x)))};
}

Case recurrences(Draw& draw) {
  const std::int64_t B = draw.size(20), T = draw.from(1, 6), h = draw.size(24), kind = draw.from(0, 2);
  RecurrenceOptions options{.reverse = draw.coin()};
  if (draw.coin()) options.lengths = draw.index({B}, 1, T);
  const std::int64_t gates = kind == 0 ? 1 : kind == 2 ? 3 : 4;
  std::vector<Array> inputs{draw.normal({B, T, gates * h}), draw.normal({gates * h, h}), draw.normal({B, h})};
  const std::string what =
      str(" B ", B, " T ", T, " h ", h, options.lengths ? " lengths" : "", options.reverse ? " reverse" : "");
  switch (kind) {
    case 0:
      return {"rnn" + what, inputs, BOTH(rnn(x[0], x[1], x[2], Squash::tanh, options).output)};
    case 1:
      inputs.push_back(draw.normal({B, h}));
      return {"lstm" + what, inputs, BOTH(lstm(x[0], x[1], x[2], x[3], options).output)};
    default:
      inputs.insert(inputs.begin() + 2, draw.normal({3 * h}));
      return {"gru" + what, inputs, BOTH(gru(x[0], x[1], x[2], x[3], options).output)};
  }
}

// ---- Reductions and moves ----

Case reductions(Draw& draw) {
  const Shape shape = random_shape(draw);
  std::vector<int> axes;
  for (int i = 0; i < shape.rank(); ++i) {
    if (draw.coin()) axes.push_back(i);
  }
  if (axes.empty()) axes.push_back(0);
  const Axes over{ShortList<int>(std::span<const int>(axes))};
  // The axes one after the other, each as a list of its slices.
  const auto folded = [=](Tensor x, const auto& f) {
    for (std::size_t i = axes.size(); i-- > 0;) {
      Tensor all;
      for (const Tensor& part : unbind(x, axes[i])) all = all.defined() ? f(all, part) : part;
      x = all;
    }
    return x;
  };
  double count = 1;
  for (const int axis : axes) count *= static_cast<double>(shape[axis]);
  const auto added = [=](const Tensor& x) { return folded(x, [](const Tensor& a, const Tensor& b) { return a + b; }); };
  const auto of = [&](const char* name, const Array& x, const auto& fused, const auto& composed) {
    return Case{str(name, " of ", shape, " over ", axes.size(), " axes from ", axes[0]),
                {x},
                [=](const Tensors& in) { return fused(in[0], over, {}); },
                [=](const Tensors& in) { return composed(in[0]); }};
  };
  const Array x = draw.normal(shape), near_1 = uniform(shape, Real(0.9), Real(1.1), 3);
  using Reduce = Tensor (*)(const Tensor&, const AxisSet&, const KeepdimOptions&);
  const auto product = [](const Tensor& a, const Tensor& b) { return a * b; };
  switch (draw.from(0, 5)) {
    case 0:
      return of("sum", x, Reduce(sum), added);
    case 1:
      return of("mean", x, Reduce(mean), [=](const Tensor& t) { return added(t) / count; });
    case 2:
      return of("max", x, Reduce(max), [=](const Tensor& t) { return folded(t, maximum); });
    case 3:
      return of("prod", near_1, Reduce(prod), [=](const Tensor& t) { return folded(t, product); });
    case 4:
      return of("logsumexp", x, Reduce(logsumexp), [=](const Tensor& t) { return log(added(exp(t))); });
    default:
      return of(
          "var", x, [](const Tensor& t, const Axes& at, KeepdimOptions) { return var(t, at, {.correction = 0}); },
          [=](const Tensor& t) { return added(square(t)) / count - square(added(t) / count); });
  }
}

// Transposes, as a choice from the list of all numbers.
Case permutations(Draw& draw) {
  const Shape shape = random_shape(draw);
  std::vector<int> order;
  for (int i = 0; i < shape.rank(); ++i) order.insert(order.begin() + draw.from(0, i), i);
  const Shape strides = strides_of(shape);
  Shape to;
  for (const int axis : order) to.push_back(shape[axis]);
  Index from(to);
  for (std::int64_t i = 0; i < from.size(); ++i) {
    std::int64_t remaining = i, at = 0;
    for (int axis = to.rank() - 1; axis >= 0; --axis) {
      at += remaining % to[axis] * strides[order[static_cast<std::size_t>(axis)]];
      remaining /= to[axis];
    }
    from.mutable_data()[i] = at;
  }
  const Axes axes{ShortList<int>(std::span<const int>(order))};
  return {str("permute ", shape, " to ", to),
          {draw.normal(shape)},
          [=](const Tensors& x) { return permute(x[0], axes); },
          [=](const Tensors& x) { return reshape(index_select(flatten(x[0]), 0, from.reshaped({from.size()})), to); }};
}

// Rows of a table, as products with ones and zeros.
Case choices(Draw& draw) {
  const std::int64_t rows = draw.size(), columns = draw.size(), count = draw.size();
  const Index ids = draw.index({count}, 0, rows - 1);
  const Tensor chosen = one_hot(ids, rows);
  if (draw.coin()) {
    return {str("embedding ", rows, " ", columns, " of ", count),
            {draw.normal({rows, columns})},
            [=](const Tensors& x) { return embedding(x[0], ids); },
            [=](const Tensors& x) { return summed_product(chosen, x[0]); }};
  }
  return {str("index_add ", rows, " ", columns, " of ", count),
          {draw.normal({rows, columns}), draw.normal({count, columns})},
          [=](const Tensors& x) { return index_add(x[0], 0, ids, x[1]); },
          [=](const Tensors& x) { return x[0] + summed_product(transpose(chosen, 0, 1), x[1]); }};
}

// An operation on elements that broadcasts, and the same on operands that are as large as the result.
Case broadcasts(Draw& draw) {
  const Shape shape = random_shape(draw);
  const auto part = [&] {
    Shape own = shape;
    for (int i = 0; i < own.rank(); ++i) {
      if (draw.coin()) own[i] = 1;
    }
    while (own.rank() > 0 && draw.one_in(4)) own.erase(0);
    return own;
  };
  const Shape a = part(), b = part(), y = broadcast_shapes("test", a, b);
  return {str("atan2 ", a, " ", b),
          {draw.normal(a), draw.normal(b)},
          [=](const Tensors& x) { return atan2(x[0], x[1]); },
          [=](const Tensors& x) { return atan2(broadcast_to(x[0], y), broadcast_to(x[1], y)); }};
}

Case dropouts(Draw& draw) {
  const Shape shape = random_shape(draw);
  const double p = draw.real(0, 1);
  const RandomKey key = draw.key();
  return {str("dropout ", shape),
          {draw.normal(shape)},
          [=](const Tensors& x) { return dropout(x[0], p, key); },
          [=](const Tensors& x) { return x[0] * dropout(ones(shape), p, key).detach(); }};
}

#undef BOTH

// Fails unless both forms have the same value and, for random cotangents, the same gradients.
void compare(const Case& each) {
  CAPTURE(each.what);
  // Of numbers around 1, added up in other orders.
  constexpr double tolerance = 4000 * std::numeric_limits<Real>::epsilon();
  const Tensors xs = variables(each.inputs);
  const Tensor fused = each.fused(xs), composed = each.composed(xs);
  check_close(fused.value(), composed.value(), tolerance, 1);
  const NoGrad off;
  check_close(each.fused(xs).value(), fused.value(), 0);
  if (fused.shape() != composed.shape()) return;
  const Tensor v = normal(fused.shape(), 77);
  check_each_close(grad(fused, xs, {.seed = v}), grad(composed, xs, {.seed = v, .unused = Unused::zeros}), tolerance, 1);
}

const std::int64_t cases = wanted_cases(600), first_case = first_wanted_case();

}  // namespace

TEST_CASE("random calls of fused operations have the values and gradients of their composed forms") {
  const std::vector<Case (*)(Draw&)> kinds{
      products,        linears,      attentions,        attentions,     short_attentions, linear_attentions,
      rotaries,        convolutions, convolutions,      poolings,       softmaxes,        norms,
      cross_entropies, recurrences,  adaptive_poolings, interpolations, reductions,
      reductions,      permutations, choices,           broadcasts,     dropouts};
  for (std::int64_t number = first_case; number < first_case + cases; ++number) {
    CAPTURE(number);
    Draw draw(static_cast<std::uint64_t>(number));
    compare(kinds[static_cast<std::size_t>(number) % kinds.size()](draw));
  }
}

TEST_CASE("convolution and pooling with all attributes up to size 6 are what their composed forms are") {
  std::vector<Axis> axes;
  for (std::int64_t i = 0; i < 6 * 3 * 3 * 3 * 3; ++i) {
    const Axis axis{1 + i / 81, 1 + i / 27 % 3, 1 + i / 9 % 3, i / 3 % 3, 1 + i % 3};
    if (axis.fits() && (axis.kernel > 1 || axis.dilation == 1)) axes.push_back(axis);
  }
  const auto all = static_cast<std::int64_t>(axes.size() * axes.size());
  const std::int64_t step = cases >= 10000 ? 1 : 997;
  for (std::int64_t pair = first_case % step; pair < all; pair += step) {
    const Axis &h = axes[static_cast<std::size_t>(pair) / axes.size()],
               &w = axes[static_cast<std::size_t>(pair) % axes.size()];
    Draw draw(static_cast<std::uint64_t>(pair));
    compare(conv_case(draw, h, w, 3));
    compare(transposed_case(draw, h, w, 3));
    if (!pools(h) || !pools(w)) continue;
    compare(max_pool_case(draw, h, w));
    compare(avg_pool_case(draw, h, w));
  }
}
