// What optimizers and schedules do without options: the defaults of PyTorch's documentation, of papers where it has
// none.
#include "support.h"

#include <array>
#include <cmath>

#include <xgrad/optim/optim.h>

namespace xgrad::testing {
namespace {

using namespace optim;

// Other options of optimizers: optimizer_fixtures_test.cpp.
TEST_CASE("Optimizers have PyTorch's learning rates, and what no step at once shows") {
  CHECK(std::array{SgdOptions{}.lr, AdamOptions{}.lr, AdamWOptions{}.lr, RmspropOptions{}.lr, AdagradOptions{}.lr,
                   AdadeltaOptions{}.lr, MuonOptions{}.lr} == std::array{1e-3, 1e-3, 1e-3, 1e-2, 1e-2, 1., 1e-3});
  CHECK(AdagradOptions{}.eps == 1e-10);
  CHECK(MuonOptions{}.eps == 1e-7);
  CHECK(LionOptions{}.lr == 1e-4);  // Chen et al. 2023
  const LbfgsOptions lbfgs;
  CHECK(std::array{lbfgs.lr, lbfgs.tolerance_grad, lbfgs.tolerance_change} == std::array{1., 1e-7, 1e-9});
  CHECK(lbfgs.max_iter == 20);
  CHECK(!lbfgs.max_eval);
  CHECK(lbfgs.history_size == 100);
  CHECK(lbfgs.line_search_fn == LineSearch::none);
  CHECK(!lbfgs.maximize);
  CHECK(ClipOptions{}.norm_type == 2);
  CHECK(std::array{StepReport{}.updated, StepReport{}.skipped, LbfgsReport{}.iterations, LbfgsReport{}.evaluations} ==
        std::array<std::int64_t, 4>{});
  CHECK(LbfgsReport{}.loss == 0);
  CHECK(Audit{}.passes == 0);
  CHECK(!Audit{}.at_rest);
  CHECK(MovingAverageOptions{}.decay == 0.999);
}

TEST_CASE("Schedules without options are as their headers say, and the paper's") {
  const auto cosine = schedule::cosine({});
  CHECK(cosine.lr(250, 1) == doctest::Approx((1 + std::sqrt(0.5)) / 2));
  CHECK(std::abs(cosine.lr(1000, 1)) < 1e-12);
  const auto noam = schedule::noam({});
  CHECK(noam.lr(3999, 1) == doctest::Approx(1 / std::sqrt(512. * 4000)).scale(0));
  CHECK(noam.lr(0, 1) == doctest::Approx(1 / std::sqrt(512.) / std::pow(4000, 1.5)).scale(0));
}

}  // namespace
}  // namespace xgrad::testing
