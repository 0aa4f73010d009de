// Learning one batch by heart: models that can, and each way in which it goes wrong.
#include "support/check.h"

#include <cmath>
#include <sstream>

#include <xgrad/nn/layers/linear.h>
#include <xgrad/ops/ops.h>
#include <xgrad/optim/optim.h>

namespace xgrad::testing {
namespace {

struct Net : nn::Module {
  nn::Linear in{at("in"), 2, 16};
  nn::Linear out{at("out"), 16, 1};
  Tensor operator()(const Tensor& x) const { return out(tanh(in(x))); }
};
const Tensor x = tensor({{0, 0}, {0, 1}, {1, 0}, {1, 1}}), y = tensor({{0}, {1}, {1}, {0}});

TEST_CASE("a model that can learn a batch by heart does") {
  manual_seed(1);
  Net net;
  optim::Adam adam{net.parameters(), {.lr = 0.05}};
  const auto loss = [&] { return mse_loss(net(x), y); };
  const double before = loss().item();
  const optim::OverfitReport report = optim::overfit_one_batch(loss, adam);
  CHECK(report.ok());
  CHECK(report.losses.front() == before);
  CHECK(report.losses.back() <= 0.01 * before);
  CHECK(report.losses.back() == loss().item());
  CHECK(report.steps() < 200);
  CHECK(report.suspicion.empty());
  std::ostringstream out;
  out << report;
  CHECK(out.str().starts_with("overfit_one_batch: the loss goes from 0."));
  CHECK(out.str().ends_with(cat(" in ", report.steps(), " steps\n")));
  CHECK(optim::overfit_one_batch([&] { return loss() * 0; }, adam).steps() == 0);
}

TEST_CASE("what keeps a model from learning a batch is told by the course of the loss") {
  Net net;
  const auto loss = [&] { return mse_loss(net(x), y); };
  const auto suspicion = [&](double lr, const std::function<Tensor()>& f, std::int64_t steps = 50) {
    manual_seed(1);
    const Net fresh;
    net.load_state_dict(fresh.state_dict());
    optim::SGD sgd{net.parameters(), {.lr = lr}};
    const optim::OverfitReport report = optim::overfit_one_batch(f, sgd, {.steps = steps});
    CHECK(!report.ok());
    return report.suspicion;
  };
  CHECK(suspicion(1e5, [&] { return mse_loss(net(x) * net(x), y); }) ==
        "the loss is no longer finite: lower the learning rate");
  CHECK(suspicion(0.1, [&] { return loss() * NAN; }) ==
        "the loss is not finite before the first step: look at the inputs and first weights");
  CHECK(suspicion(1, [&] { return loss() - loss() + 1; }) ==
        "the loss does not change at all: audit(loss, optimizer) tells which parameters it reaches");
  CHECK(suspicion(-0.0, loss) ==
        "the loss does not change at all: audit(loss, optimizer) tells which parameters it reaches");
  CHECK(suspicion(0.1, [&] { return 1 / (1 + loss()) + loss().detach() * 2; }) ==
        "the loss grows: lower the learning rate");
  CHECK(suspicion(0.1, loss, 2).starts_with("the loss stands still: is the learning rate too low, "));
  CHECK(suspicion(
            0.02, [&] { return sum(exp(net(x))); }, 30) == "the loss is still falling: take more steps");
}

TEST_CASE("the text of a batch that was not learnt has two lines") {
  const Tensor w = variable(1.0, "w");
  optim::SGD sgd{{w}, {.lr = 1}};
  const optim::OverfitReport report = optim::overfit_one_batch([&] { return w * 0 + 2; }, sgd, {.steps = 3});
  CHECK(report.losses == std::vector<double>{2, 2, 2, 2});
  CHECK(to_string(report) ==
        "overfit_one_batch: the loss goes from 2 to 2 in 3 steps, not to 0.02\n  the loss does not change at all: "
        "audit(loss, optimizer) tells which parameters it reaches\n");
}

TEST_CASE("frozen parameters stay, and gradients outside of the optimizer are not touched") {
  const Tensor w = variable(2.0, "w"), frozen = variable(3.0, "frozen"), other = variable(1.0, "other");
  optim::SGD sgd{{frozen, w}, {.lr = 0.1}};
  frozen.set_requires_grad(false);
  const NoGrad off;  // the check records by itself
  CHECK(optim::overfit_one_batch([&] { return w * w * other * frozen; }, sgd).ok());
  CHECK(frozen.item() == 3);
  CHECK(other.item() == 1);
  CHECK(!other.has_grad());
}

TEST_CASE("overfit_one_batch refuses what it cannot run") {
  const Tensor w = variable({1, 2}, "w");
  optim::SGD sgd{{w}, {.lr = 0.1}};
  const auto loss = [&] { return sum(w * w); };
  CHECK(error_of<ValueError>([&] { optim::overfit_one_batch({}, sgd); }) == "overfit_one_batch: the function is empty");
  CHECK(error_of<ValueError>([&] { optim::overfit_one_batch(loss, sgd, {.steps = 0}); }) ==
        "overfit_one_batch: steps 0 is not positive");
  CHECK(error_of<ValueError>([&] { optim::overfit_one_batch(loss, sgd, {.target = 1}); }) ==
        "overfit_one_batch: target 1 is not in (0, 1)");
  CHECK(error_of<ValueError>([&] { optim::overfit_one_batch(loss, sgd, {.target = NAN}); }) ==
        "overfit_one_batch: target nan is not in (0, 1)");
  CHECK(error_of<ValueError>([&] { optim::overfit_one_batch([&] { return -loss(); }, sgd); }) ==
        "overfit_one_batch: the loss is -5, which cannot fall to near 0");
  CHECK(error_of<ShapeError>([&] { optim::overfit_one_batch([&] { return w * w; }, sgd); }) ==
        "overfit_one_batch: the loss has shape [2], not one element: take its sum() or mean()");
  CHECK(error_of<GraphError>([&] {
          optim::overfit_one_batch([&] { return loss().detach(); }, sgd);
        }).starts_with("grad: the result depends on nothing that requires a gradient"));
  CHECK(equal(w.value(), Array({2}, {1, 2})));
}

}  // namespace
}  // namespace xgrad::testing
