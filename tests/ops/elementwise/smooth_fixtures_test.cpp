// Smooth functions at single points: 0, integers, tiny and large ones, where a derivative that has abs, sign or
// where inside is wrong, and which random numbers never meet.
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <string>

#include <xgrad/core/files/safetensors.h>
#include <xgrad/ops/ops.h>

#include "support/catalogue.h"
#include "support/check.h"
#include "support/fixtures.h"

using namespace xgrad;
using namespace xgrad::testing;

namespace {

Tensor weighted(const Tensor& x, const Tensor& target, const Tensor& weight) {
  return binary_cross_entropy_with_logits(x, target, {.pos_weight = weight, .reduction = Reduction::none});
}
Tensor quarter(const Tensor& x) { return full(x.shape(), Real(0.25)); }

// Those that the catalogue does not have.
const std::map<std::string, std::function<Tensor(const Tensor&)>> further{
    {"pow 3", [](const Tensor& x) { return pow(x, 3); }},
    {"pow 2.5", [](const Tensor& x) { return pow(x, 2.5); }},
    {"pow -2", [](const Tensor& x) { return pow(x, -2); }},
    {"1.5 pow", [](const Tensor& x) { return pow(Tensor(1.5), x); }},
    {"atan2 1", [](const Tensor& x) { return atan2(x, Tensor(1)); }},
    {"1 atan2", [](const Tensor& x) { return atan2(Tensor(1), x); }},
    {"logaddexp 0", [](const Tensor& x) { return logaddexp(x, Tensor(0)); }},
    {"binary_cross_entropy",
     [](const Tensor& x) { return binary_cross_entropy_with_logits(x, quarter(x), {.reduction = Reduction::none}); }},
    {"weighted_binary_cross_entropy", [](const Tensor& x) { return weighted(x, quarter(x), Tensor(2)); }},
    {"weighted_binary_cross_entropy by target",
     [](const Tensor& x) {
       const Tensor target = variable(quarter(x).value());
       return grad(sum(weighted(x, target, Tensor(2))), {target}, {.create_graph = true})[0];
     }},
    {"weighted_binary_cross_entropy by weight",
     [](const Tensor& x) {
       const Tensor weight = variable(full(x.shape(), 2).value());
       return grad(sum(weighted(x, quarter(x), weight)), {weight}, {.create_graph = true})[0];
     }},
};

Tensor derivative(const Tensor& y, const Tensor& x, const GradOptions& options) {
  return y.requires_grad() ? grad(sum(y), {x}, options)[0] : zeros_like(x);
}

}  // namespace

TEST_CASE("smooth functions have three right derivatives at 0, and at integers, tiny and large numbers") {
  const StateFile file = load_safetensors(fixture_path("smooth.safetensors"));
  const Tensor x = variable(file.get<Array>("x"));
  auto functions = further;
  for (const Call& call : elementwise_calls({})) {
    functions[call.name] = [run = call.run](const Tensor& at) { return run({at}); };
  }
  for (const auto& named : file.arrays) {
    const std::string& name = named.first;
    if (name == "x") continue;
    REQUIRE_MESSAGE(functions.contains(name), name);
    const Array expected = file.get<Array>(name);
    Tensor y = functions[name](x);
    for (int order = 0; order < 4; ++order) {
      // As a rule gives it without a graph, and with one.
      const Tensor plain = order == 0 ? y : derivative(y, x, {.retain_graph = true, .unused = Unused::zeros});
      if (order > 0) y = derivative(y, x, {.create_graph = true, .unused = Unused::zeros});
      for (std::int64_t i = 0; i < x.size(); ++i) {
        const Real want = expected.data()[4 * i + order];
        if (std::isnan(want)) continue;
        constexpr Real rounding = 1000 * std::numeric_limits<Real>::epsilon();
        const Real most = rounding + 5 * rounding * std::abs(want);
        for (const Real got : {plain.value().data()[i], y.value().data()[i]}) {
          const bool near = got == want || std::abs(got - want) <= most;
          CHECK_MESSAGE(near, "derivative ", order, " of ", name, " at ", x.value().data()[i], " is ",
                        got, ", not ", want);
        }
      }
    }
  }
}
