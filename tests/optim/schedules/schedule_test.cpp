// Schedules: what they refuse, and the holder. Their rates are held against PyTorch's in optimizer_fixtures_test.cpp.
#include "../support.h"

#include <cmath>
#include <limits>
#include <memory>
#include <stdexcept>

namespace xgrad::testing {
namespace {

namespace schedule = optim::schedule;

// Half the rate in each step.
const optim::Schedule halving = schedule::factor([](std::int64_t step) { return std::pow(0.5, double(step)); });

TEST_CASE("Schedules refuse bad settings by name") {
  const double nan = std::nan("");
  CHECK_REFUSED(ValueError, schedule::cosine({.min_lr = nan}), "cosine", "min_lr nan is negative or not finite");
  CHECK_REFUSED(ValueError, schedule::noam({.warmup = 0}), "noam", "warmup 0 is not positive");
  CHECK_REFUSED(ValueError, schedule::noam({.width = 0}), "noam", "width 0 is not positive");
  CHECK_REFUSED(ValueError, schedule::noam({.factor = -1}), "noam", "factor -1 is negative or not finite");
  CHECK_REFUSED(ValueError, schedule::cosine({.steps = 0}), "cosine", "steps 0 is not positive");
  CHECK_REFUSED(ValueError, halving.lr(-1, 1), "schedule", "step -1 is negative");
  CHECK_REFUSED(ValueError, schedule::warmup(0), "warmup", "steps 0 is not positive");
  CHECK_REFUSED(ValueError, (void)optim::Schedule(std::function<double(std::int64_t, double)>()), "schedule",
                "the function is empty");
  CHECK_REFUSED(ValueError, schedule::factor(std::function<double(std::int64_t)>()), "factor", "the function is empty");
  CHECK_REFUSED(ValueError, schedule::linear({.start_factor = -1}), "linear", "start_factor -1 is negative");
  CHECK_REFUSED(ValueError, schedule::linear({.end_factor = nan}), "linear", "end_factor nan", "not finite");
  CHECK_REFUSED(ValueError, schedule::linear({.total_iters = -3}), "linear", "total_iters -3 is not positive");
  CHECK_REFUSED(ValueError, schedule::sequential({halving}, {3}), "sequential", "1 milestones for 1 schedules");
  CHECK_REFUSED(ValueError, schedule::sequential({halving, halving, halving}, {3, 3}), "sequential",
                "milestones [3, 3] do not rise");
  CHECK_REFUSED(ValueError, schedule::sequential({halving, halving}, {0}), "sequential",
                "milestones [0] do not rise from above 0");
  CHECK(schedule::sequential({halving, halving}, {1}).lr(1, 8) == 8);
}

TEST_CASE("A schedule says what comes after its end, and after any number of steps") {
  CHECK(schedule::cosine({.min_lr = 0.1, .steps = 5}).lr(7, 0.5) == doctest::Approx(0.1));
  CHECK(schedule::warmup(2, schedule::cosine({.steps = 2})).lr(5, 1) == doctest::Approx(0));
}

TEST_CASE("A scheduler whose schedule throws, or gives no rate for some group, stays where it was") {
  optim::SGD sgd{std::vector<optim::SGD::Group>{{{variable(1)}, {.lr = 1}}, {{variable(1)}, {.lr = 100}}}};
  optim::Scheduler scheduler{sgd, schedule::factor([](std::int64_t step) {
                               if (step == 1) throw std::runtime_error("no such step");
                               return step == 2 ? 1e307 : step == 3 ? -1. : 0.5;
                             })};
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
  optim::Scheduler scheduler{sgd, schedule::cosine({.steps = 10})};
  scheduler.step();
  const std::int64_t most = std::int64_t{1} << 53;
  for (const AnyArray& bad :
       {AnyArray(Index({}, std::numeric_limits<std::int64_t>::max())), AnyArray(Index({}, most + 1)),
        AnyArray(Index({}, std::numeric_limits<std::int64_t>::min())), AnyArray(Index({2}, 1)),
        AnyArray(Index(Shape{0})), AnyArray(Array({}, Real(3)))}) {
    CHECK_THROWS_AS(scheduler.load_state_dict({.arrays = {{"steps", bad}}, .metadata = {}}), FormatError);
    CHECK(scheduler.steps() == 1);
  }
  CHECK_REFUSED(FormatError, scheduler.load_state_dict({.arrays = {{"steps", Index({}, -1)}}, .metadata = {}}),
                "load_state_dict", "a scheduler cannot have made -1 steps");
  scheduler.load_state_dict({.arrays = {{"steps", Index({}, most)}}, .metadata = {}});
  CHECK(scheduler.lr() == 0);
  scheduler.step();
  CHECK(scheduler.lr() == 0);
}

TEST_CASE("Schedules begin with the optimizer's rates, group by group") {
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
    CHECK(sgd.initial_lr(2) == 0.4);
    CHECK(scheduler.lr() == sgd.lr());
    CHECK(scheduler.steps() == steps);
  };
  check(schedule::linear({.start_factor = 0.5, .total_iters = 4}), 2, 0.75);
  check(schedule::cosine({.steps = 10}), 5, 0.5);
  check(schedule::warmup(4, schedule::cosine({.steps = 10})), 1, 0.5);
  check(schedule::factor([](std::int64_t step) { return step == 3 ? 0.5 : 1; }), 3, 0.5);
  check(schedule::sequential({schedule::linear({.end_factor = 2}), halving}, {2}), 3, 0.5);
  optim::SGD sgd{groups()};
  optim::Scheduler absolute{sgd, [](std::int64_t, double) { return 0.04; }};
  for (const int group : {0, 1, 2}) CHECK(sgd.lr(group) == doctest::Approx(0.04));
}

TEST_CASE("A second scheduler begins with the initial rates, and with those that were set") {
  optim::SGD sgd{{variable(1)}, {.lr = 0.8}};
  optim::Scheduler first{sgd, halving};
  first.step();
  CHECK(sgd.lr() == 0.4);
  CHECK(optim::Scheduler(sgd, schedule::warmup(1)).lr() == 0.8);
  CHECK(sgd.lr() == 0.8);
  sgd.set_lr(0.2);
  CHECK(optim::Scheduler(sgd, schedule::warmup(2)).lr() == 0.1);
  CHECK(sgd.initial_lr() == 0.2);
}

TEST_CASE("A schedule resumes from the rates that a run began with, and so does one of 0.1") {
  const auto make = [](double lr) {
    return std::make_unique<optim::SGD>(Tensors{variable(1, "x")}, optim::SgdOptions{.lr = lr});
  };
  const auto one = make(0.1);
  optim::Scheduler scheduler{*one, halving};
  scheduler.step();
  StateFile optimizer = one->state_dict(), state = scheduler.state_dict();
  scheduler.step();
  CHECK(one->lr() == 0.025);
  const auto check = [&](optim::SGD& other) {
    other.load_state_dict(optimizer);
    optim::Scheduler resumed{other, halving};
    resumed.load_state_dict(state);
    CHECK(other.lr() == 0.05);
    resumed.step();
    CHECK(other.lr() == 0.025);
  };
  check(*make(0.7));
  // The optimizer's state did not say them.
  optimizer.metadata.erase("initial_lr.0");
  check(*make(0.1));
  state.metadata["begin.0"] = "0.1";
  check(*make(0.7));
  for (const auto& [key, bad] : {std::pair("initial_lr.0", "inf"), {"lr.0", "-1"}}) {
    StateFile wrong = one->state_dict();
    wrong.metadata[key] = bad;
    CHECK_REFUSED(FormatError, one->load_state_dict(wrong), "load_state_dict",
                  str("\"", bad, "\" is no learning rate"));
  }
  state.metadata["begin.0"] = "-1";
  CHECK_REFUSED(FormatError, scheduler.load_state_dict(state), "load_state_dict", "\"-1\" is no learning rate");
  CHECK(one->lr() == 0.025);
  CHECK(one->initial_lr() == 0.1);
}

}  // namespace
}  // namespace xgrad::testing
