// The range test: a curve that is known in closed form, its suggestion, and that everything is restored.
#include "../support.h"

#include <cmath>
#include <limits>
#include <stdexcept>

#include <xgrad/nn/layers/dropout.h>
#include <xgrad/nn/layers/linear.h>
#include <xgrad/nn/layers/norm.h>
#include <xgrad/ops/ops.h>

namespace xgrad::testing {
namespace {

TEST_CASE("The curve of the range test on a parabola is the one in closed form, and its suggestion trains") {
  const Tensor x = variable(3, "x");
  optim::SGD sgd{{x}, {.lr = 0.125}};
  const auto loss = [&] { return 2 * square(x); };  // steps: x <- (1 - 4 lr) x; diverges beyond lr = 0.5
  const optim::LearningRateOptions options{.start_lr = 1e-4, .end_lr = 100, .num_iter = 61, .smoothing = 0};
  const auto report = optim::find_learning_rate(loss, sgd, options);
  double at = 3;
  for (std::size_t i = 0; i < report.rates.size(); ++i) {
    CHECK(report.rates[i] == doctest::Approx(1e-4 * std::pow(10, static_cast<double>(i) / 10)));
    CHECK(report.losses[i] == doctest::Approx(2 * at * at));
    CHECK(report.means[i] == doctest::Approx(report.losses[i]));
    at *= 1 - 4 * report.rates[i];
  }
  CHECK(report.rates.size() < 61);  // it saw that the loss diverges
  REQUIRE(report.suggestion);
  CHECK(*report.suggestion > 0.01);
  CHECK(*report.suggestion < 0.5);
  CHECK(to_string(report).starts_with("find_learning_rate: "));
  CHECK(x.item() == 3);
  CHECK(sgd.lr() == 0.125);
  sgd.set_lr(*report.suggestion);
  for (int step = 0; step < 100; ++step) sgd.step(grad(loss(), {x}));
  CHECK(std::abs(x.item()) < 0.1);
}

struct Net : nn::Module {
  nn::Linear in{at("in"), 3, 4};
  nn::BatchNorm1d norm{at("norm"), 4};
  nn::Dropout dropout{at("dropout"), 0.5};
  nn::Linear out{at("out"), 4, 1};
  Tensor operator()(const Tensor& x) const { return out(dropout(norm(in(x)))); }
};

TEST_CASE("After the range test training goes on as if it had not been, also when the loss throws") {
  const Tensor x(normal({8, 3}, 3)), y(normal({8, 1}, 4));
  const auto trained = [&](int test) {
    manual_seed(1);
    const Net net;
    optim::Adam adam{net.parameters(), {.lr = 0.01}};
    const auto loss = [&] { return mse_loss(net(x), y); };
    for (int step = 0; step < 6; ++step) {
      if (step == 3 && test == 1) optim::find_learning_rate(loss, adam, {.num_iter = 20, .buffers = net.buffers()});
      if (step == 3 && test == 2) {
        int calls = 0;
        const auto failing = [&] { return ++calls < 5 ? loss() : throw std::runtime_error("no data"); };
        CHECK_THROWS_AS(optim::find_learning_rate(failing, adam, {.buffers = net.buffers()}), std::runtime_error);
      }
      adam.step(grad(loss(), net.parameters()));
    }
    return net.state_dict();
  };
  const NamedArrays plain = trained(0), tested = trained(1), failed = trained(2);
  for (const auto& entry : plain) {
    const std::string& name = entry.first;
    CAPTURE(name);
    CHECK(std::visit(
        [&]<class A>(const A& a) {
          return equal(a, std::get<A>(tested.at(name))) && equal(a, std::get<A>(failed.at(name)));
        },
        entry.second));
  }
}

TEST_CASE("The range test says when there is nothing to suggest, and refuses bad settings") {
  const Tensor x = variable(1, "x");
  optim::SGD sgd{{x}};
  const auto flat = optim::find_learning_rate([&] { return 0 * x; }, sgd, {.num_iter = 5});
  CHECK(!flat.suggestion);
  CHECK(flat.rates.size() == 5);
  CHECK(to_string(flat) ==
        "find_learning_rate: 5 rates from 1e-07 to 10, the loss goes from 0 to 0 and falls at none\n");
  const auto nan = optim::find_learning_rate([&] { return std::numeric_limits<Real>::quiet_NaN() * x; }, sgd);
  CHECK(nan.rates.empty());
  CHECK(to_string(nan) == "find_learning_rate: the loss is not finite before the first step\n");

  const auto refusal = [&](const optim::LearningRateOptions& options) {
    return error_of<ValueError>([&] { optim::find_learning_rate([&] { return square(x); }, sgd, options); });
  };
  CHECK(refusal({.start_lr = 0}) == "find_learning_rate: needs 0 < start_lr < end_lr, got 0 and 10");
  CHECK(refusal({.start_lr = 2, .end_lr = 1}) == "find_learning_rate: needs 0 < start_lr < end_lr, got 2 and 1");
  CHECK(refusal({.end_lr = std::numeric_limits<double>::infinity()}) ==
        "find_learning_rate: needs 0 < start_lr < end_lr, got 1e-07 and inf");
  CHECK(refusal({.num_iter = 1}) == "find_learning_rate: num_iter 1 is below 2");
  CHECK(refusal({.smoothing = 1}) == "find_learning_rate: smoothing 1 is not in [0, 1)");
  CHECK(refusal({.diverged = 1}) == "find_learning_rate: diverged 1 is not above 1");
  CHECK(error_of<ValueError>([&] { optim::find_learning_rate({}, sgd); }) ==
        "find_learning_rate: the function is empty");
  CHECK(error_of<ShapeError>([&] {
          optim::find_learning_rate([&] { return stack({x, x}); }, sgd);
        }) == "find_learning_rate: the loss has shape [2], not one element: take its sum() or mean()");
  CHECK(error_of<GraphError>([&] {
          optim::find_learning_rate([&] { return square(x); }, sgd, {.buffers = {x * 2}});
        }) == "find_learning_rate: a buffer is the result of mul");
}

}  // namespace
}  // namespace xgrad::testing
