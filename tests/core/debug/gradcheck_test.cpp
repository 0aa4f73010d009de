// The public gradient check: right rules pass, each kind of wrong one is found, inputs come back.
#include <cmath>
#include <sstream>

#include <xgrad/core/debug/gradcheck.h>
#include <xgrad/ops/derivatives/checkpoint.h>
#include <xgrad/ops/ops.h>

#include "support/check.h"
#include "support/cube.h"

namespace xgrad::testing {
namespace {

const auto right = [](const Tensor& gy, const Tensor& x) { return gy * 3 * x * x; };

TEST_CASE("gradcheck and gradgradcheck accept right rules") {
  const Tensor x = variable({{1, 2}, {3, 4}}, "x"), w = variable({{0.5, -1}, {2, 0.25}}, "w");
  const Function f = [](const Tensors& in) { return tanh(matmul(in[0], in[1]) * 0.1) + in[2]; };
  const GradcheckReport report = gradcheck(f, {x, w, Tensor(1)});
  CHECK(report.ok());
  CHECK(report.entries == 8);
  CHECK(to_string(report) == "gradcheck: 8 entries compared, none is wrong\n");
  const GradcheckReport second = gradgradcheck(f, {x, w, Tensor(1)});
  CHECK(second.ok());
  CHECK(second.entries == 12);
  std::ostringstream out;
  out << second;
  CHECK(out.str() == "gradgradcheck: 12 entries compared, none is wrong\n");
  CHECK(gradcheck(cube(right), {x}).ok());
  CHECK(gradgradcheck(cube(right), {x}).ok());
}

TEST_CASE("gradcheck accepts inputs of no element, scalars, constants that f ignores and a true gradient of zero") {
  const Function zero = [](const Tensors& in) { return sum(in[0]) * 0 + Tensor(2); };
  CHECK(gradcheck(zero, {variable({1, 2})}).ok());
  CHECK(gradcheck([](const Tensors& in) { return exp(in[0]); }, {variable(0.5)}).ok());
  CHECK(gradcheck([](const Tensors& in) { return exp(in[0]); }, {variable(Array(Shape{0, 3}))}).entries == 0);
  CHECK(gradcheck([](const Tensors& in) { return in[0] * 2; }, {variable(1.0), variable(2.0)}).ok());
  CHECK(gradcheck([](const Tensors&) { return Tensor(3); }, {variable(1.0)}).ok());
  CHECK(gradgradcheck([](const Tensors& in) { return in[0] * 2; }, {variable({1, 2})}).ok());
  const NoGrad off;
  CHECK(gradcheck([](const Tensors& in) { return exp(in[0]); }, {variable({1, 2})}).ok());
}

TEST_CASE("gradcheck tells which input, which entry, and both values") {
  const Tensor x = variable({{1, 2, 3}, {4, 5, 6}}, "x"), other = variable({1, 2});
  const auto said = [&](const auto& rule) { return to_string(gradcheck(cube(rule), {x})); };
  const auto has = [](const std::string& text, std::string_view part) {
    CHECK_MESSAGE(text.find(part) != std::string::npos, text);
  };

  const GradcheckReport factor =
      gradcheck(cube([](const Tensor& gy, const Tensor& x) { return gy * 2 * x * x; }), {x, other});
  CHECK(!factor.ok());
  REQUIRE(factor.wrong.size() == 1);
  const GradcheckReport::Wrong& wrong = factor.wrong[0];
  CHECK(wrong.input == 0);
  CHECK(wrong.name == "x");
  CHECK(wrong.shape == Shape{2, 3});
  CHECK(wrong.count == 6);
  CHECK(factor.entries == 8);
  CHECK(std::abs(wrong.analytic / wrong.numeric - 2.0 / 3) < 1e-6);
  // The random gradient of the result is the one that random_normal gives for this seed.
  const Array v = random_normal(x.shape(), {.seed = 0, .draw = 0});
  std::int64_t worst = 0;
  const auto off = [&](std::int64_t i) { return std::abs(v.data()[i]) * x.value().data()[i] * x.value().data()[i]; };
  for (std::int64_t i = 0; i < 6; ++i) worst = off(i) > off(worst) ? i : worst;
  CHECK(wrong.at == Shape{worst / 3, worst % 3});
  CHECK(std::abs(wrong.numeric - 3 * v.data()[worst] * std::pow(x.value().data()[worst], 2)) < 1e-5);
  const std::string text = to_string(factor);
  CHECK(text.starts_with(
      str("gradcheck: 6 of 8 entries are wrong\n  input 0 'x' [2, 3]: 6 wrong, worst at ", wrong.at, ": analytic ")));

  has(said([](const Tensor& gy, const Tensor& x) { return gy * -3 * x * x; }), ": 6 wrong, worst at ");
  has(said([](const Tensor&, const Tensor& x) { return Tensor(Array(x.shape(), Real(0))); }), ": analytic 0, numeric ");
  has(said([](const Tensor& gy, const Tensor& x) { return gy / (x - x); }), ": 6 wrong, worst at ");
  has(said([](const Tensor&, const Tensor& x) { return 3 * x * x; }),
      "  input 0: a gradient of zeros gives others: does a rule not multiply by gy?\n");
  has(said([](const Tensor& gy, const Tensor& x) { return gy * 3 * x * x + where(x.value() == 4, gy, 0); }),
      "input 0 'x' [2, 3]: 1 wrong, worst at [1, 0]: analytic ");
  has(said([](const Tensor& gy, const Tensor&) { return sum(gy); }),
      "gradcheck: 0 entries compared, none is wrong\n  the backward pass throws: cube: the gradient rule returned "
      "shape [] for an input of shape [2, 3]\n");
}

TEST_CASE("gradcheck finds kinks, and functions that hide their graph, are not finite or not the same twice") {
  const auto check = [](const Function& f, const Tensor& x, std::string_view part) {
    const std::string text = to_string(gradcheck(f, {x}));
    CHECK_MESSAGE(text.find(part) != std::string::npos, text);
  };
  const Function detaches = [](const Tensors& in) { return in[0].detach() * 2; };
  const Function without_graph = [](const Tensors& in) {
    const NoGrad off;
    return in[0] * 2;
  };
  const Function of_gradient = [](const Tensors& in) { return grad(sum(in[0] * in[0] * in[0]), {in[0]})[0]; };
  const Tensor x = variable({1, 2});
  check([](const Tensors& in) { return relu(in[0]); }, variable({1, 0, -1}),
        "input 0 [3]: 1 wrong, worst at [1]: analytic 0, numeric ");
  for (const Function& f : {detaches, without_graph, of_gradient}) check(f, x, ": 2 wrong, worst at ");
  check([](const Tensors& in) { return sqrt(in[0]); }, variable(0.0), ": 1 wrong, worst at []");
  CHECK(!gradcheck([](const Tensors& in) { return dropout(in[0], 0.5); }, {variable(normal({4, 4}))}).ok());
  int passes = 0;
  check(cube([&](const Tensor& gy, const Tensor& x) { return gy * (++passes > 1 ? 3.5 : 3) * x * x; }), x,
        "  two backward passes give different gradients");
}

TEST_CASE("gradgradcheck finds a rule that is right but cannot be differentiated") {
  const Function constant = cube([](const Tensor& gy, const Tensor& x) {
    const NoGrad off;
    return gy.detach() * 3 * x * x;
  });
  const Tensor x = variable({{1, 2}, {3, 4}}, "x");
  CHECK(gradcheck(constant, {x}).ok());
  const GradcheckReport report = gradgradcheck(constant, {x});
  CHECK(!report.ok());
  REQUIRE(report.wrong.size() == 2);
  CHECK(report.wrong[0].name == "x");
  CHECK(report.wrong[1].name == "gy");
  CHECK(report.wrong[1].input == 1);
  CHECK(to_string(report).starts_with("gradgradcheck: 8 of 8 entries are wrong\n  input 0 'x' [2, 2]: 4 wrong, "));
  const Function torn = cube([](const Tensor& gy, const Tensor&) { return sum(gy); });
  CHECK(to_string(gradgradcheck(torn, {x})) ==
        "gradgradcheck: 0 entries compared, none is wrong\n  the first backward pass throws: cube: the gradient rule "
        "returned shape [] for an input of shape [2, 2]\n");
}

TEST_CASE("gradcheck moves inputs in place and brings them back, whatever happens") {
  const Array before = normal({3, 3});
  const Tensor w = variable(before, "w");
  CHECK(gradcheck([&w](const Tensors&) { return tanh(w * w); }, {w}).ok());  // a parameter that f knows
  CHECK(equal(w.value(), before));
  // One number at a time: of a product, long steps are exact as long as the other number stays.
  CHECK(gradcheck([](const Tensors& in) { return in[0][0] * in[0][1]; }, {variable({1, 2})}, {.eps = 0.5}).ok());
  int calls = 0;
  const Function throws = [&](const Tensors& in) {
    if (++calls > 5) fail<NumericError>("f", "enough");
    return in[0] * 2;
  };
  const Function reshapes = [&](const Tensors& in) { return equal(in[0].value(), before) ? in[0] : sum(in[0]); };
  CHECK_REFUSED(NumericError, gradcheck(throws, {w}), "f", "enough");
  CHECK(equal(w.value(), before));
  CHECK_REFUSED(ShapeError, gradcheck(reshapes, {w}), "gradcheck",
                "the shape of f's result depends on the numbers of its inputs");
  CHECK(equal(w.value(), before));
  const RandomState state = random_state();
  gradcheck([](const Tensors& in) { return in[0] * 2; }, {w});
  CHECK(random_state() == state);
}

TEST_CASE("gradcheck and gradgradcheck refuse what they cannot check") {
  const Tensor x = variable({1, 2});
  const Function twice = [](const Tensors& in) { return in[0] * 2; };
  const char* none = "no input requires a gradient: make those that shall be checked with variable(...)";
  CHECK_REFUSED(ValueError, gradcheck(Function(), {x}), "gradcheck", "the function is empty");
  CHECK_REFUSED(ValueError, gradgradcheck(Function(), {x}), "gradgradcheck", "the function is empty");
  CHECK_REFUSED(ValueError, gradcheck(twice, {}), "gradcheck", none);
  CHECK_REFUSED(ValueError, gradgradcheck(twice, {Tensor(1)}), "gradgradcheck", none);
  CHECK_REFUSED(GraphError, gradcheck(twice, {x, Tensor()}), "gradcheck", "input 1 is undefined");
  CHECK_REFUSED(GraphError, gradcheck(twice, {x * 2}), "gradcheck", "input 0 is the result of mul", "only leaves");
  CHECK_REFUSED(ValueError, gradcheck(twice, {x}, {.eps = 0}), "gradcheck", "eps is 0");
  CHECK_REFUSED(ValueError, gradcheck(twice, {x}, {.eps = INFINITY}), "gradcheck", "eps is inf");
  CHECK_REFUSED(ValueError, gradcheck(twice, {x}, {.atol = -1}), "gradcheck", "atol is -1");
  CHECK_REFUSED(ValueError, gradcheck(twice, {x}, {.rtol = NAN}), "gradcheck", "rtol is nan");
  CHECK_REFUSED(ValueError, gradgradcheck(twice, {x}, {.rtol = -1}), "gradgradcheck", "rtol is -1");
}

TEST_CASE("the tolerances of gradcheck decide") {
  const Function nearly = cube([](const Tensor& gy, const Tensor& x) { return gy * 3.01 * x * x; });
  const Tensor x = variable({1, 2});
  CHECK(!gradcheck(nearly, {x}).ok());
  CHECK(gradcheck(nearly, {x}, {.rtol = 0.01}).ok());
  CHECK(gradcheck(nearly, {x}, {.atol = 1}).ok());
}

TEST_CASE("what a function records may refer to the tensors that the check gives it until the check is done") {
  // The checkpoint runs its function again in the backward pass, with the inputs that it refers to.
  const auto f = [](const Tensors& in) {
    const Tensor y = tanh(in[0]);
    return checkpoint([&in](const Tensor& t) { return t + tanh(t * in[1]); }, y);
  };
  const Tensors inputs{variable(normal({3}, 1), "x"), variable(normal({3}, 2), "w")};
  CHECK(gradcheck(f, inputs).ok());
  CHECK(gradgradcheck(f, inputs).ok());
}

}  // namespace
}  // namespace xgrad::testing
