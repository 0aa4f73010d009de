#include <xgrad/ops/reduce/covariance.h>

#include "support/check.h"
#include "support/fixtures.h"

namespace xgrad::testing {
namespace {

Real correction(const Case& c) { return static_cast<Real>(c.number("correction", 1)); }

}  // namespace

TEST_CASE("covariances and correlations equal PyTorch's") {
  const Operations operations{
      {"cov", [](const Case& c) { return cov(c.x(), {.correction = correction(c)}); }},
      {"cov_fweights", [](const Case& c) { return cov(c.x(), {.correction = correction(c), .fweights = c.index(1)}); }},
      {"cov_aweights", [](const Case& c) { return cov(c.x(), {.correction = correction(c), .aweights = c.x(1)}); }},
      {"cov_both",
       [](const Case& c) {
         return cov(c.x(), {.correction = correction(c), .fweights = c.index(1), .aweights = c.x(2)});
       }},
      {"corrcoef", [](const Case& c) { return corrcoef(c.x()); }},
  };
  // Sums of covariances cancel.
  check_fixtures("covariance", operations,
                 {.tolerance = 1e-10, .ulps_of = {{"cov_aweights", 32}, {"cov_both", 32}}});
}

}  // namespace xgrad::testing
