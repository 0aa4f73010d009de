// What optimizers and schedules do without options: the defaults of PyTorch's documentation, of papers where it has
// none.
#include "support.h"

#include <array>
#include <cmath>

#include <xgrad/optim/optim.h>

namespace xgrad::testing {
namespace {

using namespace optim;
using Pair = std::array<double, 2>;

TEST_CASE("Optimizers without options are PyTorch's") {
  const SgdOptions sgd;
  CHECK(std::array{sgd.lr, sgd.momentum, sgd.dampening, sgd.weight_decay} == std::array{1e-3, 0., 0., 0.});
  CHECK(!sgd.nesterov);
  CHECK(!sgd.maximize);
  const AdamOptions adam;
  CHECK(std::array{adam.lr, adam.eps, adam.weight_decay} == std::array{1e-3, 1e-8, 0.});
  CHECK(adam.betas == Pair{0.9, 0.999});
  CHECK(!adam.amsgrad);
  CHECK(!adam.maximize);
  const AdamWOptions adamw;
  CHECK(std::array{adamw.lr, adamw.eps, adamw.weight_decay} == std::array{1e-3, 1e-8, 1e-2});
  CHECK(adamw.betas == Pair{0.9, 0.999});
  CHECK(!adamw.amsgrad);
  CHECK(!adamw.maximize);
  const RmspropOptions rmsprop;
  CHECK(std::array{rmsprop.lr, rmsprop.alpha, rmsprop.eps, rmsprop.weight_decay, rmsprop.momentum} ==
        std::array{1e-2, 0.99, 1e-8, 0., 0.});
  CHECK(!rmsprop.centered);
  CHECK(!rmsprop.maximize);
  const AdagradOptions adagrad;
  CHECK(std::array{adagrad.lr, adagrad.lr_decay, adagrad.weight_decay, adagrad.initial_accumulator_value,
                   adagrad.eps} == std::array{1e-2, 0., 0., 0., 1e-10});
  CHECK(!adagrad.maximize);
  const AdadeltaOptions adadelta;
  CHECK(std::array{adadelta.lr, adadelta.rho, adadelta.eps, adadelta.weight_decay} == std::array{1., 0.9, 1e-6, 0.});
  CHECK(!adadelta.maximize);
  const LionOptions lion;  // Chen et al. 2023
  CHECK(std::array{lion.lr, lion.weight_decay} == std::array{1e-4, 0.});
  CHECK(lion.betas == Pair{0.9, 0.99});
  CHECK(!lion.maximize);
  const MuonOptions muon;
  CHECK(std::array{muon.lr, muon.weight_decay, muon.momentum, muon.eps} == std::array{1e-3, 0.1, 0.95, 1e-7});
  CHECK(muon.ns_coefficients == std::array{3.4445, -4.775, 2.0315});
  CHECK(muon.nesterov);
  CHECK(muon.ns_steps == 5);
  CHECK(muon.adjust_lr_fn == MuonRate::original);
  CHECK(!muon.maximize);
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

TEST_CASE("Schedules without options are PyTorch's, and the paper's") {
  const auto linear = schedule::linear({});
  CHECK(linear.lr(0, 3) == doctest::Approx(1));
  CHECK(linear.lr(1, 3) == doctest::Approx(1.4));
  CHECK(linear.lr(5, 3) == doctest::Approx(3));
  CHECK(linear.lr(6, 3) == doctest::Approx(3));
  const auto cosine = schedule::cosine({});
  CHECK(cosine.lr(250, 1) == doctest::Approx((1 + std::sqrt(0.5)) / 2));
  CHECK(std::abs(cosine.lr(1000, 1)) < 1e-12);
  const auto noam = schedule::noam({});
  CHECK(noam.lr(3999, 1) == doctest::Approx(1 / std::sqrt(512. * 4000)).scale(0));
  CHECK(noam.lr(0, 1) == doctest::Approx(1 / std::sqrt(512.) / std::pow(4000, 1.5)).scale(0));
  const auto warmup = schedule::warmup(4);
  CHECK(warmup.lr(0, 1) == 0.25);
  CHECK(warmup.lr(100, 1) == 1);
}

}  // namespace
}  // namespace xgrad::testing
