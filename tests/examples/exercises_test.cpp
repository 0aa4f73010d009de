// The exercises: their holes say that nothing is written yet, right answers are right, and wrong ones get the reason by
// its words.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <exercises/exercises.h>
#include <xgrad/kit/text/corpus.h>
#include <xgrad/xgrad.h>

namespace xgrad::exercises {
namespace {

constexpr Real never = -std::numeric_limits<Real>::infinity();

Tensor column(const Tensor& x) { return x[{_, new_axis}]; }
Tensor row_mean(const Tensor& x) { return mean(x, -1, {.keepdim = true}); }
Tensor row_sum(const Tensor& x) { return sum(x, -1, {.keepdim = true}); }
Tensor spread(const Tensor& x) { return sqrt(var(x, -1, {.keepdim = true, .correction = 0}) + 1e-5); }
Mask after(std::int64_t S, const Index& lengths) { return arange(S) >= reshape(lengths, {-1, 1, 1}); }
Mask above(std::int64_t T, int offset) { return triu(Mask(Shape{T, T}, true), offset); }
Tensor attend(const Tensor& q, const Tensor& k, const Tensor& v, const Mask& masked, double divisor) {
  return matmul(softmax(masked_fill(matmul(q, k, {.transpose_b = true}) / divisor, masked, never)), v);
}
// A pair of columns for each frequency: f(angle), g(angle).
template <class F, class G>
Tensor pairs(std::int64_t length, std::int64_t dim, double exponent, int first, const F& f, const G& g) {
  std::vector<double> values;
  for (std::int64_t i = first; i < length + first; ++i) {
    for (std::int64_t j = 0; j < dim / 2; ++j) {
      const double angle = i / std::pow(10000, exponent * j / dim);
      values.push_back(f(angle)), values.push_back(g(angle));
    }
  }
  return tensor({length, dim}, values);
}
double sine(double x) { return std::sin(x); }
double cosine(double x) { return std::cos(x); }

Tensor step_of(const Tensor& w, const Tensor& g, Moments& moments, double lr, bool corrected, bool inside) {
  const bool first = !moments.mean.defined();
  moments.steps += 1;
  moments.mean = 0.9 * (first ? zeros_like(g) : moments.mean) + 0.1 * g;
  moments.square = 0.999 * (first ? zeros_like(g) : moments.square) + 0.001 * square(g);
  const double a = corrected ? 1 - std::pow(0.9, moments.steps) : 1,
               b = corrected ? 1 - std::pow(0.999, moments.steps) : 1;
  const Tensor v = moments.square / b;
  return w - lr * (moments.mean / a) / (inside ? sqrt(v + 1e-8) : sqrt(v) + 1e-8);
}

Tensor corrected_mean(const Moments& moments) { return moments.mean / (1 - std::pow(0.9, moments.steps)); }
Tensor corrected_square(const Moments& moments) { return moments.square / (1 - std::pow(0.999, moments.steps)); }
Tensor stepped(const Tensor& w, const Tensor& g, Moments& moments, double lr) {
  return step_of(w, g, moments, lr, true, false);
}

using Edges = std::vector<std::string>;
const Edges edges{"x -> q",           "w -> q",             "x -> k",             "w -> k",          "q -> scores",
                  "k -> scores",      "scores -> shifted",  "largest -> shifted", "shifted -> weights",
                  "weights -> mixed", "x -> mixed",         "mixed -> y",         "x -> y"};
Edges with(const char* edge) {
  Edges more = edges;
  more.push_back(edge);
  return more;
}
Edges without(const char* edge) {
  Edges fewer = edges;
  std::erase(fewer, edge);
  return fewer;
}

Tensor mapped(const Tensor& x, const Tensor& weight) { return matmul(x, weight, {.transpose_b = true}); }

// Minus the sum of r log p along each row; r is `other` everywhere and `hot` more at the target.
Tensor smoothed(const Tensor& log_p, const Index& targets, double hot, double other) {
  return -sum((hot * Tensor(one_hot(targets, log_p.dim(1))) + other) * log_p, 1);
}

Beams best_of(const Tensor& candidates) {  // (k, V)
  const Sorted best = topk(reshape(candidates, {-1}), candidates.dim(0));
  std::vector<std::int64_t> parents, tokens;
  for (const std::int64_t i : best.indices) {
    parents.push_back(i / candidates.dim(1)), tokens.push_back(i % candidates.dim(1));
  }
  return {index(parents), index(tokens), best.values};
}

Tensor behind(const Tensor& past, const Tensor& x) { return past.defined() ? concat({past, x}, 1) : x; }

Tensor by_rule(const Tensor& x, const auto& rule) { return record("softsign", (x / (1 + abs(x))).value(), wrt(x, rule)); }

Tensors scaled(const Tensors& gradients, const auto& factor) {
  double squares = 0;
  for (const Tensor& g : gradients) squares += sum(square(g)).item();
  Tensors result;
  for (const Tensor& g : gradients) result.push_back(g * factor(std::sqrt(squares), std::sqrt(sum(square(g)).item())));
  return result;
}

Tensor patches(const Tensor& images, std::int64_t p, const Tensor& weight, const Axes& axes) {
  const std::int64_t B = images.dim(0), C = images.dim(1), H = images.dim(2), W = images.dim(3);
  const Tensor cut = permute(reshape(images, {B, C, H / p, p, W / p, p}), axes);
  return matmul(reshape(cut, {B, -1, C * p * p}), weight, {.transpose_b = true});
}

struct Regions {
  bool both = true, permuted = true;
};
Mask differing(std::int64_t size, std::int64_t M, std::int64_t first, std::int64_t second, const Regions& how = {}) {
  const auto band = [&](std::int64_t r) { return r < first ? 0 : r < second ? 1 : 2; };
  std::vector<std::int64_t> regions;
  for (std::int64_t r = 0; r < size; ++r) {
    for (std::int64_t c = 0; c < size; ++c) regions.push_back(3 * band(r) + (how.both ? band(c) : 0));
  }
  const Index map = reshape(index({size, size}, regions), {size / M, M, size / M, M});
  const Index windows = reshape(how.permuted ? permute(map, {0, 2, 1, 3}) : map, {-1, M * M});
  return windows[{_, _, new_axis}] != windows[{_, new_axis}];
}

// The loss after 300 steps from normal numbers, or from zeros if one number suffices.
double trained(const Shape& shape, const auto& loss, double lr) {
  const Tensor w = variable(shape.size() > 1 ? random_normal(shape, {.seed = 1}) : Array(shape), "w");
  double last = 0;
  for (int step = 0; step < 300; ++step) {
    const Tensor now = loss(w);
    w.assign((w - lr * grad(now, {w})[0]).value());
    last = now.item();
  }
  return last;
}

Tensor running(const Loss& f, const Tensor& w, const auto& kept) {
  Tensor average = 0;
  for (int step = 0; step < 100; ++step) {
    const Tensor loss = f(w);
    w.assign((w - 0.01 * grad(loss, {w}, {.retain_graph = true})[0]).value());
    average = 0.9 * average + 0.1 * kept(loss);
  }
  return average;
}

Tensor half_block(const Tensor& x, const Tensor& w, int axis) {
  const Tensor h = (x - mean(x, axis, {.keepdim = true})) / sqrt(var(x, axis, {.keepdim = true, .correction = 0}) + 1e-5);
  const Tensor scores = matmul(matmul(h, w), h, {.transpose_b = true}) / std::sqrt(x.dim(2));
  return x + matmul(softmax(masked_fill(scores, above(x.dim(1), 1), never)), h);
}

int overfit(const Batch& batch, double lr, int most, bool once) {
  Tensor loss = batch.loss();
  for (int step = 1; step <= most; ++step) {
    const Tensors gradients = grad(loss, batch.parameters);
    for (std::size_t i = 0; i < gradients.size(); ++i)
      batch.parameters[i].assign((batch.parameters[i] - 10 * lr * gradients[i]).value());
    if (once) return most;
    loss = batch.loss();
    if (loss.item() < 0.009) return step;
  }
  return most;
}

// Trains the parameters whose names begin so.
void tune(const Tuning& tuning, const char* trained, double lr, int steps, const Index& text) {
  Tensors parameters;
  for (const auto& [name, parameter] : tuning.parameters) {
    if (name.starts_with(trained)) parameters.push_back(parameter);
  }
  if (parameters.empty()) return (void)tuning.loss(text);
  optim::Adam adam{parameters, {.lr = lr}};
  for (int step = 0; step < steps; ++step) adam.step(grad(tuning.loss(text), parameters));
}

std::vector<Shape> shapes_of(const Shape& scores) {
  return {{8, 16, 16, 16}, {8, 16, 8, 8}, {8, 64, 16}, {8, 4, 64, 4}, scores, {8, 4, 64, 4}, {8, 10}};
}

/// An answer, and a word that the reply has, or nothing if the answer is right.
struct Answer {
  std::string name;
  std::string reply;
  std::string word;
};
template <class F>
Answer answer(const char* name, void (*check)(F), std::type_identity_t<F> f, const char* word) {
  return {name, why_not([&] { check(f); }), word};
}
// For lambdas with the parameters of the exercise.
#define ANSWER(exercise, word, ...) answer(#exercise, check::exercise, __VA_ARGS__, word)
#define TUNED(word, ...) ANSWER(fine_tune_gpt, word, [](const Tuning& t) { tune(t, __VA_ARGS__); })

using T = const Tensor&;

std::vector<Answer> answers() {
  return {
      ANSWER(predicted_graph, "",
             [] {
               return Prediction{7, 3, 2, 3};
             }),
      ANSWER(predicted_graph, "operations is not 11",
             [] {
               return Prediction{11, 3, 2, 3};
             }),
      ANSWER(predicted_graph, "an arrow for each factor",
             [] {
               return Prediction{7, 2, 2, 3};
             }),
      ANSWER(predicted_graph, "only a variable()",
             [] {
               return Prediction{7, 3, 4, 3};
             }),
      ANSWER(predicted_graph, "one path leads from w to h",
             [] {
               return Prediction{7, 3, 2, 1};
             }),

      ANSWER(line_gradients, "",
             [](T w, T b, T x, T y) -> Tensors {
               return {2 * mean((w * x + b - y) * x), 2 * mean(w * x + b - y)};
             }),
      ANSWER(line_gradients, "6 times the right value (6 is the size of axis 0 of x): perhaps a sum where a mean belongs",
             [](T w, T b, T x, T y) -> Tensors {
               return {2 * sum((w * x + b - y) * x), 2 * sum(w * x + b - y)};
             }),
      ANSWER(line_gradients, "dL/dw has the shape [6]",
             [](T w, T b, T x, T y) -> Tensors {
               return {2 * (w * x + b - y) * x, 2 * (w * x + b - y)};
             }),
      ANSWER(line_gradients, "half of the gradient: the derivative of a square e^2 is 2 e",
             [](T w, T b, T x, T y) -> Tensors {
               return {2 * mean((w * x + b - y) * x), mean(w * x + b - y)};
             }),
      ANSWER(line_gradients, "the right value divided by 6 (6 is the size of axis 0 of x): perhaps a mean where a sum belongs",
             [](T w, T b, T x, T y) -> Tensors {
               return {mean(2 * mean((w * x + b - y) * x) / x.size()), 2 * mean(w * x + b - y)};
             }),
      ANSWER(line_gradients, "your lines use grad",
             [](T w, T b, T x, T y) {
               return grad(mean(square(w * x + b - y)), {w, b});
             }),

      // What the checker finds in every exercise: a factor of 0, a sign, an argument.
      ANSWER(line_gradients, "such as 1 / 2, which is 0 in C++",
             [](T w, T b, T x, T y) -> Tensors {
               return {2 / x.size() * sum((w * x + b - y) * x), 2 * mean(w * x + b - y)};
             }),
      ANSWER(line_gradients, "the wrong sign",
             [](T w, T b, T x, T y) -> Tensors {
               return {2 * mean((y - w * x - b) * x), 2 * mean(w * x + b - y)};
             }),
      ANSWER(line_gradients, "zeros in place of b, which takes no part",
             [](T w, T, T x, T y) -> Tensors {
               return {2 * mean((w * x - y) * x), 2 * mean(w * x - y)};
             }),

      ANSWER(linear_layer, "", [](T x, T weight, T bias) { return matmul(x, transpose(weight)) + bias; }),
      ANSWER(linear_layer, "X W + b", [](T x, T weight, T bias) { return matmul(x, weight) + bias; }),
      ANSWER(linear_layer, "x comes first", [](T x, T weight, T bias) { return matmul(weight, transpose(x)) + bias; }),
      ANSWER(linear_layer, "the right result minus bias: it is not added", [](T x, T weight, T) { return matmul(x, transpose(weight)); }),
      ANSWER(linear_layer, "your lines use linear", [](T x, T weight, T bias) { return linear(x, weight, bias); }),

      ANSWER(linear_layer, "detach(), .value() or NoGrad cuts the way back",
             [](T x, T weight, T bias) { return matmul(x, transpose(weight.detach())) + bias; }),
      ANSWER(linear_layer, "added once too often",
             [](T x, T weight, T bias) { return matmul(x, transpose(weight)) + bias + bias; }),
      ANSWER(linear_layer, "the right result inside tanh",
             [](T x, T weight, T bias) { return tanh(matmul(x, transpose(weight)) + bias); }),
      ANSWER(linear_layer, "x + bias in place of x",
             [](T x, T weight, T bias) { return matmul(x + bias, transpose(weight)) + bias; }),
      ANSWER(linear_layer, "it is right if bias is 0",
             [](T x, T weight, T bias) { return matmul(x, transpose(weight) + bias); }),

      ANSWER(adam_step, "", stepped),
      ANSWER(adam_step, "1 - 0.9^t",
             [](T w, T g, Moments& m, double lr) { return step_of(w, g, m, lr, false, false); }),
      ANSWER(adam_step, "after the square root",
             [](T w, T g, Moments& m, double lr) { return step_of(w, g, m, lr, true, true); }),
      ANSWER(adam_step, "a running mean is still undefined",
             [](T w, T g, Moments& m, double lr) {
               Moments forgotten;
               m.steps += 1;
               return stepped(w, g, forgotten, lr);
             }),
      ANSWER(adam_step, "moments.mean was not changed",
             [](T w, T g, Moments& m, double lr) {
               m = {zeros_like(g), zeros_like(g), m.steps};
               Moments copy = m;
               m.steps += 1;
               return stepped(w, g, copy, lr);
             }),
      ANSWER(adam_step, "stored without the division",
             [](T w, T g, Moments& m, double lr) {
               const Tensor result = stepped(w, g, m, lr);
               m.mean = corrected_mean(m);
               return result;
             }),
      ANSWER(adam_step, "an undefined tensor was used",
             [](T w, T g, Moments& m, double lr) {
               m.mean = 0.9 * m.mean + 0.1 * g;
               return w - lr * m.mean;
             }),
      ANSWER(adam_step, "v is not divided by",
             [](T w, T g, Moments& m, double lr) {
               stepped(w, g, m, lr);
               return w - lr * corrected_mean(m) / (sqrt(m.square) + 1e-8);
             }),
      ANSWER(adam_step, "m is not divided by",
             [](T w, T g, Moments& m, double lr) {
               stepped(w, g, m, lr);
               return w - lr * m.mean / (sqrt(corrected_square(m)) + 1e-8);
             }),
      ANSWER(adam_step, "1e-8 is missing",
             [](T w, T g, Moments& m, double lr) {
               stepped(w, g, m, lr);
               return w - lr * corrected_mean(m) / sqrt(corrected_square(m));
             }),
      ANSWER(adam_step, "the step divides g",
             [](T w, T g, Moments& m, double lr) {
               stepped(w, g, m, lr);
               return w - lr * g / (sqrt(corrected_square(m)) + 1e-8);
             }),
      ANSWER(adam_step, "0.9 and 0.999 have changed places",
             [](T w, T g, Moments& m, double lr) {
               const Tensor result = stepped(w, g, m, lr);
               m.mean = 0.001 * g;
               return result;
             }),
      ANSWER(adam_step, "0.9 and 0.1 have changed places",
             [](T w, T g, Moments& m, double lr) {
               const Tensor result = stepped(w, g, m, lr);
               m.mean = 0.9 * g;
               return result;
             }),
      ANSWER(adam_step, "count the step first",
             [](T w, T g, Moments& m, double lr) {
               m.steps -= 1;
               const Tensor result = stepped(w, g, m, lr);
               m.steps += 1;
               return result;
             }),
      ANSWER(adam_step, "has no root",
             [](T w, T g, Moments& m, double lr) {
               stepped(w, g, m, lr);
               return w - lr * corrected_mean(m) / (corrected_square(m) + 1e-8);
             }),

      ANSWER(adam_step, "m starts from zeros",
             [](T w, T g, Moments& m, double lr) {
               if (!m.mean.defined()) m = {g, zeros_like(g), 0};
               return stepped(w, g, m, lr);
             }),
      ANSWER(adam_step, "0.9^t is a power",
             [](T w, T g, Moments& m, double lr) {
               stepped(w, g, m, lr);
               return w - lr * (m.mean / 0.1) / (sqrt(m.square / 0.001) + 1e-8);
             }),
      ANSWER(adam_step, "your lines are 0.9 v + 0.001 g^2 where 0.999 v + 0.001 g^2 belongs",
             [](T w, T g, Moments& m, double lr) {
               const Tensor v = m.square, result = stepped(w, g, m, lr);
               if (m.steps > 1) m.square = 0.9 * v + 0.001 * square(g);
               return result;
             }),
      ANSWER(adam_step, "your lines are 0.999 v + 0.001 g where 0.999 v + 0.001 g^2 belongs",
             [](T w, T g, Moments& m, double lr) {
               const Tensor v = m.square, result = stepped(w, g, m, lr);
               if (m.steps > 1) m.square = 0.999 * v + 0.001 * g;
               return result;
             }),
      ANSWER(adam_step, "stored without the division by 1 - 0.999^t",
             [](T w, T g, Moments& m, double lr) {
               const Tensor result = stepped(w, g, m, lr);
               m.square = corrected_square(m);
               return result;
             }),
      ANSWER(adam_step, "the wrong sign",
             [](T w, T g, Moments& m, double lr) { return 2 * w - stepped(w, g, m, lr); }),
      ANSWER(adam_step, "the result does not depend on lr", [](T w, T g, Moments& m, double) { return stepped(w, g, m, 1); }),

      ANSWER(stable_softmax, "",
             [](T s) {
               const Tensor e = exp(s - max(s, Axes{-1}, {.keepdim = true}));
               return e / row_sum(e);
             }),
      ANSWER(stable_softmax, "e^1000 is infinite", [](T s) { return exp(s) / row_sum(exp(s)); }),
      ANSWER(stable_softmax, "the greatest of each row",
             [](T s) { return exp(s - max(s)) / row_sum(exp(s - max(s))); }),
      ANSWER(stable_softmax, "all weights together sum to 1",
             [](T s) { return exp(s - max(s)) / sum(exp(s - max(s))); }),
      ANSWER(stable_softmax, "each column sums to 1", [](T s) { return exp(s) / sum(exp(s), 0, {.keepdim = true}); }),
      ANSWER(stable_softmax, "divided by the mean of the row: divide by its sum",
             [](T s) { return exp(s) / row_mean(exp(s)); }),

      ANSWER(stable_softmax, "for the row 0, 0, 1000",
             [](T s) { return exp(s - row_mean(s)) / row_sum(exp(s - row_mean(s))); }),
      ANSWER(stable_softmax, "subtract the greatest",
             [](T s) {
               const Tensor e = exp(s - min(s, Axes{-1}, {.keepdim = true}));
               return e / row_sum(e);
             }),
      ANSWER(stable_softmax, "subtract the greatest",
             [](T s) {
               const Tensor e = exp(s - s[{_, slice(0, 1)}]);
               return e / row_sum(e);
             }),

      ANSWER(diagram, "", [] { return edges; }),
      ANSWER(diagram, "detach() gives the value without its history", [] { return with("scores -> largest"); }),
      ANSWER(diagram, "the residual connection", [] { return without("x -> y"); }),
      ANSWER(diagram, "a circle", [] { return Edges{"x -> q", "q -> x"}; }),
      ANSWER(diagram, "x -> q is listed 2 times", [] { return Edges{"x -> q", "x -> q"}; }),
      ANSWER(diagram, "q -> x is the wrong way round: x -> q", [] { return Edges{"q -> x"}; }),
      ANSWER(diagram, "names 'softmax'", [] { return Edges{"shifted -> softmax"}; }),

      ANSWER(kernel_regression, "",
             [](T x, T keys, T values, T w) { return matmul(softmax(square(w * (column(x) - keys)) / -2), values); }),
      ANSWER(kernel_regression, "the score has a minus",
             [](T x, T keys, T values, T w) { return matmul(softmax(square(w * (column(x) - keys)) / 2), values); }),
      ANSWER(kernel_regression, "w stands outside the square",
             [](T x, T keys, T values, T w) { return matmul(softmax(w * square(column(x) - keys) / -2), values); }),
      ANSWER(kernel_regression, "not divided by 2",
             [](T x, T keys, T values, T w) { return matmul(softmax(-square(w * (column(x) - keys))), values); }),
      ANSWER(kernel_regression, "do not sum to 1",
             [](T x, T keys, T values, T w) { return matmul(exp(square(w * (column(x) - keys)) / -2), values); }),
      ANSWER(kernel_regression, "make the queries a column",
             [](T x, T keys, T values, T w) { return matmul(softmax(square(w * (x - column(keys))) / -2), values); }),
      ANSWER(
          kernel_regression, "softmax goes along the keys",
          [](T x, T keys, T values, T w) { return matmul(softmax(square(w * (column(x) - keys)) / -2, 0), values); }),

      ANSWER(masked_softmax, "",
             [](T s, const Index& lengths) { return softmax(masked_fill(s, after(s.dim(-1), lengths), never)); }),
      ANSWER(masked_softmax, "the masked keys took part in the sum of the softmax",
             [](T s, const Index& lengths) { return masked_fill(softmax(s), after(s.dim(-1), lengths), 0); }),
      ANSWER(masked_softmax, "not divided by the sum of their row",
             [](T s, const Index& lengths) { return exp(masked_fill(s, after(s.dim(-1), lengths), never)); }),
      ANSWER(masked_softmax, "a score of 0 counts as e^0 = 1",
             [](T s, const Index& lengths) { return softmax(masked_fill(s, after(s.dim(-1), lengths), 0)); }),
      ANSWER(masked_softmax, "key 2 of sequence 0",
             [](T s, const Index& lengths) {
               return softmax(masked_fill(s, arange(s.dim(-1)) > reshape(lengths, {-1, 1, 1}), never));
             }),
      ANSWER(masked_softmax, "take minus infinity",
             [](T s, const Index& lengths) { return softmax(masked_fill(s, after(s.dim(-1), lengths), -never)); }),
      ANSWER(masked_softmax, "filled in after the softmax",
             [](T s, const Index& lengths) { return masked_fill(softmax(s), after(s.dim(-1), lengths), never); }),
      ANSWER(masked_softmax, "choose without a product",
             [](T s, const Index& lengths) { return softmax(s + to_real(after(s.dim(-1), lengths)) * never); }),
      ANSWER(masked_softmax, "fills where its mask is true",
             [](T s, const Index& lengths) { return softmax(masked_fill(s, !after(s.dim(-1), lengths), never)); }),
      ANSWER(masked_softmax, "the softmax runs over the queries",
             [](T s, const Index& lengths) { return softmax(masked_fill(s, after(s.dim(-1), lengths), never), 1); }),
      ANSWER(masked_softmax, "low, but not minus infinity",
             [](T s, const Index& lengths) { return softmax(masked_fill(s, after(s.dim(-1), lengths), -50)); }),
      ANSWER(masked_softmax, "your lines use masked_softmax",
             [](T s, const Index& lengths) { return xgrad::masked_softmax(s, lengths); }),

      ANSWER(additive_score, "",
             [](T q, T k, T w_q, T w_k, T w_v) {
               return matmul(tanh(unsqueeze(mapped(q, w_q), 2) + unsqueeze(mapped(k, w_k), 1)), w_v);
             }),
      ANSWER(additive_score, "without the tanh",
             [](T q, T k, T w_q, T w_k, T w_v) {
               return matmul(unsqueeze(mapped(q, w_q), 2) + unsqueeze(mapped(k, w_k), 1), w_v);
             }),
      ANSWER(additive_score, "a row for each query",
             [](T q, T k, T w_q, T w_k, T w_v) {
               return matmul(tanh(unsqueeze(mapped(q, w_q), 1) + unsqueeze(mapped(k, w_k), 2)), w_v);
             }),
      ANSWER(additive_score, "add first",
             [](T q, T k, T w_q, T w_k, T w_v) {
               return matmul(unsqueeze(tanh(mapped(q, w_q)), 2) + unsqueeze(tanh(mapped(k, w_k)), 1), w_v);
             }),
      ANSWER(additive_score, "a new axis for the keys",
             [](T q, T k, T w_q, T w_k, T w_v) { return matmul(tanh(mapped(q, w_q) + mapped(k, w_k)), w_v); }),

      ANSWER(causal_attention, "",
             [](T q, T k, T v) { return attend(q, k, v, above(q.dim(1), 1), std::sqrt(q.dim(2))); }),
      ANSWER(causal_attention, "position 0 leaks",
             [](T q, T k, T v) { return attend(q, k, v, above(q.dim(1), 2), std::sqrt(q.dim(2))); }),
      ANSWER(causal_attention, "a score of 0 counts as e^0",
             [](T q, T k, T v) {
               const Tensor scores = matmul(q, k, {.transpose_b = true}) / std::sqrt(q.dim(2));
               return matmul(softmax(masked_fill(scores, above(q.dim(1), 1), 0)), v);
             }),
      ANSWER(causal_attention, "the softmax runs over the keys",
             [](T q, T k, T v) {
               const Tensor scores = matmul(q, k, {.transpose_b = true}) / std::sqrt(q.dim(2));
               return matmul(softmax(masked_fill(scores, above(q.dim(1), 1), never), 1), v);
             }),
      ANSWER(causal_attention, "divided by sqrt(T)",
             [](T q, T k, T v) { return attend(q, k, v, above(q.dim(1), 1), std::sqrt(q.dim(1))); }),
      ANSWER(causal_attention, "q and k have changed places",
             [](T q, T k, T v) { return attend(k, q, v, above(q.dim(1), 1), std::sqrt(q.dim(2))); }),
      ANSWER(causal_attention, "took part in the sum of the softmax",
             [](T q, T k, T v) {
               const Tensor scores = matmul(q, k, {.transpose_b = true}) / std::sqrt(q.dim(2));
               return matmul(masked_fill(softmax(scores), above(q.dim(1), 1), 0), v);
             }),
      ANSWER(causal_attention, "the past is hidden",
             [](T q, T k, T v) {
               return attend(q, k, v, tril(Mask(Shape{q.dim(1), q.dim(1)}, true), -1), std::sqrt(q.dim(2)));
             }),
      ANSWER(causal_attention, "attends to nothing",
             [](T q, T k, T v) { return attend(q, k, v, above(q.dim(1), 0), std::sqrt(q.dim(2))); }),
      ANSWER(causal_attention, "not divided by sqrt(d)",
             [](T q, T k, T v) { return attend(q, k, v, above(q.dim(1), 1), 1); }),

      ANSWER(split_heads, "",
             [](T x, std::int64_t H) {
               return permute(reshape(x, {x.dim(0), x.dim(1), H, x.dim(2) / H}), {0, 2, 1, 3});
             }),
      ANSWER(split_heads, "mixes positions",
             [](T x, std::int64_t H) {
               return reshape(x, {x.dim(0), H, x.dim(1), x.dim(2) / H});
             }),
      ANSWER(split_heads, "columns that are neighbours",
             [](T x, std::int64_t H) {
               return permute(reshape(x, {x.dim(0), x.dim(1), x.dim(2) / H, H}), {0, 3, 1, 2});
             }),
      ANSWER(split_heads, "the right result in reverse order along axis 0",
             [](T x, std::int64_t H) {
               return flip(permute(reshape(x, {x.dim(0), x.dim(1), H, x.dim(2) / H}), {0, 2, 1, 3}), {0});
             }),
      ANSWER(split_heads, "has the shape [2, 3, 4, 5]",
             [](T x, std::int64_t H) {
               return reshape(x, {x.dim(0), x.dim(1), H, x.dim(2) / H});
             }),

      ANSWER(split_heads, "has the shape [4, 2, 3, 5]",
             [](T x, std::int64_t H) {
               return permute(reshape(x, {x.dim(0), x.dim(1), H, x.dim(2) / H}), {2, 0, 1, 3});
             }),

      ANSWER(sinusoids, "", [](std::int64_t n, std::int64_t C) { return pairs(n, C, 2, 0, sine, cosine); }),
      ANSWER(sinusoids, "j is the number of the pair",
             [](std::int64_t n, std::int64_t C) { return pairs(n, C, 1, 0, sine, cosine); }),
      ANSWER(sinusoids, "different angles at position 1",
             [](std::int64_t n, std::int64_t C) {
               std::vector<double> values;
               for (std::int64_t i = 0; i < n; ++i) {
                 for (std::int64_t c = 0; c < C; ++c) {
                   const double angle = static_cast<double>(i) / std::pow(10000, double(c) / double(C));
                   values.push_back(c % 2 == 0 ? std::sin(angle) : std::cos(angle));
                 }
               }
               return tensor({n, C}, values);
             }),
      ANSWER(sinusoids, "every column is a sine",
             [](std::int64_t n, std::int64_t C) { return pairs(n, C, 2, 0, sine, sine); }),
      ANSWER(sinusoids, "alternate from row to row",
             [](std::int64_t n, std::int64_t C) {
               std::vector<double> values;
               for (int i = 0; i < n; ++i) {
                 for (int c = 0; c < C; ++c) {
                   const double angle = i / std::pow(10000, c / 2 * 2 / double(C));
                   values.push_back(i % 2 == 0 ? std::sin(angle) : std::cos(angle));
                 }
               }
               return tensor({n, C}, values);
             }),
      ANSWER(sinusoids, "turn at one speed",
             [](std::int64_t n, std::int64_t C) { return pairs(n, C, 0, 0, sine, cosine); }),
      ANSWER(sinusoids, "not multiplied",
             [](std::int64_t n, std::int64_t C) { return pairs(n, C, -2, 0, sine, cosine); }),
      ANSWER(sinusoids, "the sine comes first",
             [](std::int64_t n, std::int64_t C) { return pairs(n, C, 2, 0, cosine, sine); }),
      ANSWER(sinusoids, "positions count from 0",
             [](std::int64_t n, std::int64_t C) { return pairs(n, C, 2, 1, sine, cosine); }),
      ANSWER(sinusoids, "they alternate",
             [](std::int64_t n, std::int64_t C) { return Tensor(nn::sinusoids(n, C, nn::Sinusoids::concatenated)); }),

      ANSWER(layer_norm_rule, "",
             [](T gy, T x) {
               const Tensor y = (x - row_mean(x)) / spread(x);
               return (gy - row_mean(gy) - y * row_mean(gy * y)) / spread(x);
             }),
      ANSWER(layer_norm_rule, "x_j also moves mean and sigma", [](T gy, T x) { return gy / spread(x); }),
      ANSWER(layer_norm_rule, "Subtract y mean(gy y)", [](T gy, T x) { return (gy - row_mean(gy)) / spread(x); }),
      ANSWER(layer_norm_rule, ".correction = 0",
             [](T gy, T x) {
               const Tensor sigma = sqrt(var(x, -1, {.keepdim = true}) + 1e-5), y = (x - row_mean(x)) / sigma;
               return (gy - row_mean(gy) - y * row_mean(gy * y)) / sigma;
             }),
      ANSWER(layer_norm_rule, "your lines are gy - mean(gy) + y mean(gy y)",
             [](T gy, T x) {
               const Tensor y = (x - row_mean(x)) / spread(x);
               return (gy - row_mean(gy) + y * row_mean(gy * y)) / spread(x);
             }),
      ANSWER(layer_norm_rule, "sigma is sqrt(variance + 1e-5)",
             [](T gy, T x) {
               const Tensor sigma = sqrt(var(x, -1, {.keepdim = true, .correction = 0})), y = (x - row_mean(x)) / sigma;
               return (gy - row_mean(gy) - y * row_mean(gy * y)) / sigma;
             }),
      ANSWER(layer_norm_rule, "multiplied by y_i",
             [](T gy, T x) {
               const Tensor y = (x - row_mean(x)) / spread(x);
               return (gy - row_mean(gy) - row_mean(gy * y)) / spread(x);
             }),
      ANSWER(layer_norm_rule, "the means go over the whole tensor",
             [](T gy, T x) {
               const Tensor y = (x - row_mean(x)) / spread(x);
               return (gy - mean(gy) - y * mean(gy * y)) / spread(x);
             }),

      ANSWER(encoder_block, "",
             [](T x, const Sublayer& attention, const Sublayer& ffn) {
               const Tensor z = layer_norm(x + attention(x));
               return layer_norm(z + ffn(z));
             }),
      ANSWER(encoder_block, "this is the pre-norm block",
             [](T x, const Sublayer& attention, const Sublayer& ffn) {
               const Tensor z = x + attention(layer_norm(x));
               return z + ffn(layer_norm(z));
             }),
      ANSWER(encoder_block, "there is no residual connection",
             [](T x, const Sublayer& attention, const Sublayer& ffn) {
               return layer_norm(ffn(layer_norm(attention(x))));
             }),
      ANSWER(encoder_block, "it adds z",
             [](T x, const Sublayer& attention, const Sublayer& ffn) {
               return layer_norm(x + ffn(layer_norm(x + attention(x))));
             }),

      ANSWER(shift_right, "",
             [](const Index& target, std::int64_t bos) {
               return concat({Index(Shape{target.dim(0), 1}, bos), target[{_, slice(none, -1)}]}, 1);
             }),
      ANSWER(shift_right, "the last word came round",
             [](const Index& target, std::int64_t) {
               return concat({target[{_, slice(-1, none)}], target[{_, slice(none, -1)}]}, 1);
             }),
      ANSWER(shift_right, "has the shape [2, 5]",
             [](const Index& target, std::int64_t bos) {
               return concat({Index(Shape{target.dim(0), 1}, bos), target}, 1);
             }),
      ANSWER(shift_right, "it leaks",
             [](const Index& target, std::int64_t bos) {
               return concat({target[{_, slice(1, none)}], Index(Shape{target.dim(0), 1}, bos)}, 1);
             }),

      ANSWER(label_smoothing, "",
             [](T logits, const Index& targets, double a) {
               return mean(smoothed(log_softmax(logits), targets, 1 - a, a / logits.dim(1)));
             }),
      ANSWER(label_smoothing, "row 0 of r sums to 1.1",
             [](T logits, const Index& targets, double a) {
               return mean(smoothed(log_softmax(logits), targets, 1, a / logits.dim(1)));
             }),
      ANSWER(label_smoothing, "the 4 other classes alone",
             [](T logits, const Index& targets, double a) {
               const double other = a / (logits.dim(1) - 1);
               return mean(smoothed(log_softmax(logits), targets, 1 - a - other, other));
             }),
      ANSWER(label_smoothing, "the logarithm is missing",
             [](T logits, const Index& targets, double a) {
               return mean(smoothed(softmax(logits), targets, 1 - a, a / logits.dim(1)));
             }),
      ANSWER(label_smoothing, "have changed places",
             [](T logits, const Index& targets, double a) {
               return mean(smoothed(log_softmax(logits), targets, a, (1 - a) / logits.dim(1)));
             }),
      ANSWER(label_smoothing, "3 times the right value (3 is the size of axis 0 of logits)",
             [](T logits, const Index& targets, double a) {
               return sum(smoothed(log_softmax(logits), targets, 1 - a, a / logits.dim(1)));
             }),

      ANSWER(label_smoothing, "0.9 [v = c] + 0.0333 1 where 0.9 [v = c] + 0.02 1 belongs",
             [](T logits, const Index& targets, double a) {
               return mean(smoothed(log_softmax(logits), targets, 1 - a, a / logits.dim(0)));
             }),
      ANSWER(label_smoothing, "the entropy of r is subtracted",
             [](T logits, const Index& targets, double a) {
               const Tensor r = (1 - a) * Tensor(one_hot(targets, 5)) + a / 5;
               return sum(r * (log(r) - log_softmax(logits))) / 3;
             }),

      ANSWER(padded_loss, "",
             [](T losses, const Index& targets, std::int64_t pad) {
               const Tensor m = to_real(targets != pad);
               return sum(m * losses) / sum(m);
             }),
      ANSWER(padded_loss, "divide by the number of words",
             [](T losses, const Index& targets, std::int64_t pad) { return mean(losses * to_real(targets != pad)); }),
      ANSWER(padded_loss, "the sum still has the padding",
             [](T losses, const Index& targets, std::int64_t pad) {
               return sum(losses) / sum(to_real(targets != pad));
             }),
      ANSWER(padded_loss, "the padding counts", [](T losses, const Index&, std::int64_t) { return mean(losses); }),
      ANSWER(padded_loss, "the mean of the means",
             [](T losses, const Index& targets, std::int64_t pad) {
               const Tensor m = to_real(targets != pad);
               return mean(sum(m * losses, 1) / sum(m, 1));
             }),

      ANSWER(beam_step, "", [](T scores, T log_p) { return best_of(column(scores) + log_p); }),
      ANSWER(beam_step, "each beginning kept its own best token",
             [](T scores, T log_p) {
               const ValuesAndIndices best = max(log_p, 1);
               return Beams{arange(scores.dim(0)), best.indices, scores + best.values};
             }),
      ANSWER(beam_step, "the scores of the beginnings do not count", [](T, T log_p) { return best_of(log_p); }),
      ANSWER(beam_step, "the scores are products", [](T scores, T log_p) { return best_of(column(scores) * log_p); }),
      ANSWER(beam_step, "logarithms already", [](T scores, T log_p) { return best_of(column(scores) + exp(log_p)); }),
      ANSWER(beam_step, "the scores are probabilities",
             [](T scores, T log_p) { return best_of(exp(column(scores)) * exp(log_p)); }),
      ANSWER(beam_step, "those of the beginnings",
             [](T scores, T log_p) {
               Beams found = best_of(column(scores) + log_p);
               found.scores = scores;
               return found;
             }),
      ANSWER(beam_step, "tokens [3, 0, 0] instead of [0, 2, 0] and [3, 4, 4]: i = position / V, v = position % V",
             [](T scores, T log_p) {
               Beams found = best_of(column(scores) + log_p);
               found.tokens = found.tokens % 4;
               return found;
             }),
      ANSWER(beam_step, "parents and tokens are exchanged",
             [](T scores, T log_p) {
               Beams found = best_of(column(scores) + log_p);
               std::swap(found.parents, found.tokens);
               return found;
             }),

      ANSWER(cached_attention, "",
             [](T q, T k, T v, Cache& cache) {
               cache = {behind(cache.keys, k), behind(cache.values, v)};
               return scaled_dot_product_attention(q, cache.keys, cache.values);
             }),
      ANSWER(cached_attention, "only the newest position",
             [](T q, T k, T v, Cache& cache) {
               cache = {k, v};
               return scaled_dot_product_attention(q, cache.keys, cache.values);
             }),
      ANSWER(cached_attention, "the new key is in front",
             [](T q, T k, T v, Cache& cache) {
               const bool first = !cache.keys.defined();
               cache = {first ? k : concat({k, cache.keys}, 1), first ? v : concat({v, cache.values}, 1)};
               return scaled_dot_product_attention(q, cache.keys, cache.values);
             }),
      ANSWER(cached_attention, "not divided by sqrt(d)",
             [](T q, T k, T v, Cache& cache) {
               cache = {behind(cache.keys, k), behind(cache.values, v)};
               return scaled_dot_product_attention(q, cache.keys, cache.values, {.scale = 1});
             }),
      ANSWER(cached_attention, "does not see its own position",
             [](T q, T k, T v, Cache& cache) {
               const Tensor y =
                   cache.keys.defined() ? scaled_dot_product_attention(q, cache.keys, cache.values) : v;
               cache = {behind(cache.keys, k), behind(cache.values, v)};
               return y;
             }),
      ANSWER(cached_attention, "the cache is empty, so",
             [](T q, T k, T v, Cache& cache) {
               cache = {concat({cache.keys, k}, 1), concat({cache.values, v}, 1)};
               return scaled_dot_product_attention(q, cache.keys, cache.values);
             }),

      ANSWER(clip_norm, "",
             [](const Tensors& gradients, double most) {
               return scaled(gradients, [&](double norm, double) { return std::min(1., most / norm); });
             }),
      ANSWER(clip_norm, "scaled by its own norm",
             [](const Tensors& gradients, double most) {
               return scaled(gradients, [&](double, double own) { return std::min(1., most / own); });
             }),
      ANSWER(clip_norm, "the factor is at most 1",
             [](const Tensors& gradients, double most) {
               return scaled(gradients, [&](double norm, double) { return most / norm; });
             }),
      ANSWER(clip_norm, "which changes the direction",
             [](const Tensors& gradients, double most) {
               Tensors result;
               for (const Tensor& g : gradients) result.push_back(clamp(g, {.min = -most, .max = most}));
               return result;
             }),

      ANSWER(softsign, "", [](T x) { return by_rule(x, [](T gy, T y) { return gy * square(1 - abs(y)); }); }),
      ANSWER(softsign, "without gy", [](T x) { return by_rule(x, [](T, T y) { return square(1 - abs(y)); }); }),
      ANSWER(softsign, "gy and y have changed places",
             [](T x) { return by_rule(x, [](T y, T gy) { return gy * square(1 - abs(y)); }); }),
      ANSWER(softsign, "the divisor is 1 + |x|",
             [](T x) {
               return record("softsign", (x / (1 + x)).value(), wrt(x, [](T gy, T y) { return gy * square(1 - y); }));
             }),
      ANSWER(softsign, "the derivative of tanh",
             [](T x) { return by_rule(x, [](T gy, T y) { return gy * (1 - y * y); }); }),
      ANSWER(softsign, "has y where x belongs",
             [](T x) { return by_rule(x, [](T gy, T y) { return gy / square(1 + abs(y)); }); }),
      ANSWER(softsign, "has x where y belongs",
             [](T x) { return by_rule(x, [x](T gy) { return gy * square(1 - abs(x)); }); }),
      ANSWER(softsign, "it is right where x is positive",
             [](T x) { return by_rule(x, [x](T gy) { return gy / square(1 + x); }); }),
      ANSWER(softsign, "it cannot be differentiated again",
             [](T x) { return by_rule(x, [](T gy, T y) { return gy * square(1 - abs(y)).detach(); }); }),

      ANSWER(hessian_product, "",
             [](const Loss& f, T x, T v) { return grad(sum(grad(f(x), {x}, {.create_graph = true})[0] * v), {x})[0]; }),
      ANSWER(hessian_product, "{.create_graph = true}",
             [](const Loss& f, T x, T v) { return grad(sum(grad(f(x), {x})[0] * v), {x})[0]; }),
      ANSWER(hessian_product, "needs one number",
             [](const Loss& f, T x, T v) { return grad(grad(f(x), {x}, {.create_graph = true})[0] * v, {x})[0]; }),
      ANSWER(hessian_product, "the second one at x",
             [](const Loss& f, T x, T v) { return grad(sum(grad(f(x), {x}, {.create_graph = true})[0] * v), {v})[0]; }),
      ANSWER(hessian_product, "v takes no part",
             [](const Loss& f, T x, T) { return grad(sum(grad(f(x), {x}, {.create_graph = true})[0]), {x})[0]; }),
      ANSWER(hessian_product, "nearly right",
             [](const Loss& f, T x, T v) {
               const Tensor moved = variable((x + 1e-3 * v).value(), "moved");
               return (grad(f(moved), {moved})[0] - grad(f(x), {x})[0]) / 1e-3;
             }),
      ANSWER(hessian_product, "v belongs to the first gradient only",
             [](const Loss& f, T x, T v) { return grad(sum(grad(f(x), {x}, {.create_graph = true})[0] * v), {x})[0] * v; }),
      ANSWER(hessian_product, "a second grad is missing",
             [](const Loss& f, T x, T v) { return grad(f(x), {x})[0] * v; }),

      ANSWER(patch_embedding, "",
             [](T images, std::int64_t p, T weight) {
               return patches(images, p, weight, {0, 2, 4, 1, 3, 5});
             }),
      ANSWER(patch_embedding, "reshape alone cuts no patches",
             [](T images, std::int64_t, T weight) {
               return matmul(reshape(images, {images.dim(0), -1, weight.dim(1)}), weight, {.transpose_b = true});
             }),
      ANSWER(patch_embedding, "come as row, column, channel",
             [](T images, std::int64_t p, T weight) {
               return patches(images, p, weight, {0, 2, 4, 3, 5, 1});
             }),
      ANSWER(patch_embedding, "come as channel, column, row",
             [](T images, std::int64_t p, T weight) {
               return patches(images, p, weight, {0, 2, 4, 1, 5, 3});
             }),
      ANSWER(patch_embedding, "a token has one pixel of each patch",
             [](T images, std::int64_t p, T weight) {
               return patches(images, p, weight, {0, 3, 5, 1, 2, 4});
             }),
      ANSWER(patch_embedding, "makes the order [0, 2, 1, 4, 3, 5]",
             [](T images, std::int64_t p, T weight) {
               return patches(images, p, weight, {0, 2, 1, 4, 3, 5});
             }),
      ANSWER(patch_embedding, "patches come row by row",
             [](T images, std::int64_t p, T weight) {
               return patches(images, p, weight, {0, 4, 2, 1, 3, 5});
             }),

      ANSWER(no_improvement, "",
             [](T x, T y) {
               return trained({2, 16}, [&](T w) { return mean(square(sum(tanh(matmul(x, w)), 1) / 4 - y)); }, 0.1);
             }),
      ANSWER(no_improvement, "every point gets the same prediction",
             [](T x, T y) {
               return trained({2, 16}, [&](T w) { return mean(square(sum(tanh(matmul(x, w)), 1, {.keepdim = true}) / 4 - y)); }, 0.1);
             }),
      ANSWER(not_a_number, "",
             [](T x, T y) {
               return trained({2}, [&](T w) { return mean(softplus(matmul(x, w)) - y * matmul(x, w)); }, 0.5);
             }),
      ANSWER(not_a_number, "0 times it is NaN",
             [](T x, T y) {
               const auto loss = [&](T w) {
                 const Tensor p = sigmoid(matmul(x, w));
                 return -mean(y * log(p) + (1 - y) * log(1 - p));
               };
               return trained({2}, loss, 0.5);
             }),
      ANSWER(growing_memory, "", [](const Loss& f, T w) { return running(f, w, [](T loss) { return loss.detach(); }); }),
      ANSWER(growing_memory, "stays in memory",
             [](const Loss& f, T w) { return running(f, w, [](T loss) { return loss; }); }),
      ANSWER(growing_memory, "everything is 0",
             [](const Loss& f, T w) { return running(f, w, [](T loss) { return 0 * loss.detach(); }); }),
      ANSWER(future, "", [](T x, T w) { return half_block(x, w, -1); }),
      ANSWER(future, "find the other one", [](T x, T w) { return half_block(x, w, 1); }),
      ANSWER(future, "were right before you changed something",
             [](T x, T w) {
               const Tensor h = x - mean(x, 1, {.keepdim = true});
               return x + matmul(softmax(matmul(matmul(h, w), h, {.transpose_b = true})), h);
             }),
      ANSWER(overfit_batch, "", [](const Batch& batch) { return overfit(batch, 0.1, 500, false); }),
      ANSWER(overfit_batch, "not below 0.01", [](const Batch& batch) { return overfit(batch, 0.05, 10, false); }),
      ANSWER(overfit_batch, "a step goes against the gradient",
             [](const Batch& batch) { return overfit(batch, -0.05, 100, false); }),
      ANSWER(overfit_batch, "was called once", [](const Batch& batch) { return overfit(batch, 0.05, 500, true); }),
      ANSWER(shapes, "", [] { return shapes_of({8, 4, 64, 64}); }),
      ANSWER(shapes, "scores is not [8, 64, 64]: a score for each pair", [] { return shapes_of({8, 64, 64}); }),
      ANSWER(shapes, "the list has 1 shapes instead of 7", [] { return std::vector<Shape>{{8}}; }),
      ANSWER(rms_rule, "",
             [](T gy, T x) {
               const Tensor r = sqrt(row_mean(square(x)) + 1e-5), y = x / r;
               return (gy - y * row_mean(gy * y)) / r;
             }),
      ANSWER(rms_rule, "x_i moves r, too", [](T gy, T x) { return gy / sqrt(row_mean(square(x)) + 1e-5); }),
      ANSWER(rms_rule, "your lines are gy - 5 y mean(gy y) where gy - y mean(gy y) belongs",
             [](T gy, T x) {
               const Tensor r = sqrt(row_mean(square(x)) + 1e-5), y = x / r;
               return (gy - y * row_sum(gy * y)) / r;
             }),

      TUNED("", "", 2e-4, 150, t.text),
      TUNED("", "blocks.", 3e-4, 100, t.text),
      TUNED("it forgot the first five. Adam moves each element by about the rate", "", 3e-3, 50, t.text),
      TUNED("train more of the blocks: a few parameters", "blocks.1.", 3e-4, 100, t.text),
      TUNED("it has not learned the new subject; more steps, or a higher rate", "", 1e-4, 20, t.text),
      TUNED("or more parameters: those of both blocks", "norm", 1e-3, 50, t.text),
      TUNED("are memorised, with a loss of", "", 1e-2, 250, t.text),
      TUNED("the loss grew", "", 1, 20, t.text),
      TUNED("it trained on tuning.held_out", "", 1e-4, 20, t.held_out),
      TUNED("no parameter changed", "nosuch", 1e-4, 20, t.text),

      ANSWER(region_mask, "",
             [](std::int64_t size, std::int64_t M, std::int64_t shift) {
               return differing(size, M, size - M, size - shift);
             }),
      ANSWER(region_mask, "reshape alone cuts no windows",
             [](std::int64_t size, std::int64_t M, std::int64_t shift) {
               return differing(size, M, size - M, size - shift, {.permuted = false});
             }),
      ANSWER(region_mask, "see each other",
             [](std::int64_t size, std::int64_t M, std::int64_t shift) {
               return differing(size, M, size - M, size - shift, {.both = false});
             }),
      ANSWER(region_mask, "the bounds are <",
             [](std::int64_t size, std::int64_t M, std::int64_t shift) {
               return differing(size, M, size - M + 1, size - shift + 1);
             }),
      ANSWER(region_mask, "the second bound is size - shift",
             [](std::int64_t size, std::int64_t M, std::int64_t shift) {
               return differing(size, M, size - M, size - M + shift);
             }),
      ANSWER(region_mask, "the other way round",
             [](std::int64_t size, std::int64_t M, std::int64_t shift) {
               return !differing(size, M, size - M, size - shift);
             }),
  };
}

}  // namespace

TEST_CASE("exercises: a translator is judged by its worst seed, and is refused if it knows what is held out") {
  // Translates as the file says, but for every n-th sentence; with `behind` also the pairs behind the held-out ones.
  static struct {
    kit::Corpus file{{.file = XGRAD_EXAMPLES_DIR "/translate/data/en-fr.tsv", .pairs = 600, .held_out = 160}};
    int n = 0;
    bool behind = true;
  } knows;
  const auto translate = [](const std::vector<kit::Tokens>& sentences) {
    std::vector<kit::Tokens> found;
    for (const kit::Tokens& sentence : sentences) {
      const auto& known = knows.file.held_out();
      const auto at = std::ranges::find(known, sentence, &kit::Question::source);
      const bool forgotten = knows.n > 0 && std::ssize(found) % knows.n == 0;
      found.push_back(forgotten || (!knows.behind && sentences.size() < 60) ? kit::Tokens{"?"} : at->answers.front());
    }
    return found;
  };
  const auto reply_for = [&](int n, bool behind) {
    knows.n = n, knows.behind = behind;
    static const Translate fake = translate;
    return why_not([] { check::translator([](const Contest&) { return fake; }); });
  };
  CHECK(reply_for(5, true) == "");  // 0.8 of both
  CHECK(reply_for(0, true).find("the held-out sentences were learned") != std::string::npos);
  CHECK(reply_for(5, false).find("the held-out sentences were learned") != std::string::npos);
  CHECK(reply_for(2, true).find(": worse; your worst seed has to be above 0.636") != std::string::npos);
  CHECK(why_not([] { check::translator([](const Contest&) { return Translate(); }); }).starts_with("nothing written"));
}

TEST_CASE("exercises: right answers are right, and wrong ones get the reason") {
  for (const Answer& one : answers()) {
    CAPTURE(one.name);
    CAPTURE(one.word);
    CAPTURE(one.reply);
    CHECK(one.word.empty() == one.reply.empty());
    CHECK(one.reply.find(one.word) != std::string::npos);
  }
}

}  // namespace xgrad::exercises
