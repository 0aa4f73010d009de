#include <xgrad/ops/elementwise/arithmetic.h>
#include <xgrad/ops/elementwise/compare.h>
#include <xgrad/ops/elementwise/elementwise.h>

#include "support/check.h"
#include "support/fixtures.h"

namespace xgrad::testing {

TEST_CASE("elementwise operations and their gradients equal PyTorch's") {
  const auto of_one = [](Tensor (*f)(const Tensor&)) { return [f](const Case& c) { return f(c.x()); }; };
  const auto of_two = [](Tensor (*f)(const Tensor&, const Tensor&)) {
    return [f](const Case& c) { return f(c.x(0), c.x(1)); };
  };
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
      {.terms = {{"minimum/4", 1}},   // a sum of cotangents, which cancel
       .ulps_of = {{"gelu", 16}},  // its second factor cancels left of 0
       // At a bound, equal numbers, near a pole.
       .kinks = {"clamp/15", "maximum/9", "minimum/9", "rsqrt/4", "div/10"}});
}

}  // namespace xgrad::testing
