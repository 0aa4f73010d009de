#include <xgrad/ops/reduce/covariance.h>
#include <xgrad/ops/products/linalg.h>

#include "support/check.h"
#include "support/fixtures.h"

namespace xgrad::testing {
namespace {

linalg::LeastSquares least_squares(const Case& c) {
  return linalg::lstsq(c.x(0), c.x(1),
                       {.rcond = c.has("rcond") ? std::optional(static_cast<Real>(c.number("rcond"))) : std::nullopt});
}
Real correction(const Case& c) { return static_cast<Real>(c.number("correction", 1)); }

}  // namespace

TEST_CASE("least squares, covariances and correlations equal PyTorch's") {
  const Operations operations{
      {"lstsq", [](const Case& c) { return least_squares(c).solution; }},
      {"lstsq_residuals", [](const Case& c) { return least_squares(c).residuals; }},
      {"lstsq_ranks",
       [](const Case& c) {
         const linalg::LeastSquares y = least_squares(c);
         Results results(y.rank);
         results.all.emplace_back(y.singular_values);
         results.all.emplace_back(y.residuals);
         return results;
       }},
      {"cov", [](const Case& c) { return cov(c.x(), {.correction = correction(c)}); }},
      {"cov_fweights", [](const Case& c) { return cov(c.x(), {.correction = correction(c), .fweights = c.index(1)}); }},
      {"cov_aweights", [](const Case& c) { return cov(c.x(), {.correction = correction(c), .aweights = c.x(1)}); }},
      {"cov_both",
       [](const Case& c) {
         return cov(c.x(), {.correction = correction(c), .fweights = c.index(1), .aweights = c.x(2)});
       }},
      {"corrcoef", [](const Case& c) { return corrcoef(c.x()); }},
  };
  // Least squares amplify rounding by the square of the condition; sums of covariances cancel.
  check_fixtures("covariance", operations,
                 {.tolerance = 1e-10,
                  .ulps_of = {{"lstsq", 150}, {"lstsq/2", 3000}, {"cov_aweights", 32}, {"cov_both", 32}}});
}

}  // namespace xgrad::testing
