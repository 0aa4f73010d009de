#include <limits>

#include <xgrad/ops/ops.h>

#include "support/check.h"
#include "support/fixtures.h"

namespace xgrad::testing {
namespace {

using namespace distributions;

Categorical categorical_of(const Case& c, int i) {
  return c.text("how") == "logits" ? Categorical({.logits = c.x(i)}) : Categorical({.probs = c.x(i)});
}
template <class D>
Tensor moments(const D& d) {
  return stack({d.mean(), d.stddev(), d.variance()});
}

}  // namespace

TEST_CASE("distributions and their gradients equal PyTorch's") {
  const Operations operations{
      {"normal_log_prob", OF_CASE(Normal(c.x(0), c.x(1)).log_prob(c.x(2)))},
      {"normal_entropy", OF_CASE(Normal(c.x(1), c.x(0)).entropy())},
      {"normal_moments", OF_CASE(moments(Normal(c.x(1), c.x(0))))},
      {"normal_kl", OF_CASE(kl_divergence(Normal(c.x(0), c.x(1)), Normal(c.x(2), c.x(3))))},
      {"categorical_log_prob", OF_CASE(categorical_of(c, 0).log_prob(c.index(1)))},
      {"categorical_entropy", OF_CASE(categorical_of(c, 0).entropy())},
      {"categorical_parameters",
       [](const Case& c) {
         const Categorical d = categorical_of(c, 0);
         return stack({d.probs(), d.logits()});
       }},
      {"categorical_kl", OF_CASE(kl_divergence(categorical_of(c, 0), categorical_of(c, 1)))},
  };
  // A single category has probability 1, and no gradient.
  check_fixtures("distributions", operations,
                 {.tolerance = 1e-11,
                  .terms = {{"categorical_entropy/6", 1}, {"categorical_parameters/6", 1}},
                  .ulps = 16,
                  // Probabilities of 0 and 1 are held off by an epsilon of the number type.
                  .ulps_of = {{"categorical_log_prob/6", std::numeric_limits<double>::infinity()},
                              {"categorical_log_prob/14", std::numeric_limits<double>::infinity()}},
                  // Near a pole, probabilities at the ends of their range, a single category.
                  .kinks = {"normal_log_prob/9", "categorical_parameters/6", "categorical_log_prob/14"}});
}

}  // namespace xgrad::testing
