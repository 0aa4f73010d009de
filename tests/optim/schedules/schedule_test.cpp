// Schedules against their formulas and PyTorch's lists, and the holder.
#include "../support.h"

#include <cmath>
#include <limits>
#include <memory>
#include <stdexcept>

namespace xgrad::testing {
namespace {

void check_rates(const optim::Schedule& schedule, const std::vector<double>& expected) {
  for (std::size_t t = 0; t < expected.size(); ++t) {
    CHECK(schedule.lr(static_cast<std::int64_t>(t)) == doctest::Approx(expected[t]).epsilon(1e-12));
  }
}

TEST_CASE("Schedules follow PyTorch's") {
  check_rates(optim::constant(0.5), {0.5, 0.5});
  check_rates(optim::step_decay({.lr = 0.5, .every = 2}), {0.5, 0.5, 0.05, 0.05, 0.005, 0.005});
  check_rates(optim::cosine({.lr = 0.5, .min_lr = 0.1, .steps = 5}),
              {0.5, 0.46180339887498956, 0.3618033988749896, 0.2381966011250106, 0.13819660112501056, 0.1, 0.1, 0.1});
}

TEST_CASE("Noam rises to its peak at the end of the warm-up and falls with the root of the step") {
  const auto noam = optim::noam({.width = 512, .warmup = 4000});
  CHECK(noam.lr(0) == doctest::Approx(1 / std::sqrt(512.0) / std::pow(4000.0, 1.5)));
  CHECK(noam.lr(3999) == doctest::Approx(1 / std::sqrt(512.0 * 4000)));
  CHECK(noam.lr(15999) == doctest::Approx(noam.lr(3999) / 2));
}

TEST_CASE("Warm-up is a line to the first rate of what follows") {
  check_rates(optim::warmup(4, optim::constant(1)), {0.25, 0.5, 0.75, 1, 1, 1});
  check_rates(optim::warmup(2, optim::cosine({.lr = 1, .steps = 2})), {0.5, 1, 1, 0.5, 0, 0});
}

TEST_CASE("The scheduler sets the rates of all groups, in proportion to the first's") {
  const Tensor a = variable(1), b = variable(1);
  optim::SGD sgd{std::vector<optim::SGD::Group>{{{a}, {.lr = 1e-3}}, {{b}, {.lr = 3e-3}}}};
  optim::Scheduler scheduler{sgd, optim::warmup(2, optim::constant(0.5))};
  CHECK(sgd.lr(0) == 0.25);
  CHECK(sgd.lr(1) == doctest::Approx(0.75));
  scheduler.step();
  CHECK(scheduler.lr() == 0.5);
  CHECK(sgd.lr(0) == 0.5);
  CHECK(sgd.lr(1) == doctest::Approx(1.5));
  CHECK(scheduler.steps() == 1);
}

TEST_CASE("Schedules refuse bad settings") {
  CHECK(error_of<ValueError>([] { optim::constant(-1); }) == "constant: lr -1 is negative or not finite");
  CHECK(error_of<ValueError>([] { optim::step_decay({.every = 0}); }) == "step_decay: every 0 is not positive");
  CHECK(error_of<ValueError>([] { optim::cosine({.lr = std::nan("")}); }) ==
        "cosine: lr nan is negative or not finite");
  CHECK(error_of<ValueError>([] { optim::noam({.warmup = 0}); }) == "noam: warmup 0 is not positive");
  CHECK(error_of<ValueError>([] { optim::warmup(0, optim::constant(1)); }) == "warmup: steps 0 is not positive");
  CHECK(error_of<ValueError>([] { optim::Schedule(std::function<double(std::int64_t)>()); }) ==
        "schedule: the function is empty");
  CHECK_THROWS_AS(optim::Schedule(static_cast<double (*)(std::int64_t)>(nullptr)), ValueError);
  optim::SGD sgd{std::vector<optim::SGD::Group>{{{variable(1)}, {.lr = 0}}, {{variable(1)}, {.lr = 1}}}};
  CHECK(error_of<ValueError>([&] { optim::Scheduler(sgd, optim::constant(1)); }) ==
        "scheduler: lr 1 of group 1 has no proportion to lr 0 of the first");
  optim::SGD other{{variable(1)}};
  optim::Scheduler scheduler{other, optim::constant(1)};
  CHECK(error_of<FormatError>([&] {
          scheduler.load_state_dict({.arrays = {{"steps", Index({}, -1)}}, .metadata = {}});
        }) == "load_state_dict: a scheduler cannot have made -1 steps");
}

TEST_CASE("The further schedules refuse bad settings by name") {
  const auto refusal = [](const auto& make) { return error_of<ValueError>(make); };
  CHECK(refusal([] { optim::constant({.lr = -1}); }) == "constant: lr -1 is negative or not finite");
  CHECK(refusal([] { optim::constant({.factor = -1}); }) == "constant: factor -1 is negative or not finite");
  CHECK(refusal([] { optim::constant({.total_iters = 0}); }) == "constant: total_iters 0 is not positive");
  CHECK(refusal([] { optim::linear({.start_factor = -1}); }) == "linear: start_factor -1 is negative or not finite");
  CHECK(refusal([] { optim::linear({.end_factor = std::nan("")}); }) ==
        "linear: end_factor nan is negative or not finite");
  CHECK(refusal([] { optim::linear({.total_iters = -3}); }) == "linear: total_iters -3 is not positive");
  CHECK(refusal([] { optim::polynomial({.power = -1}); }) == "polynomial: power -1 is negative or not finite");
  CHECK(refusal([] { optim::polynomial({.total_iters = 0}); }) == "polynomial: total_iters 0 is not positive");
  CHECK(refusal([] { optim::exponential({.gamma = -1}); }) == "exponential: gamma -1 is negative or not finite");
  CHECK(refusal([] {
          optim::multi_step({.milestones = {5, 3}});
        }) == "multi_step: milestones [5, 3] do not rise from 0 on");
  CHECK(refusal([] {
          optim::multi_step({.milestones = {-1, 3}});
        }) == "multi_step: milestones [-1, 3] do not rise from 0 on");
  CHECK(refusal([] { optim::multi_step({}); }) == "multi_step: there are no milestones");
  CHECK(refusal([] { optim::cosine_warm_restarts({.steps = 0}); }) == "cosine_warm_restarts: steps 0 is not positive");
  CHECK(refusal([] { optim::cosine_warm_restarts({.growth = 0}); }) ==
        "cosine_warm_restarts: growth 0 is not positive");
  CHECK(refusal([] { optim::one_cycle({.max_lr = -1}); }) == "one_cycle: max_lr -1 is negative or not finite");
  CHECK(refusal([] { optim::one_cycle({.total_steps = 0}); }) == "one_cycle: total_steps 0 is not positive");
  CHECK(refusal([] { optim::one_cycle({.pct_start = 1.5}); }) == "one_cycle: pct_start 1.5 is not in [0, 1]");
  CHECK(refusal([] { optim::one_cycle({.div_factor = 0}); }) == "one_cycle: div_factor 0 is not positive and finite");
  CHECK(refusal([] { optim::one_cycle({.final_div_factor = -1}); }) ==
        "one_cycle: final_div_factor -1 is not positive and finite");
  CHECK(refusal([] { optim::one_cycle({.total_steps = 10, .pct_start = 0.1}); }) ==
        "one_cycle: pct_start 0.1 of 10 steps leaves no step for one of the phases");
  CHECK(refusal([] { optim::one_cycle({.total_steps = 10, .pct_start = 0.6, .three_phase = true}); }) ==
        "one_cycle: pct_start 0.6 of 10 steps leaves no step for one of the phases");
  CHECK(refusal([] { optim::lambda(-1, optim::constant(1)); }) == "lambda: lr -1 is negative or not finite");
  CHECK(refusal([] { optim::chained({}); }) == "chained: there are no schedules");
  CHECK(refusal([] { optim::sequential({optim::constant(1)}, {3}); }) == "sequential: 1 milestones for 1 schedules");
  CHECK(refusal([] {
          optim::sequential({optim::constant(1), optim::constant(1), optim::constant(1)}, {3, 3});
        }) == "sequential: milestones [3, 3] do not rise from above 0");
}

TEST_CASE("Schedules say what comes after their end, and after any number of steps") {
  CHECK(optim::polynomial({.lr = 1, .total_iters = 4, .power = 0}).lr(4) == 0);
  CHECK(optim::one_cycle({.max_lr = 1, .total_steps = 20}).lr(1'000'000) == doctest::Approx(1 / 25. / 1e4));
  const auto restarts = optim::cosine_warm_restarts({.lr = 1, .steps = 3, .growth = 2});
  CHECK(restarts.lr(3 + 6) == 1);
  CHECK(std::isfinite(restarts.lr(std::numeric_limits<std::int64_t>::max())));
  CHECK(optim::cosine_warm_restarts({.lr = 1, .steps = 7}).lr(7'000'000'000'000) == 1);
}

TEST_CASE("ReduceOnPlateau keeps count over a checkpoint, of all groups, and refuses bad settings") {
  const auto make = [] {
    return std::vector<optim::SGD::Group>{{{variable(1)}, {.lr = 1}}, {{variable(1)}, {.lr = 0.5}}};
  };
  optim::SGD sgd{make()}, other{make()};
  optim::ReduceOnPlateau plateau{sgd, {.patience = 2, .min_lr = 0.2}}, resumed{other, {.patience = 2, .min_lr = 0.2}};
  resumed.load_state_dict(plateau.state_dict());  // the best figure so far is infinite
  for (const double figure : {3., 2., 2.}) CHECK(!plateau.step(figure));
  CHECK(error_of<NumericError>([&] { plateau.step(std::nan("")); }) == "reduce_on_plateau: the figure is NaN");
  CHECK(plateau.bad_steps() == 1);
  CHECK(plateau.best() == 2);
  resumed.load_state_dict(plateau.state_dict());
  for (optim::ReduceOnPlateau* each : {&plateau, &resumed}) {
    CHECK(!each->step(std::numeric_limits<double>::infinity()));
    CHECK(each->step(2));
  }
  CHECK(sgd.lr(0) == 0.2);
  CHECK(other.lr(1) == 0.2);

  const auto refusal = [&](const optim::PlateauOptions& options) {
    return error_of<ValueError>([&] { optim::ReduceOnPlateau(sgd, options); });
  };
  CHECK(refusal({.factor = 1}) == "reduce_on_plateau: factor 1 is not in [0, 1)");
  CHECK(refusal({.patience = -1}) == "reduce_on_plateau: patience -1 is negative");
  CHECK(refusal({.threshold = -1}) == "reduce_on_plateau: threshold -1 is negative or not finite");
  CHECK(refusal({.cooldown = -1}) == "reduce_on_plateau: cooldown -1 is negative");
  CHECK(refusal({.min_lr = -1}) == "reduce_on_plateau: min_lr -1 is negative or not finite");
  CHECK(refusal({.eps = -1}) == "reduce_on_plateau: eps -1 is negative or not finite");
  StateFile state = plateau.state_dict();
  state.metadata["best"] = "nan";
  CHECK(error_of<FormatError>([&] { plateau.load_state_dict(state); }) == "load_state_dict: the best figure is NaN");
  state.metadata["best"] = "1";
  state.arrays["cooldown_counter"] = Index({}, -1);
  CHECK(error_of<FormatError>([&] { plateau.load_state_dict(state); }) ==
        "load_state_dict: reduce_on_plateau cannot have seen -1 steps");
  CHECK(plateau.best() == 2);
}

TEST_CASE("A scheduler whose schedule throws, or gives no rate for some group, stays where it was") {
  optim::SGD sgd{std::vector<optim::SGD::Group>{{{variable(1)}, {.lr = 1}}, {{variable(1)}, {.lr = 100}}}};
  optim::Scheduler scheduler{sgd, [](std::int64_t step) {
                               if (step == 1) throw std::runtime_error("no such step");
                               return step == 2 ? 1e307 : step == 3 ? -1. : 0.5;
                             }};
  const auto unchanged = [&](std::int64_t steps) {
    return scheduler.steps() == steps && sgd.lr(0) == 0.5 && sgd.lr(1) == 50;
  };
  CHECK_THROWS_AS(scheduler.step(), std::runtime_error);
  CHECK(unchanged(0));
  for (const std::int64_t bad : {2, 3}) {  // the second group's rate is infinite, both are negative
    CHECK_THROWS_AS(scheduler.load_state_dict({.arrays = {{"steps", Index({}, bad)}}, .metadata = {}}), ValueError);
    CHECK(unchanged(0));
  }
  scheduler.load_state_dict({.arrays = {{"steps", Index({}, 4)}}, .metadata = {}});
  CHECK(unchanged(4));
  scheduler.step();
  CHECK(unchanged(5));
}

TEST_CASE("A scheduler's state with an impossible count is refused") {
  optim::SGD sgd{{variable(1)}};
  optim::Scheduler scheduler{sgd, optim::cosine({.lr = 1, .steps = 10})};
  scheduler.step();
  const std::int64_t most = std::int64_t{1} << 53;
  for (const AnyArray& bad :
       {AnyArray(Index({}, std::numeric_limits<std::int64_t>::max())), AnyArray(Index({}, most + 1)),
        AnyArray(Index({}, std::numeric_limits<std::int64_t>::min())), AnyArray(Index({2}, 1)),
        AnyArray(Index(Shape{0})), AnyArray(Array({}, Real(3)))}) {
    CHECK_THROWS_AS(scheduler.load_state_dict({.arrays = {{"steps", bad}}, .metadata = {}}), FormatError);
    CHECK(scheduler.steps() == 1);
  }
  scheduler.load_state_dict({.arrays = {{"steps", Index({}, most)}}, .metadata = {}});
  CHECK(scheduler.lr() == 0);
  scheduler.step();
  CHECK(scheduler.lr() == 0);
}

TEST_CASE("A schedule without a rate begins with the optimizer's own, group by group") {
  const auto groups = [] {
    return std::vector<optim::SGD::Group>{
        {{variable(1)}, {.lr = 0.1}}, {{variable(1)}, {.lr = 0}}, {{variable(1)}, {.lr = 0.4}}};
  };
  const auto check = [&](const optim::Schedule& schedule, int steps, double factor) {
    optim::SGD sgd{groups()};
    optim::Scheduler scheduler{sgd, schedule};
    for (int i = 0; i < steps; ++i) scheduler.step();
    CHECK(sgd.lr(0) == doctest::Approx(0.1 * factor).epsilon(1e-12));
    CHECK(sgd.lr(1) == 0);
    CHECK(sgd.lr(2) == doctest::Approx(0.4 * factor).epsilon(1e-12));
    CHECK(scheduler.lr() == sgd.lr());
  };
  check(optim::step_decay({.every = 30}), 0, 1);
  check(optim::step_decay({.every = 30}), 61, 0.01);
  check(optim::constant({.factor = 0.25}), 1, 0.25);
  check(optim::linear({.start_factor = 0.5, .total_iters = 4}), 2, 0.75);
  check(optim::polynomial({.total_iters = 4}), 1, 0.75);
  check(optim::exponential({.gamma = 0.5}), 3, 0.125);
  check(optim::multi_step({.milestones = {2}, .gamma = 0.5}), 2, 0.5);
  check(optim::cosine({.steps = 10}), 5, 0.5);
  check(optim::cosine_warm_restarts({.steps = 10}), 15, 0.5);
  check(optim::warmup(4, optim::cosine({.steps = 10})), 1, 0.5);
  check(optim::one_cycle({.total_steps = 10}), 2, 1);
  check(optim::lambda({}, [](std::int64_t step) { return step == 3 ? 0.5 : 1; }), 3, 0.5);
  check(optim::chained({optim::exponential({.gamma = 0.5}), optim::step_decay({.every = 1})}), 2, 0.0025);
  check(optim::sequential({optim::constant({.total_iters = 9}), optim::exponential({.gamma = 0.5})}, {2}), 3, 0.5);
}

TEST_CASE("A schedule without a rate needs an optimizer's, and mixes with none that has a rate") {
  const auto relative = optim::exponential({.gamma = 0.5});
  CHECK(relative.relative());
  CHECK(!optim::exponential({.lr = 1}).relative());
  CHECK(relative.lr(2, 0.8) == doctest::Approx(0.2));
  CHECK(error_of<ValueError>([&] { relative.lr(2); }) ==
        "schedule: made without a rate: it needs an optimizer's, lr(step, own)");
  CHECK(error_of<ValueError>([&] {
          optim::sequential({relative, optim::constant(1)}, {3});
        }) == "sequential: needs a rate of all schedules or of none");
}

TEST_CASE("A schedule without a rate resumes from the rates that a run began with") {
  const auto make = [] {
    return std::make_unique<optim::SGD>(Tensors{variable(1, "x")}, optim::SgdOptions{.lr = 0.1});
  };
  const auto one = make(), other = make();
  optim::Scheduler scheduler{*one, optim::exponential({.gamma = 0.5})};
  scheduler.step();
  other->load_state_dict(one->state_dict());  // its rate is 0.05 now, before there is a scheduler
  optim::Scheduler resumed{*other, optim::exponential({.gamma = 0.5})};
  resumed.load_state_dict(scheduler.state_dict());
  resumed.step();
  scheduler.step();
  CHECK(other->lr() == one->lr());
  StateFile wrong = scheduler.state_dict();
  wrong.metadata["begin.0"] = "-1";
  CHECK(error_of<FormatError>([&] { resumed.load_state_dict(wrong); }) == "load_state_dict: -1 is no learning rate");
  CHECK(other->lr() == one->lr());
}

}  // namespace
}  // namespace xgrad::testing
