#include <xgrad/ops/ops.h>

#include "support/catalogue.h"
#include "support/check.h"
#include "support/fixtures.h"

namespace xgrad::testing {
namespace {

// Elementwise operations that the catalogue has under these names, and others.
Operations named(const std::set<std::string>& names, Operations others) {
  for (const Call& call : elementwise_calls({})) {
    if (names.contains(call.name)) others[call.name] = [run = call.run](const Case& c) { return run(c.xs()); };
  }
  return others;
}
std::function<Results(const Case&)> test_of(Mask (*f)(const Tensor&)) {
  return [f](const Case& c) { return f(c.x()); };
}

}  // namespace

TEST_CASE("functions of angles, roundings and rests, and their gradients of two orders, equal PyTorch's") {
  check_fixtures(
      "functions",
      named({"tan", "asin", "acos", "atan", "sinh", "cosh", "asinh", "acosh", "atanh", "exp2", "log2", "log10",
             "reciprocal", "floor", "ceil", "round", "trunc", "frac", "atan2", "remainder", "fmod", "logaddexp",
             "lerp"},
            {
            {"clamp_tensors", OF_CASE(clamp(c.x(0), c.x(1), c.x(2)))},
            {"nan_to_num",
             [](const Case& c) {
               if (!c.has("nan")) return nan_to_num(c.x());
               return nan_to_num(c.x(), {.nan = static_cast<Real>(c.number("nan")),
                                         .posinf = static_cast<Real>(c.number("posinf")),
                                         .neginf = static_cast<Real>(c.number("neginf"))});
             }},
            {"isnan", test_of(isnan)},
            {"isinf", test_of(isinf)},
            {"isfinite", test_of(isfinite)},
            {"isclose",
             [](const Case& c) {
               const IsCloseOptions options{
                   .rtol = c.number("rtol"), .atol = c.number("atol"), .equal_nan = c.flag("equal_nan")};
               const Mask close = isclose(c.x(0), c.x(1), options);
               CHECK(allclose(c.x(0), c.x(1), options) == all(close));
               return close;
             }},
            {"normalize", OF_CASE(normalize(c.x(), c.number("p"), c.integer("axis"), {.eps = c.number("eps", 1e-12)}))},
            {"cosine_similarity",
             OF_CASE(cosine_similarity(c.x(0), c.x(1), c.integer("axis"), {.eps = c.number("eps", 1e-8)}))},
            {"pairwise_distance",
             OF_CASE(pairwise_distance(c.x(0), c.x(1), {.p = c.number("p"), .keepdim = c.flag("keepdim")}))},
            }),
      {.terms = {{"atan2/4", 1}},                                    // a sum of cotangents, which cancel
       .ulps_of = {{"logaddexp/7", 16}, {"pairwise_distance", 16}},  // what is left where sums cancel
       // Jumps at multiples, bounds, and numbers near a pole or the end of a domain.
       .kinks = {"remainder", "fmod", "clamp_tensors/2", "clamp_tensors/4", "tan/4", "acos/0", "acos/4", "atanh/0",
                 "atanh/4", "acosh/4", "atan2/3", "atan2/9", "pairwise_distance/16"}});
}

TEST_CASE("activations and their gradients of two orders equal PyTorch's") {
  const auto number = [](const Case& c, const char* name, double otherwise) {
    return static_cast<Real>(c.number(name, otherwise));
  };
  check_fixtures(
      "activations",
      named({"selu", "mish", "softsign", "logsigmoid", "tanhshrink", "relu6", "hardsigmoid", "hardswish"},
            {
            {"leaky_relu", OF_CASE(leaky_relu(c.x(), {.negative_slope = number(c, "negative_slope", 0.01)}))},
            {"prelu", OF_CASE(prelu(c.x(0), c.x(1)))},
            {"celu", OF_CASE(celu(c.x(), number(c, "alpha", 1)))},
            {"glu", OF_CASE(glu(c.x(), c.integer("axis")))},
            {"hardtanh",
             OF_CASE(hardtanh(c.x(), {.min_val = number(c, "min_val", -1), .max_val = number(c, "max_val", 1)}))},
            }),
      {.terms = {{"tanhshrink/3", 0.05}},                       // x and tanh x cancel near 0
       .kinks = {"leaky_relu/10", "hardswish/5", "relu6/5"}});  // an element where two pieces meet
}

TEST_CASE("elementwise operations and their gradients equal PyTorch's") {
  check_fixtures(
      "elementwise",
      named({"neg", "exp", "expm1", "log", "log1p", "sqrt", "rsqrt", "square", "sign", "abs", "sin", "cos", "tanh",
             "erf", "sigmoid", "relu", "silu", "softplus", "add", "sub", "mul", "div", "pow", "maximum", "minimum"},
            {
            {"gelu", OF_CASE(gelu(c.x(), c.text("form") == "erf" ? Gelu::erf : Gelu::tanh))},
            {"elu", OF_CASE(elu(c.x(), c.number("alpha")))},
            {"clamp", OF_CASE(clamp(c.x(), {.min = c.number("min"), .max = c.number("max")}))},
            {"pow_number", OF_CASE(pow(c.x(), c.number("exponent")))},
            {"where", OF_CASE(where(c.mask(0), c.x(1), c.x(2)))},
            }),
      {.terms = {{"minimum/4", 1}},  // a sum of cotangents, which cancel
       .ulps_of = {{"gelu", 16}},    // its second factor cancels left of 0
       // At a bound, equal numbers, near a pole.
       .kinks = {"clamp/15", "maximum/9", "minimum/9", "rsqrt/4", "div/10"}});
}

TEST_CASE("shrinking functions and their gradients of two orders equal PyTorch's") {
  check_fixtures(
      "special",
      {{"hardshrink", OF_CASE(hardshrink(c.x(), static_cast<Real>(c.number("width"))))},
       {"softshrink", OF_CASE(softshrink(c.x(), static_cast<Real>(c.number("width"))))}},
      // An element where two pieces meet.
      {.tolerance = 3e-12, .kinks = {"hardshrink/1", "hardshrink/10", "softshrink/10"}});
}

}  // namespace xgrad::testing
