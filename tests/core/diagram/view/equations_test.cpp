// Tests of core/diagram/view/equations.h: formulas with the names of operands.
#include <xgrad/core/diagram/view/labels.h>
#include <xgrad/core/diagram/view/view.h>

#include <cmath>

#include "core/diagram/diagrams.h"

namespace xgrad::testing {
namespace {

std::string formula(const Tensor& y, std::string_view op) { return the(GraphView::of({y}), op).text.formula; }
std::string derivative(const Tensor& y, std::string_view op) { return the(GraphView::of({y}), op).text.derivative; }

TEST_CASE("equations use the names of operands and of the result") {
  const Tensor x = variable(normal({2, 3}), "x"), W = variable(normal({4, 3}), "W_ih"), b = variable(normal({4}), "b");
  const Tensor y = linear(x, W, b);
  CHECK(formula(y, "linear") == "y = x W_ih^T + b");
  CHECK(derivative(y, "linear") == "dL/dx = g_y W_ih; dL/dW_ih = g_y^T x; dL/db = sum of g_y");
  const Tensor h = tanh(y).named("h");
  CHECK(formula(h, "tanh") == "h = tanh y");
  CHECK(derivative(h, "tanh") == "dh/dy = 1 - h^2");
  CHECK(derivative(matmul(h, exp(W)).named("z"), "matmul") == "dL/dh = g_z y2^T; dL/dy2 = h^T g_z");
  const Tensor s = matmul(x, W, {.transpose_b = true}).named("s");
  CHECK(formula(s, "matmul") == "s = x W_ih^T");
  CHECK(derivative(s, "matmul") == "dL/dx = g_s W_ih; dL/dW_ih = g_s^T x");
}

Tensor scale_shift(const Tensor& b, const Tensor& x, const Tensor& a) {
  return record(
      "scale_shift", (b * x + a).value(), wrt(b, [x](const Tensor& gy) { return gy * x; }),
      wrt(x, [b](const Tensor& gy) { return gy * b; }), wrt(a, [](const Tensor& gy) { return gy; }));
}
XGRAD_FORMULA scale_shift_formula{"scale_shift", "y = b x + a", "dL/db = gy x; dL/dx = gy b; dL/da = gy"};

TEST_CASE("the operands of a formula are the arguments in their order, whatever their letters are") {
  const Tensor slope = variable({1, 2}, "slope"), input = variable({3, 4}, "input"), offset = variable(5, "offset");
  const Tensor y = scale_shift(slope, input, broadcast_to(offset, {2}).named("offset")).named("out");
  CHECK(formula(y, "scale_shift") == "out = slope input + offset");
  CHECK(derivative(y, "scale_shift") == "dL/dslope = g_out input; dL/dinput = g_out slope; dL/doffset = g_out");
  CHECK(formula(scale_shift(slope, input * input, Tensor(Array({2}, Real(0)))), "scale_shift") == "y2 = slope y1 + input");
}

TEST_CASE("a number stands in the formula itself, and has no derivative") {
  const Tensor c = variable(10, "c");
  CHECK(formula(c / 2, "div") == "y = c/2");
  CHECK(derivative(c / 2, "div") == "dy/dc = 1/2");
  CHECK(formula(c * -3, "mul") == "y = c (-3)");
  CHECK(formula(c * std::sqrt(32), "mul") == "y = c sqrt 32");
  CHECK(formula(c * (1 / std::sqrt(3)), "mul") == "y = c (1/sqrt 3)");
}

TEST_CASE("what a call did not give is not in its formula") {
  const Tensor x = variable(normal({2, 3}), "x"), W = variable(normal({4, 3}), "W");
  CHECK(formula(linear(x, W), "linear") == "y = x W^T");
  CHECK(derivative(linear(x, W), "linear") == "dL/dx = g_y W; dL/dW = g_y^T x");
  CHECK(formula(layer_norm(x), "layer_norm") == "y = z with z = (x - mean)/s, s = sqrt(variance + eps)");
  CHECK(derivative(layer_norm(x), "layer_norm") == "dL/dx = (u - mean(u) - z mean(u z))/s with u = g_y");
  const Tensor image = variable(normal({1, 2, 3, 3}), "image"), kernel = variable(normal({1, 2, 2, 2}), "kernel");
  CHECK(formula(conv2d(image, kernel), "conv2d") == "y_op = sum_ck image_c(stride p - padding + dilation k) kernel_ock");
  CHECK(formula_of("linear")->value == "y = x weight^T + bias");
  CHECK(formula_of("layer_norm", {}, 2)->value == "y = gamma z with z = (x - mean)/s, s = sqrt(variance + eps)");
}

TEST_CASE("no letter means two things") {
  const Tensor y = variable({1, 2}, "y"), t = variable({0, 1}, "t"), b = variable({3, 4}, "b");
  CHECK(formula(y - t, "sub") == "y1 = y - t");
  CHECK(derivative(y - t, "sub") == "dy1/dy = 1; dy1/dt = -1");
  CHECK(formula(b * tanh(y), "mul") == "y2 = b y1");
  CHECK(formula(square(t * y), "square") == "y2 = y1^2");
  const Tensor e = variable({1, 2}, "e");
  CHECK(formula(exp(e), "exp") == "y = e^x");  // Euler's number
  CHECK(formula(square(variable(1, "blocks.0.weight")), "square") == "y = weight^2");
  CHECK(formula(variable(1, "a.weight") * variable(1, "b.weight"), "mul") == "y = a b");
  CHECK(formula(square(variable(1, "two words")), "square") == "y = x^2");
  CHECK(formula(t * t, "mul") == "y = a b");  // with two derivatives
}

TEST_CASE("a module calls results from outside by the titles of its parts, or input, and numbers its own") {
  const auto part = [](const char* path, const Tensor& x) {
    const Scope scope(intern(path));
    return exp(tanh(x));
  };
  const GraphView view = GraphView::of({sqrt(part("second", abs(part("first", variable(1, "x")))))}, {.depth = 9});
  const auto formula_of = [&](std::string_view op, std::string_view path) {
    const auto is_it = [&](const GraphVertex& v) { return v.op == op && v.path == path; };
    return std::ranges::find_if(view.vertices, is_it)->text.formula;
  };
  CHECK(formula_of("tanh", "first") == "y1 = tanh x");
  CHECK(formula_of("exp", "first") == "y2 = e^y1");
  CHECK(formula_of("abs", "") == "y1 = |first|");
  CHECK(formula_of("tanh", "second") == "y1 = tanh input");
  CHECK(formula_of("sqrt", "") == "y2 = sqrt second");
}

TEST_CASE("a number that is a root is drawn as one") {
  const auto drawn = [](double number) {
    const GraphView view = GraphView::of({variable(10, "c") * number});
    for (const GraphVertex& vertex : view.vertices) {
      if (vertex.constant) return detail::headline_of(vertex);
    }
    return std::string();
  };
  CHECK(drawn(std::sqrt(32)) == "\u221A32");
  CHECK(drawn(1 / std::sqrt(32)) == "1/\u221A32");
  CHECK(drawn(3) == "3");
  CHECK(drawn(0.5) == "0.5");
  CHECK(drawn(-std::sqrt(2)) == "-1.41421");
  CHECK(drawn(5.65685) == "5.65685");
  CHECK(drawn(0) == "0");
}

TEST_CASE("two gradients of one rule are added, though one arrow brings both") {
  const Tensor d = variable({1, 2}, "d");
  const GraphView view = GraphView::of(grad(sum(square(d) * square(d)), {d}, {.create_graph = true}));
  for (const GraphVertex& vertex : view.vertices) {
    if (vertex.op == "add") CHECK(vertex.text.formula == "y3 = a + b");
  }
}

TEST_CASE("an operation whose inputs its formula does not tell apart keeps its letters") {
  const Tensor u = variable({1, 2}, "u"), v = variable({1, 2}, "v");
  CHECK(formula(concat({u, v}), "concat") == "y = (x_1, x_2, ...) along the axis");
}

}  // namespace
}  // namespace xgrad::testing
