// RMSprop, Adagrad, Adadelta, Adafactor, NAdam, RAdam, Lion: what fixtures do not show. Their steps are held against
// PyTorch's in optimizer_fixtures_test.cpp.
#include "../support.h"

#include <cmath>
#include <limits>

namespace xgrad::testing {
namespace {

template <class Optimizer>
std::string refusal(const typename Optimizer::Options& options) {
  return error_of<ValueError>([&] { Optimizer({variable(1)}, options); });
}

TEST_CASE("Every optimizer refuses options outside their range by name") {
  CHECK(refusal<optim::RMSprop>({.lr = -1}) == "rmsprop: lr -1 is negative or not finite");
  CHECK(refusal<optim::RMSprop>({.alpha = 1}) == "rmsprop: alpha 1 is not in [0, 1)");
  CHECK(refusal<optim::RMSprop>({.eps = -1}) == "rmsprop: eps -1 is negative or not finite");
  CHECK(refusal<optim::RMSprop>({.weight_decay = -2}) == "rmsprop: weight_decay -2 is negative or not finite");
  CHECK(refusal<optim::RMSprop>({.momentum = -0.5}) == "rmsprop: momentum -0.5 is negative or not finite");
  CHECK(refusal<optim::Adagrad>({.lr_decay = -1}) == "adagrad: lr_decay -1 is negative or not finite");
  CHECK(refusal<optim::Adagrad>({.weight_decay = -1}) == "adagrad: weight_decay -1 is negative or not finite");
  CHECK(refusal<optim::Adagrad>({.initial_accumulator_value = -1}) ==
        "adagrad: initial_accumulator_value -1 is negative or not finite");
  CHECK(refusal<optim::Adagrad>({.eps = std::nan("")}) == "adagrad: eps nan is negative or not finite");
  CHECK(refusal<optim::Adadelta>({.rho = -0.1}) == "adadelta: rho -0.1 is not in [0, 1)");
  CHECK(refusal<optim::Adadelta>({.eps = -1}) == "adadelta: eps -1 is negative or not finite");
  CHECK(refusal<optim::Adadelta>({.weight_decay = -1}) == "adadelta: weight_decay -1 is negative or not finite");
  CHECK(refusal<optim::NAdam>({.betas = {1, 0.9}}) == "nadam: betas[0] 1 is not in [0, 1)");
  CHECK(refusal<optim::NAdam>({.momentum_decay = -1}) == "nadam: momentum_decay -1 is negative or not finite");
  CHECK(refusal<optim::RAdam>({.betas = {0.9, 1.5}}) == "radam: betas[1] 1.5 is not in [0, 1)");
  CHECK(refusal<optim::RAdam>({.weight_decay = -1}) == "radam: weight_decay -1 is negative or not finite");
  CHECK(refusal<optim::Adamax>({.betas = {0.9, 1}}) == "adamax: betas[1] 1 is not in [0, 1)");
  CHECK(refusal<optim::ASGD>({.lambd = -1}) == "asgd: lambd -1 is negative or not finite");
  CHECK(refusal<optim::ASGD>({.t0 = -1}) == "asgd: t0 -1 is negative or not finite");
  CHECK(refusal<optim::Rprop>({.etas = {1, 1.2}}) == "rprop: etas 1 and 1.2 are not below and above 1");
  CHECK(refusal<optim::Rprop>({.step_sizes = {1, 0.5}}) == "rprop: step_sizes from 1 to 0.5");
  CHECK(refusal<optim::Lion>({.betas = {0.9, -1}}) == "lion: betas[1] -1 is not in [0, 1)");
  CHECK(refusal<optim::Adafactor>({.beta2_decay = 0.1}) == "adafactor: beta2_decay 0.1 is positive or not finite");
  CHECK(refusal<optim::Adafactor>({.eps = {1, -1}}) == "adafactor: eps[1] -1 is negative or not finite");
  CHECK(refusal<optim::Adafactor>({.d = 0.5}) == "adafactor: d 0.5 is below 1 or not finite");
  CHECK(refusal<optim::Lion>({.weight_decay = -1}) == "lion: weight_decay -1 is negative or not finite");
}

// Calls check(make) for each kind; make(parameters) gives an optimizer with rate 0.5.
template <class Check>
void for_each_kind(const Check& check) {
  const auto one = [&]<class Optimizer>(const char* name, std::type_identity<Optimizer>) {
    CAPTURE(name);
    check([](const Tensors& parameters) {
      return std::make_unique<Optimizer>(parameters, typename Optimizer::Options{.lr = 0.5});
    });
  };
  one("rmsprop", std::type_identity<optim::RMSprop>());
  one("adagrad", std::type_identity<optim::Adagrad>());
  one("adadelta", std::type_identity<optim::Adadelta>());
  one("adafactor", std::type_identity<optim::Adafactor>());
  one("nadam", std::type_identity<optim::NAdam>());
  one("radam", std::type_identity<optim::RAdam>());
  one("lion", std::type_identity<optim::Lion>());
  one("adamax", std::type_identity<optim::Adamax>());
  one("asgd", std::type_identity<optim::ASGD>());
  one("rprop", std::type_identity<optim::Rprop>());
}

TEST_CASE("A gradient that is not finite makes the parameter NaN, whichever the optimizer") {
  for (const Real bad : {std::numeric_limits<Real>::infinity(), -std::numeric_limits<Real>::infinity(),
                         std::numeric_limits<Real>::quiet_NaN()}) {
    for_each_kind([&](const auto& make) {
      const Tensor x = variable(Array({3}, Real(1)));
      make({x})->step({Array({3}, {1, bad, 1})});
      CHECK(std::isfinite(x.value().at({0})));
      CHECK(std::isnan(x.value().at({1})));
    });
  }
}

TEST_CASE("A gradient whose square overflows leaves finite numbers behind, whichever the optimizer") {
  for_each_kind([&](const auto& make) {
    const Tensor x = variable(Array({1}, Real(0)), "x");
    const auto optimizer = make({x});
    for (int t = 0; t < 8; ++t) optimizer->step({Array({1}, std::numeric_limits<Real>::max() / 4)});
    CHECK(std::isfinite(x.item()));
    CHECK(x.item() < 0);
    CHECK_NOTHROW(optimizer->load_state_dict(optimizer->state_dict()));  // which refuses numbers that are not finite
  });
}

TEST_CASE("A number's step does not depend on where in the array it stands, whichever the optimizer") {
  for_each_kind([&](const auto& make) {
    for (const std::int64_t n : {1, 7, 16, 17, 33}) {
      const Tensor x = variable(Array({n}, Real(0.3)));
      const auto optimizer = make({x});
      for (int t = 0; t < 3; ++t) optimizer->step({Array({n}, Real(0.7))});
      for (const Real value : x.value()) CHECK(value == x.value().data()[0]);
    }
  });
}

TEST_CASE("Lion moves every number by lr, and not where its average is 0") {
  const Tensor x = variable(Array({4}, Real(0)));
  optim::Lion lion{{x}, {.lr = 0.25}};
  lion.step({Array({4}, {1e-30, -1e30, 0, 3})});
  CHECK(equal(x.value(), Array({4}, {-0.25, 0.25, 0, -0.25})));
}

TEST_CASE("ASGD averages its way from t0 on, and goes on from a saved state") {
  const auto way = [](bool saved) {
    const Tensor x = variable(Array({2}, {1, -1}), "x");
    const optim::AsgdOptions options{.lr = 0.1, .lambd = 0.2, .t0 = 2};
    optim::ASGD first{{x}, options}, second{{x}, options};
    for (int t = 0; t < 3; ++t) first.step({x});
    optim::Optimizer& next = saved ? second : first;
    if (saved) second.load_state_dict(first.state_dict());
    for (int t = 0; t < 4; ++t) next.step({x});
    const StateFile state = next.state_dict();
    return std::vector<Array>{x.value(), state.get<Array>("x.ax")};
  };
  const std::vector<Array> values = way(false), resumed = way(true);
  CHECK(equal(values[0], resumed[0]));
  CHECK(equal(values[1], resumed[1]));
  CHECK(values[1].at({0}) > values[0].at({0}));  // of a way that falls to 0 the mean is behind
}

TEST_CASE("Rprop's steps grow where the sign stays, and are halved without a move where it turns") {
  const Tensor x = variable(Array({1}, Real(0)));
  optim::Rprop rprop{{x}, {.lr = 1}};
  rprop.step({Array({1}, Real(3))});
  CHECK(x.item() == -1);
  rprop.step({Array({1}, Real(0.001))});
  CHECK(x.item() == doctest::Approx(-2.2));
  rprop.step({Array({1}, Real(-5))});
  CHECK(x.item() == doctest::Approx(-2.2));
  rprop.step({Array({1}, Real(-5))});
  CHECK(x.item() == doctest::Approx(-1.6));
}

TEST_CASE("Centered RMSprop stays finite where gradients hardly vary and rounding makes their variance negative") {
  const Tensor x = variable(Array({1000}, Real(0)));
  const Array g = normal({1000});
  optim::RMSprop rmsprop{{x}, {.lr = 1e-12, .alpha = 0.7, .centered = true}};
  for (int t = 0; t < 150; ++t) rmsprop.step({g});
  for (const Real value : x.value()) CHECK(std::isfinite(value));
}

TEST_CASE("RAdam's first steps are those of momentum, until enough squares have been seen") {
  const Tensor x = variable(Array({2}, Real(0)));
  optim::RAdam radam{{x}, {.lr = 1}};
  for (int t = 1; t <= 5; ++t) {  // r > 5 from the sixth step on
    radam.step({Array({2}, {2, -3})});
    check_close(x.value(), Array({2}, {-2. * t, 3. * t}));
  }
  radam.step({Array({2}, {2, -3})});
  CHECK(x.value().at({0}) > -10.1);
}

TEST_CASE("Adafactor remembers a row and a column of each matrix, and leaves what is empty alone") {
  const Tensor x = variable(normal({2, 3, 4}), "x"), bias = variable(normal({5}), "bias"),
               empty = variable(Array(Shape{0, 2}), "empty");
  optim::Adafactor adafactor{{x, bias, empty}};
  adafactor.step({Array(normal({2, 3, 4}, 2)), Array(normal({5}, 3)), Array(Shape{0, 2})});
  const StateFile state = adafactor.state_dict();
  CHECK(state.get<Array>("x.row_var").shape() == Shape{2, 3, 1});
  CHECK(state.get<Array>("x.col_var").shape() == Shape{2, 1, 4});
  CHECK(state.get<Array>("x.variance").size() == 0);
  CHECK(state.get<Array>("bias.variance").shape() == Shape{5});
  CHECK(state.get<Array>("bias.row_var").size() == 0);
}

TEST_CASE("With amsgrad, a large gradient is remembered for good") {
  const auto last_step = [](bool amsgrad) {
    const Tensor x = variable(Array({1}, Real(0)));
    optim::Adam adam{{x}, {.lr = 1, .betas = {0.5, 0.5}, .amsgrad = amsgrad}};
    adam.step({Array({1}, Real(1000))});
    for (int t = 0; t < 60; ++t) adam.step({Array({1}, Real(1))});
    const Real before = x.item();
    adam.step({Array({1}, Real(1))});
    return before - x.item();
  };
  CHECK(last_step(false) == doctest::Approx(1));
  CHECK(last_step(true) == doctest::Approx(1 / std::sqrt(5e5)));
}

}  // namespace
}  // namespace xgrad::testing
