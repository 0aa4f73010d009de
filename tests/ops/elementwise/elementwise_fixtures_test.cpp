#include <xgrad/ops/ops.h>

#include "support/check.h"
#include "support/fixtures.h"

namespace xgrad::testing {
namespace {

using Operation = std::function<Results(const Case&)>;

Operation of_one(Tensor (*f)(const Tensor&)) {
  return [f](const Case& c) { return f(c.x()); };
}
Operation of_two(Tensor (*f)(const Tensor&, const Tensor&)) {
  return [f](const Case& c) { return f(c.x(0), c.x(1)); };
}
Operation test_of(Mask (*f)(const Tensor&)) {
  return [f](const Case& c) { return f(c.x()); };
}

}  // namespace

TEST_CASE("functions of angles, roundings and rests, and their gradients of two orders, equal PyTorch's") {
  check_fixtures(
      "functions",
      {
          {"tan", of_one(tan)},
          {"asin", of_one(asin)},
          {"acos", of_one(acos)},
          {"atan", of_one(atan)},
          {"sinh", of_one(sinh)},
          {"cosh", of_one(cosh)},
          {"asinh", of_one(asinh)},
          {"acosh", of_one(acosh)},
          {"atanh", of_one(atanh)},
          {"exp2", of_one(exp2)},
          {"log2", of_one(log2)},
          {"log10", of_one(log10)},
          {"reciprocal", of_one(reciprocal)},
          {"floor", of_one(floor)},
          {"ceil", of_one(ceil)},
          {"round", of_one(round)},
          {"trunc", of_one(trunc)},
          {"frac", of_one(frac)},
          {"atan2", of_two(atan2)},
          {"remainder", of_two(remainder)},
          {"fmod", of_two(fmod)},
          {"logaddexp", of_two(logaddexp)},
          {"lerp", [](const Case& c) { return lerp(c.x(0), c.x(1), c.x(2)); }},
          {"clamp_tensors", [](const Case& c) { return clamp(c.x(0), c.x(1), c.x(2)); }},
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
          {"normalize",
           [](const Case& c) {
             return normalize(c.x(), c.number("p"), c.integer("axis"), {.eps = c.number("eps", 1e-12)});
           }},
          {"cosine_similarity",
           [](const Case& c) {
             return cosine_similarity(c.x(0), c.x(1), c.integer("axis"), {.eps = c.number("eps", 1e-8)});
           }},
          {"pairwise_distance",
           [](const Case& c) {
             return pairwise_distance(c.x(0), c.x(1), {.p = c.number("p"), .keepdim = c.flag("keepdim")});
           }},
      },
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
      {
          {"leaky_relu",
           [&](const Case& c) { return leaky_relu(c.x(), {.negative_slope = number(c, "negative_slope", 0.01)}); }},
          {"prelu", of_two(prelu)},
          {"selu", of_one(selu)},
          {"celu", [&](const Case& c) { return celu(c.x(), number(c, "alpha", 1)); }},
          {"mish", of_one(mish)},
          {"glu", [](const Case& c) { return glu(c.x(), c.integer("axis")); }},
          {"softsign", of_one(softsign)},
          {"logsigmoid", of_one(logsigmoid)},
          {"tanhshrink", of_one(tanhshrink)},
          {"hardtanh",
           [&](const Case& c) {
             return hardtanh(c.x(), {.min_val = number(c, "min_val", -1), .max_val = number(c, "max_val", 1)});
           }},
          {"relu6", of_one(relu6)},
          {"hardsigmoid", of_one(hardsigmoid)},
          {"hardswish", of_one(hardswish)},
      },
      {.terms = {{"tanhshrink/3", 0.05}},                       // x and tanh x cancel near 0
       .kinks = {"leaky_relu/10", "hardswish/5", "relu6/5"}});  // an element where two pieces meet
}

TEST_CASE("elementwise operations and their gradients equal PyTorch's") {
  check_fixtures(
      "elementwise",
      {
          {"neg", of_one(neg)},
          {"exp", of_one(exp)},
          {"expm1", of_one(expm1)},
          {"log", of_one(log)},
          {"log1p", of_one(log1p)},
          {"sqrt", of_one(sqrt)},
          {"rsqrt", of_one(rsqrt)},
          {"square", of_one(square)},
          {"sign", of_one(sign)},
          {"abs", of_one(abs)},
          {"sin", of_one(sin)},
          {"cos", of_one(cos)},
          {"tanh", of_one(tanh)},
          {"erf", of_one(erf)},
          {"sigmoid", of_one(sigmoid)},
          {"relu", of_one(relu)},
          {"silu", of_one(silu)},
          {"softplus", of_one(softplus)},
          {"gelu", [](const Case& c) { return gelu(c.x(), c.text("form") == "erf" ? Gelu::erf : Gelu::tanh); }},
          {"elu", [](const Case& c) { return elu(c.x(), c.number("alpha")); }},
          {"clamp", [](const Case& c) { return clamp(c.x(), {.min = c.number("min"), .max = c.number("max")}); }},
          {"add", of_two(add)},
          {"sub", of_two(sub)},
          {"mul", of_two(mul)},
          {"div", of_two(div)},
          {"pow", of_two(pow)},
          {"pow_number", [](const Case& c) { return pow(c.x(), c.number("exponent")); }},
          {"maximum", of_two(maximum)},
          {"minimum", of_two(minimum)},
          {"where", [](const Case& c) { return where(c.mask(0), c.x(1), c.x(2)); }},
      },
      {.terms = {{"minimum/4", 1}},  // a sum of cotangents, which cancel
       .ulps_of = {{"gelu", 16}},    // its second factor cancels left of 0
       // At a bound, equal numbers, near a pole.
       .kinks = {"clamp/15", "maximum/9", "minimum/9", "rsqrt/4", "div/10"}});
}

TEST_CASE("shrinking functions and their gradients of two orders equal PyTorch's") {
  check_fixtures(
      "special",
      {{"hardshrink", [](const Case& c) { return hardshrink(c.x(), static_cast<Real>(c.number("width"))); }},
       {"softshrink", [](const Case& c) { return softshrink(c.x(), static_cast<Real>(c.number("width"))); }}},
      // An element where two pieces meet.
      {.tolerance = 3e-12, .kinks = {"hardshrink/1", "hardshrink/10", "softshrink/10"}});
}

}  // namespace xgrad::testing
