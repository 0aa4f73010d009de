// Schedules against their formulas and PyTorch's lists, and the holder.
#include "support.h"

#include <cmath>
#include <limits>
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
  CHECK(error_of<ValueError>([] { optim::constant(-1); }) == "constant: lr must be finite and not negative, got -1");
  CHECK(error_of<ValueError>([] { optim::step_decay({.every = 0}); }) == "step_decay: every must be at least 1, got 0");
  CHECK(error_of<ValueError>([] { optim::cosine({.lr = std::nan("")}); }) ==
        "cosine: lr must be finite and not negative, got nan");
  CHECK(error_of<ValueError>([] { optim::noam({.warmup = 0}); }) == "noam: warmup must be at least 1, got 0");
  CHECK(error_of<ValueError>([] { optim::warmup(0, optim::constant(1)); }) ==
        "warmup: steps must be at least 1, got 0");
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

}  // namespace
}  // namespace xgrad::testing
