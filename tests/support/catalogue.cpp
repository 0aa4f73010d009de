// The rows of the catalogue.
#include "catalogue.h"

#include <algorithm>
#include <initializer_list>

#include <xgrad/core/array/random.h>
#include <xgrad/core/graph/grad.h>
#include <xgrad/ops/derivatives/checkpoint.h>
#include <xgrad/ops/ops.h>

namespace xgrad::testing {
namespace {

void append(std::vector<Call>& calls, const std::vector<Call>& more) {
  calls.insert(calls.end(), more.begin(), more.end());
}

// f(i, j) for each element of a matrix.
template <class F>
Index index_of(std::int64_t rows, std::int64_t columns, const F& f) {
  Index all(Shape{rows, columns});
  for (std::int64_t i = 0; i < all.size(); ++i) all.mutable_data()[i] = f(i / columns, i % columns);
  return all;
}

const RandomKey key{.seed = 3, .draw = 0};

// A call of the inputs x; a fused operation and its composed form.
#define CALL(...) [=](const Tensors& x) { return __VA_ARGS__; }
#define BOTH(...) CALL(__VA_ARGS__), CALL(plain::__VA_ARGS__)
// A function by its name.
#define NAMED(f) {#f, f}

}  // namespace

std::vector<Array> Call::numbers() const {
  std::vector<Array> all;
  for (const Input& input : inputs) {
    Array numbers = random_uniform(input.shape, {.seed = 7 + all.size(), .draw = 0});
    Real* const at = numbers.mutable_data();
    for (std::int64_t i = 0; i < numbers.size(); ++i) {
      at[i] = static_cast<Real>(input.low + (input.high - input.low) * static_cast<double>(at[i]));
    }
    all.push_back(numbers);
  }
  return all;
}

Tensors Call::leaves() const {
  Tensors all;
  for (const Array& each : numbers()) all.push_back(variable(each));
  return all;
}

std::vector<Call> elementwise_calls(const Shape& a, const Shape& b, const Shape& y) {
  std::vector<Call> all;
  const Input x{a}, positive{a, 0.2, 2}, inside{a, -0.8, 0.8}, above_1{a, 1.2, 3};
  struct Function {
    const char* name;
    Tensor (*f)(const Tensor&);
  };
  const auto add_functions = [&](const Input& input, std::initializer_list<Function> functions) {
    for (const auto& [name, f] : functions) all.push_back({name, {input}, a, [f = f](const Tensors& x) { return f(x[0]); }});
  };
  add_functions(x, {NAMED(exp),      NAMED(expm1), NAMED(exp2),  NAMED(square),   NAMED(abs),        NAMED(sign),
                    NAMED(neg),      NAMED(sin),   NAMED(cos),   NAMED(tan),      NAMED(atan),       NAMED(sinh),
                    NAMED(cosh),     NAMED(tanh),  NAMED(asinh), NAMED(erf),      NAMED(floor),      NAMED(ceil),
                    NAMED(round),    NAMED(trunc), NAMED(frac),  NAMED(sigmoid),  NAMED(relu),       NAMED(selu),
                    NAMED(softplus), NAMED(silu),  NAMED(mish),  NAMED(softsign), NAMED(logsigmoid), NAMED(tanhshrink),
                    NAMED(alias)});
  add_functions({a, -5, 7}, {NAMED(relu6), NAMED(hardsigmoid), NAMED(hardswish)});
  add_functions(positive,
                {NAMED(log), NAMED(log1p), NAMED(log2), NAMED(log10), NAMED(sqrt), NAMED(rsqrt), NAMED(reciprocal)});
  add_functions(inside, {NAMED(asin), NAMED(acos), NAMED(atanh)});
  add_functions(above_1, {NAMED(acosh)});
  append(all,
         {{"gelu", {x}, a, CALL(gelu(x[0]))},
          {"gelu_tanh", {x}, a, CALL(gelu(x[0], Gelu::tanh))},
          {"elu", {x}, a, CALL(elu(x[0], 0.7)), {}, {{"alpha", 0.7}}},
          {"celu", {x}, a, CALL(celu(x[0], 0.7)), {}, {{"alpha", 0.7}}},
          {"leaky_relu", {x}, a, CALL(leaky_relu(x[0], {.negative_slope = 0.2})), {}, {{"slope", 0.2}}},
          {"hardshrink", {x}, a, CALL(hardshrink(x[0])), {}, {{"lambda", 0.5}}},
          {"softshrink", {x}, a, CALL(softshrink(x[0])), {}, {{"lambda", 0.5}}},
          {"hardtanh", {x}, a, CALL(hardtanh(x[0])), {}, {{"min_val", -1}, {"max_val", 1}}},
          {"clamp", {x}, a, CALL(clamp(x[0], {.min = -0.5, .max = 0.6})), {}, {{"low", -0.5}, {"high", 0.6}}},
          {"clamp, from below", {x}, a, CALL(clamp(x[0], {.min = 0.5}))},
          {"pow, cubed", {x}, a, CALL(pow(x[0], 3))},
          {"nan_to_num", {x}, a, CALL(nan_to_num(x[0]))},
          {"dropout", {x}, a, CALL(dropout(x[0], 0.5, key))},
          {"dropout, all", {x}, a, CALL(dropout(x[0], 1, key))},
          {"masked_fill", {x}, a, CALL(masked_fill(x[0], x[0] > 0.5, 3))},
          {"checkpoint", {x}, a, CALL(checkpoint([](const Tensor& v) { return tanh(v) * sigmoid(v); }, x[0]))},
          {"smooth_l1",
           {x},
           a,
           CALL(smooth_l1_loss(x[0], zeros_like(x[0]), {.beta = 0.4, .reduction = Reduction::none})),
           {},
           {{"beta", 0.4}}},
          {"huber",
           {x},
           a,
           CALL(huber_loss(x[0], zeros_like(x[0]), {.delta = 0.6, .reduction = Reduction::none})),
           {},
           {{"delta", 0.6}}}});
  const Input other{b}, other_positive{b, 0.2, 2}, share{a, 0.2, 0.8};
  append(all, {{"add", {x, other}, y, CALL(x[0] + x[1])},
               {"sub", {x, other}, y, CALL(x[0] - x[1])},
               {"mul", {x, other}, y, CALL(x[0] * x[1])},
               {"div", {x, other_positive}, y, CALL(x[0] / x[1])},
               {"maximum", {x, other}, y, CALL(maximum(x[0], x[1]))},
               {"minimum", {x, other}, y, CALL(minimum(x[0], x[1]))},
               {"pow", {positive, other}, y, CALL(pow(x[0], x[1]))},
               {"logaddexp", {x, other}, y, CALL(logaddexp(x[0], x[1]))},
               {"remainder", {x, other_positive}, y, CALL(remainder(x[0], x[1]))},
               {"fmod", {x, other_positive}, y, CALL(fmod(x[0], x[1]))},
               {"atan2", {x, other_positive}, y, CALL(atan2(x[0], x[1]))},
               {"lerp", {x, other, share}, y, CALL(lerp(x[0], x[1], x[2]))},
               {"clamp, between", {x, other_positive}, y, CALL(clamp(x[0], -x[1], x[1]))},
               {"where", {x, other}, y, CALL(where(x[0] > 0.5, x[0] * x[1], x[1]))}});
  return all;
}

std::vector<Call> reduction_calls(std::int64_t rows, std::int64_t columns) {
  const Shape shape{rows, columns};
  const std::vector<Input> x{{shape}};
  const bool none = shape.numel() == 0, single = shape.numel() < 2;
  return {
      {"sum", x, {}, CALL(sum(x[0]))},
      {"sum, rows", x, {rows}, CALL(sum(x[0], -1))},
      {"sum, columns", x, {columns}, CALL(sum(x[0], 0))},
      {"mean", x, {}, CALL(mean(x[0])), {}, {}, none},
      {"mean, rows", x, {rows}, CALL(mean(x[0], -1)), {}, {}, columns == 0},
      {"max", x, {}, CALL(max(x[0])), {}, {}, none},
      {"max, rows", x, {rows}, CALL(max(x[0], Axes{-1})), {}, {}, columns == 0},
      {"max, and index of rows", x, {rows}, CALL(max(x[0], -1).values), {}, {}, columns == 0},
      {"max, and index of columns", x, {columns}, CALL(max(x[0], 0).values), {}, {}, rows == 0},
      {"min", x, {}, CALL(min(x[0])), {}, {}, none},
      {"var", x, {}, CALL(var(x[0])), {}, {}, single},
      {"var, rows", x, {rows}, CALL(var(x[0], -1)), {}, {}, columns < 2},
      {"var, columns", x, {columns}, CALL(var(x[0], 0)), {}, {}, rows < 2},
      {"stddev", x, {}, CALL(stddev(x[0])), {}, {}, single},
      {"stddev, rows", x, {rows}, CALL(stddev(x[0], -1)), {}, {}, columns < 2},
      {"prod", {{shape, 0.5, 1.5}}, {}, CALL(prod(x[0]))},
      {"prod, rows", {{shape, 0.5, 1.5}}, {rows}, CALL(prod(x[0], -1))},
      {"logsumexp, rows", x, {rows}, CALL(logsumexp(x[0], -1))},
      {"logsumexp, columns", x, {columns}, CALL(logsumexp(x[0], 0))},
      {"median", x, {}, CALL(median(x[0])), {}, {}, none},
      {"median, rows", x, {rows}, CALL(median(x[0], -1).values), {}, {}, columns == 0},
      {"kthvalue, rows", x, {rows}, CALL(kthvalue(x[0], 1).values), {}, {}, columns == 0},
      {"quantile, rows", x, {rows}, CALL(quantile(x[0], 0.9, -1)), {}, {}, columns == 0},
      {"vector_norm", x, {}, CALL(linalg::norm(x[0]))},
      {"vector_norm, cubes", x, {}, CALL(linalg::vector_norm(x[0], 3))},
      {"cumsum, rows", x, shape, CALL(cumsum(x[0], -1))},
      {"cumsum, columns", x, shape, CALL(cumsum(x[0], 0))},
      {"cumprod, rows", x, shape, CALL(cumprod(x[0], -1))},
      {"cumprod, columns", x, shape, CALL(cumprod(x[0], 0))},
      {"sum_to", x, {columns}, CALL(sum_to(x[0], {columns}))},
  };
}

std::vector<Call> row_calls(std::int64_t rows, std::int64_t columns) {
  const Shape shape{rows, columns};
  const Input input{shape}, row{{columns}};
  const std::vector<Input> x{input};
  const Index lengths = arange(rows) % (columns + 1);
  const Mask late = index_of(rows, columns, [](auto i, auto j) { return j - i % 3; }) > 1;
  const bool none = columns == 0;  // nothing to normalise
  return {
      {"softmax", x, shape, BOTH(softmax(x[0]))},
      {"softmax, columns", x, shape, BOTH(softmax(x[0], 0))},
      {"log_softmax", x, shape, BOTH(log_softmax(x[0]))},
      {"log_softmax, columns", x, shape, BOTH(log_softmax(x[0], 0))},
      {"masked_softmax", x, shape, BOTH(masked_softmax(x[0], late))},
      {"masked_softmax, lengths", x, shape, BOTH(masked_softmax(x[0], lengths))},
      {"layer_norm, bare", x, shape, BOTH(layer_norm(x[0])), {}, none},
      {"layer_norm, scaled", {input, row}, shape, BOTH(layer_norm(x[0], x[1])), {}, none},
      {"layer_norm, moved", {input, row}, shape, BOTH(layer_norm(x[0], {}, x[1])), {}, none},
      {"layer_norm", {input, row, row}, shape, BOTH(layer_norm(x[0], x[1], x[2])), {}, none},
      {"rms_norm", {input, row}, shape, BOTH(rms_norm(x[0], x[1])), {}, none},
      {"batch_norm", {input, row, row}, shape, BOTH(batch_norm(x[0], x[1], x[2]).y), {}, shape.numel() == 0},
      {"glu", {{{rows, 2 * columns}}}, shape, CALL(glu(x[0]))},
      {"prelu", {input, row}, shape, CALL(prelu(x[0], x[1]))},
  };
}

std::vector<Call> loss_calls(const Shape& shape) {
  const std::int64_t columns = shape.empty() ? 1 : shape.back();
  Shape samples = shape;
  if (!shape.empty()) samples.erase(samples.rank() - 1);
  const Input x{shape}, positive{shape, 0.2, 2}, share{shape, 0.2, 0.8};
  const Index classes = (arange(samples.numel()) % std::max<std::int64_t>(columns, 1)).reshaped(samples);
  std::vector<Call> all;
  for (const Reduction r : {Reduction::mean, Reduction::sum, Reduction::none}) {
    const char* const suffix = r == Reduction::mean ? "" : r == Reduction::sum ? ", sum" : ", none";
    const auto add = [&](const std::string& name, const std::vector<Input>& inputs, const Shape& losses,
                         const std::function<Tensor(const Tensors&)>& run,
                         const std::function<Tensor(const Tensors&)>& plain = {}) {
      const bool refused = r == Reduction::mean && losses.numel() == 0;
      all.push_back({name + suffix, inputs, r == Reduction::none ? losses : Shape{}, run, plain, {}, refused});
    };
    add("mse_loss", {x, x}, shape, CALL(mse_loss(x[0], x[1], {r})));
    add("l1_loss", {x, x}, shape, CALL(l1_loss(x[0], x[1], {r})));
    add("smooth_l1_loss", {x, x}, shape, CALL(smooth_l1_loss(x[0], x[1], {.reduction = r})));
    add("huber_loss", {x, x}, shape, CALL(huber_loss(x[0], x[1], {.reduction = r})));
    add("kl_div", {x, share}, shape, CALL(kl_div(x[0], x[1], {r})));
    add("kl_div, of logarithms", {x, x}, shape, CALL(kl_div(x[0], x[1], {r, true})));
    add("binary_cross_entropy", {share, share}, shape, CALL(binary_cross_entropy(x[0], x[1], {.reduction = r})));
    add("binary_cross_entropy_with_logits", {x, share}, shape,
        CALL(binary_cross_entropy_with_logits(x[0], x[1], {.reduction = r})));
    add("weighted_binary_cross_entropy_with_logits", {x, share, positive}, shape,
        CALL(binary_cross_entropy_with_logits(x[0], x[1], {.pos_weight = x[2], .reduction = r})));
    add("gaussian_nll_loss", {x, x, positive}, shape, CALL(gaussian_nll_loss(x[0], x[1], x[2], {.reduction = r})));
    if (shape.empty()) continue;  // a single number is no sample
    add("triplet_margin_loss", {x, x, x}, samples, CALL(triplet_margin_loss(x[0], x[1], x[2], {.reduction = r})));
    for (const double s : {0., 0.1}) {
      const char* const name = s > 0 ? "cross_entropy, of probabilities, smoothed" : "cross_entropy, of probabilities";
      add(name, {x, share}, samples, CALL(cross_entropy(x[0], x[1], {.label_smoothing = s, .reduction = r})));
    }
    const Input of_classes{{columns}, 0.5, 2};
    add("binary_cross_entropy, weighted", {share, share, of_classes}, shape,
        CALL(binary_cross_entropy(x[0], x[1], {.weight = x[2], .reduction = r})));
    add("binary_cross_entropy_with_logits, weighted", {x, share, of_classes}, shape,
        CALL(binary_cross_entropy_with_logits(x[0], x[1], {.weight = x[2], .reduction = r})));
    add("cross_entropy, of probabilities, weighted", {x, share, of_classes}, samples,
        CALL(cross_entropy(x[0], x[1], {.weight = x[2], .label_smoothing = 0.3, .reduction = r})));
    if (columns == 0 && samples.numel() > 0) continue;  // no class to name
    add("cross_entropy", {x}, samples, BOTH(cross_entropy(x[0], classes, {.reduction = r})));
    add("cross_entropy, with settings", {x, of_classes}, samples,
        BOTH(cross_entropy(x[0], classes,
                           {.weight = x[1], .ignore_index = 1, .label_smoothing = 0.2, .reduction = r})));
    add("nll_loss", {x}, samples, CALL(nll_loss(x[0], classes, {.reduction = r})));
    add("nll_loss, weighted", {x, of_classes}, samples, CALL(nll_loss(x[0], classes, {.weight = x[1], .reduction = r})));
  }
  return all;
}

std::vector<Call> shape_calls(std::int64_t rows, std::int64_t columns) {
  const Shape shape{rows, columns}, turned{columns, rows};
  const Input input{shape}, row{{columns}};
  const std::vector<Input> x{input}, two{input, input};
  return {
      {"reshape", x, turned, CALL(reshape(x[0], turned))},
      {"flatten", x, {rows * columns}, CALL(flatten(x[0]))},
      {"unflatten", x, {rows, columns, 1}, CALL(unflatten(x[0], 1, {columns, 1}))},
      {"unsqueeze", x, {1, rows, columns}, CALL(unsqueeze(x[0], 0))},
      {"squeeze", {{{1, rows, columns}}}, shape, CALL(squeeze(x[0], Axes{0}))},
      {"permute", {{{2, rows, columns}}}, {columns, 2, rows}, CALL(permute(x[0], {2, 0, 1}))},
      {"movedim", x, turned, CALL(movedim(x[0], 0, -1))},
      {"transpose", x, turned, CALL(transpose(x[0]))},
      {"flip", x, shape, CALL(flip(x[0], {0, 1}))},
      {"roll", x, shape, CALL(roll(x[0], {1, 2}, {0, 1}))},
      {"repeat_interleave", x, {rows, 2 * columns}, CALL(repeat_interleave(x[0], 2, 1))},
      {"repeat_interleave, none", x, {0, columns}, CALL(repeat_interleave(x[0], 0, 0))},
      {"tile", x, {2 * rows, 3 * columns}, CALL(tile(x[0], {2, 3}))},
      {"tril", x, shape, CALL(tril(x[0]))},
      {"triu", x, shape, CALL(triu(x[0], -1))},
      {"broadcast_to", {row}, shape, CALL(broadcast_to(x[0], shape))},
      {"slice", x, {rows, columns}, CALL(x[0][{_, slice(none, none, -1)}])},
      {"slice, nothing", x, {0, columns}, CALL(x[0][{slice(0, 0)}])},
      {"place", x, {rows + 2, columns}, CALL(place(x[0], {slice(1, rows + 1)}, {rows + 2, columns}))},
      {"narrow", x, {rows, columns / 2}, CALL(narrow(x[0], 1, 0, columns / 2))},
      {"split", x, shape, CALL(split(x[0], {0, columns}, 1)[1])},
      {"chunk", x, {rows, (columns + 1) / 2}, CALL(chunk(x[0], 2, 1)[0])},
      {"pad", x, {rows + 1, columns + 2}, CALL(pad(x[0], {{1, 0}, {0, 2}}))},
      {"concat", two, {2 * rows, columns}, CALL(concat({x[0], x[1]}))},
      {"concat, columns", two, {rows, 2 * columns}, CALL(concat({x[0], x[1]}, 1))},
      {"stack", two, {rows, columns, 2}, CALL(stack({x[0], x[1]}, -1))},
      {"meshgrid", {{{rows}}, {{columns}}}, shape, CALL(meshgrid({x[0], x[1]})[0] * x[1])},
  };
}

std::vector<Call> index_calls(std::int64_t rows, std::int64_t columns) {
  const Shape shape{rows, columns};
  const Input input{shape};
  const std::vector<Input> x{input}, two{input, input};
  const Index back = arange(rows) / 2;  // some twice
  const Index places = index_of(rows, columns, [&](auto i, auto j) { return (i + j * j) % columns; });
  const Mask mask = places % 2 == 0;
  const std::int64_t less = std::min(rows, columns);
  const Index i = arange(less) / 2, j = i;  // places twice
  return {
      {"embedding", x, shape, CALL(embedding(x[0], back))},
      {"index_select", x, shape, CALL(index_select(x[0], 0, back))},
      {"index_select, columns", x, {rows, 2 * columns},
       CALL(index_select(x[0], 1, arange(2 * columns) % std::max<std::int64_t>(columns, 1)))},
      {"index_add", two, shape, CALL(index_add(x[0], 0, back, x[1]))},
      {"gather", x, shape, CALL(gather(x[0], 1, places))},
      {"take_along_dim", x, shape, CALL(take_along_dim(x[0], places, 1))},
      {"scatter", two, shape, CALL(scatter(x[0], 1, places, x[1]))},
      {"scatter_add", two, shape, CALL(scatter_add(x[0], 1, places, x[1]))},
      {"masked_select, all", x, {rows * columns}, CALL(masked_select(x[0], Mask(Shape{}, true)))},
      {"masked_select, none", x, {0}, CALL(masked_select(x[0], Mask(shape, false)))},
      {"several indices", x, {less}, CALL(x[0][{i, j}])},
      {"index_put, of several indices", {input, {{less}}}, shape, CALL(index_put(x[0], {i, j}, x[1]))},
      {"index_put, accumulated", {input, {{less}}}, shape, CALL(index_put(x[0], {i, j}, x[1], {.accumulate = true}))},
      {"index_put", {input, {{columns}}}, shape, CALL(index_put(x[0], {slice(0, 2)}, x[1]))},
      {"repeat_interleave, of counts", x, {rows, columns / 2}, CALL(repeat_interleave(x[0], arange(columns) % 2, 1))},
      {"where, of a mask", two, shape, CALL(where(mask, x[0], x[1]))},
      {"sort", x, shape, CALL(sort(x[0]).values)},
      {"topk", x, shape, CALL(topk(x[0], rows, 0).values)},
      {"unbind", {{{2, rows, columns}}}, shape, CALL(unbind(x[0])[1])},
  };
}

std::vector<Call> matrix_calls(std::int64_t rows, std::int64_t columns) {
  std::vector<Call> all = elementwise_calls({rows, columns});
  append(all, loss_calls({rows, columns}));
  for (const auto& calls : {reduction_calls, row_calls, shape_calls, index_calls}) append(all, calls(rows, columns));
  return all;
}

std::vector<Call> other_calls() {
  const Input matrix{{2, 3}}, square{{3, 3}}, row{{3}}, q{{2, 3, 4}}, wide{{2, 3, 12}}, state{{2, 2}};
  const Input image{{1, 2, 4, 4}}, line{{1, 2, 4}};
  const Index lengths({2}, {3, 2});
  const Mask late({3, 3}, {0, 1, 1, 0, 0, 1, 1, 0, 0});
  const auto spd = [one = eye(3)](const Tensor& a) { return matmul(a, transpose(a)) + one; };
  const AttentionOptions causal{.mask = {.causal = true}}, of_lengths{.mask = {.lengths = lengths}};
  return {
      {"matmul", {matrix, square}, {2, 3}, CALL(matmul(x[0], x[1]))},
      {"linear", {matrix, square, row}, {2, 3}, CALL(linear(x[0], x[1], x[2]))},
      {"dot", {row, row}, {}, CALL(dot(x[0], x[1]))},
      {"outer", {row, row}, {3, 3}, CALL(outer(x[0], x[1]))},
      {"einsum", {matrix, matrix}, {2, 2}, CALL(einsum("ij,kj->ik", {x[0], x[1]}))},
      {"tensordot", {q, q}, {2, 3, 2, 3}, CALL(tensordot(x[0], x[1], Axes{2}, Axes{2}))},
      {"normalize", {matrix}, {2, 3}, CALL(normalize(x[0]))},
      {"cosine_similarity", {matrix, matrix}, {2}, CALL(cosine_similarity(x[0], x[1]))},
      {"pairwise_distance", {matrix, matrix}, {2}, CALL(pairwise_distance(x[0], x[1]))},
      {"attention", {q, q, q}, {2, 3, 4}, BOTH(scaled_dot_product_attention(x[0], x[1], x[2]))},
      {"attention, causal", {q, q, q}, {2, 3, 4}, BOTH(multi_head_attention(x[0], x[1], x[2], 2, causal))},
      {"attention, packed", {wide}, {2, 3, 4}, BOTH(multi_head_attention(x[0], 2, of_lengths))},
      {"attention, masked", {q, q, q}, {2, 3, 4},
       BOTH(multi_head_attention(x[0], x[1], x[2], 2, {.mask = {.masked = late}}))},
      {"attention_weights", {q, q}, {2, 2, 3, 3}, CALL(attention_weights(x[0], x[1], 2))},
      {"weighted_sum", {{{2, 3, 3}}, q}, {2, 3, 4}, CALL(weighted_sum(softmax(x[0]), x[1]))},
      {"linear_attention", {q, q, q}, {2, 3, 4}, BOTH(linear_attention(x[0], x[1], x[2], 2))},
      {"linear_attention, causal", {q, q, q}, {2, 3, 4},
       BOTH(linear_attention(x[0], x[1], x[2], 2, {.causal = true}))},
      {"rotary", {{{2, 4}}}, {2, 4}, CALL(rotary(x[0]))},
      {"rnn", {{{2, 3, 2}}, state, state}, {2, 3, 2}, BOTH(rnn(x[0], x[1], x[2], Squash::tanh).output)},
      {"lstm", {{{2, 3, 8}}, {{8, 2}}, state, state}, {2, 3, 2},
       BOTH(lstm(x[0], x[1], x[2], x[3], {.lengths = lengths}).output)},
      {"gru", {{{2, 3, 6}}, {{6, 2}}, {{6}}, state}, {2, 2},
       BOTH(gru(x[0], x[1], x[2], x[3], {.reverse = true}).h)},
      {"batch_norm, of sequences", {q, row, row}, {2, 3, 4}, BOTH(batch_norm(x[0], x[1], x[2]).y)},
      {"conv1d", {line, {{3, 2, 2}}}, {1, 3, 3}, CALL(conv1d(x[0], x[1]))},
      {"conv2d", {image, {{3, 2, 2, 2}}, row}, {1, 3, 3, 3}, CALL(conv2d(x[0], x[1], x[2]))},
      {"conv_transpose2d", {image, {{2, 3, 2, 2}}}, {1, 3, 5, 5}, CALL(conv_transpose2d(x[0], x[1]))},
      {"unfold", {image}, {1, 8, 9}, CALL(unfold(x[0], 2))},
      {"fold", {{{1, 8, 9}}}, {1, 2, 4, 4}, CALL(fold(x[0], 4, 2))},
      {"max_pool1d", {line}, {1, 2, 2}, CALL(max_pool1d(x[0], 2))},
      {"max_pool2d", {image}, {1, 2, 2, 2}, CALL(max_pool2d(x[0], 2))},
      {"avg_pool1d", {line}, {1, 2, 2}, CALL(avg_pool1d(x[0], 2))},
      {"avg_pool2d", {image}, {1, 2, 2, 2}, CALL(avg_pool2d(x[0], 2))},
      {"adaptive_avg_pool1d", {line}, {1, 2, 2}, CALL(adaptive_avg_pool1d(x[0], 2))},
      {"adaptive_avg_pool2d", {image}, {1, 2, 2, 2}, CALL(adaptive_avg_pool2d(x[0], 2))},
      {"interpolate", {image}, {1, 2, 3, 3}, CALL(interpolate(x[0], {.size = 3}))},
      {"interpolate, bilinear", {image}, {1, 2, 3, 2},
       CALL(interpolate(x[0], {.size = Size2d{3, 2}, .mode = Interpolation::bilinear}))},
      {"pad, reflected", {image}, {1, 2, 5, 6},
       CALL(pad(x[0], {{0, 0}, {0, 0}, {1, 0}, {1, 1}}, PadMode::reflect))},
      {"dropout2d", {image}, {1, 2, 4, 4}, CALL(dropout2d(x[0], 0.5, key))},
      {"solve", {square, row}, {3}, CALL(linalg::solve(spd(x[0]), x[1]))},
      {"solve_triangular", {square, square}, {3, 3}, CALL(linalg::solve_triangular(x[0] + 2 * eye(3), x[1]))},
      {"inv", {square}, {3, 3}, CALL(linalg::inv(spd(x[0])))},
      {"det", {square}, {}, CALL(linalg::det(x[0]))},
      {"slogdet", {square}, {}, CALL(linalg::slogdet(x[0]).logabsdet)},
      {"cholesky", {square}, {3, 3}, CALL(linalg::cholesky(spd(x[0])))},
      {"qr", {square}, {3, 3}, CALL(linalg::qr(x[0]).q)},
      {"qr, r", {square}, {3, 3}, CALL(linalg::qr(x[0]).r)},
      {"eigh", {square}, {3}, CALL(linalg::eigh(spd(x[0])).eigenvalues)},
      {"eigh, vectors", {square}, {3, 3}, CALL(linalg::eigh(spd(x[0])).eigenvectors)},
      {"svd", {matrix}, {2}, CALL(linalg::svd(x[0]).s)},
      {"svd, left", {matrix}, {2, 2}, CALL(linalg::svd(x[0]).u)},
      {"svd, right", {matrix}, {2, 3}, CALL(linalg::svd(x[0]).vh)},
      {"diagonal", {square}, {3}, CALL(linalg::diagonal(x[0]))},
      {"diag_embed", {row}, {3, 3}, CALL(linalg::diag_embed(x[0]))},
      {"trace", {square}, {}, CALL(linalg::trace(x[0]))},
  };
}
#undef CALL
#undef BOTH
#undef NAMED

std::vector<Call> all_calls(std::int64_t rows, std::int64_t columns) {
  std::vector<Call> all = matrix_calls(rows, columns);
  append(all, other_calls());
  return all;
}

}  // namespace xgrad::testing
