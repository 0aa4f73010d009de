// Losses: kernels against their composed form, edges and errors. (Values and gradients: losses_fixtures_test.cpp.)
#include <cmath>

#include <xgrad/ops/losses/loss.h>
#include <xgrad/ops/ops.h>

#include "support/check.h"
#include "support/fused.h"

using namespace xgrad;
using namespace xgrad::testing;

namespace {

// -(1 - a) ln p_t - a/V sum ln p
Tensor composed_losses(const Tensor& logits, const Index& targets, const std::optional<std::int64_t>& ignored, Real a) {
  const Tensor log_p = log_softmax(logits);
  const Tensor chosen = squeeze(gather(log_p, -1, targets.reshaped({2, 3, 1})), {-1});
  const Tensor losses = -(1 - a) * chosen - a * mean(log_p, -1);
  return ignored ? masked_fill(losses, targets == *ignored, 0) : losses;
}

}  // namespace

TEST_CASE("cross-entropy with classes equals its formula, for every reduction") {
  for (const std::int64_t V : {1, 3, 8, 17, 40}) {
    for (const double a : {0.0, 0.1, 1.0}) {
      for (const std::optional<std::int64_t> ignored :
           {std::optional<std::int64_t>(), std::optional<std::int64_t>(0)}) {
        INFO("V ", V, ", smoothing ", a, ", ignored ", ignored.has_value());
        const Array x = normal({2, 3, V}, 4);
        Index targets(Shape{2, 3});
        double count = 0;
        for (std::int64_t i = 0; i < 6; ++i) {
          const std::int64_t t = targets.mutable_data()[i] = i * 5 % V;
          if (!ignored || t != *ignored) ++count;
        }
        const auto loss = [&](const Tensor& logits, Reduction reduction) {
          return cross_entropy(logits, targets,
                               {.ignore_index = ignored, .label_smoothing = a, .reduction = reduction});
        };
        const double terms = V == 1 ? 1 : 0;  // a single class has probability 1: what is left is rounding
        for (const Reduction reduction : {Reduction::none, Reduction::sum, Reduction::mean}) {
          const Real share = reduction == Reduction::mean && count > 0 ? static_cast<Real>(1 / count) : 1;
          check_fused([&](const Tensors& t) { return loss(t[0], reduction); },
                      [&](const Tensors& t) {
                        const Tensor losses = composed_losses(t[0], targets, ignored, a);
                        return reduction == Reduction::none ? losses : sum(losses) * share;
                      },
                      {x}, 1e-13, terms);
        }
      }
    }
  }
}

TEST_CASE("one sample without a batch") {
  const Tensor loss = cross_entropy(tensor({1, 2, 3}), Index(Shape{}, 2));
  CHECK(loss.item() == doctest::Approx(std::log(std::exp(-2.0) + std::exp(-1.0) + 1)).epsilon(1e-14));
}

TEST_CASE("all samples ignored: loss 0, gradient 0") {
  const Tensor x = variable(normal({2, 5}));
  const Tensor loss = cross_entropy(x, index({-100, -100}), {.ignore_index = -100, .label_smoothing = 0.1});
  CHECK(loss.item() == 0);
  check_close(grad(loss, {x})[0].value(), zeros({2, 5}).value());
}

TEST_CASE("extreme logits") {
  const Tensor x = variable(tensor({{1e4, -1e4, 0}, {-infinity, 0, 0}}).value());
  const Tensor losses = cross_entropy(x, index({1, 1}), {.label_smoothing = 0.3, .reduction = Reduction::none});
  CHECK(losses.value().at({0}) == doctest::Approx(0.7 * 2e4 + 0.1 * 3e4).epsilon(1e-12));
  CHECK(losses.value().at({1}) == doctest::Approx(0.7 * std::log(2.0) + 0.2 * std::log(2.0)).epsilon(1e-12));
  const Tensor g = grad(sum(losses), {x}, {.retain_graph = true})[0];
  for (const Real value : g.value()) CHECK(std::isfinite(value));
  CHECK(g.value().at({1, 0}) == 0);
  check_close(grad(sum(losses), {x}, {.create_graph = true})[0].value(), g.value(), 1e-14);
  CHECK(cross_entropy(tensor({{-infinity, 0}}), index({0})).item() == infinity);
}

TEST_CASE("wrong targets are refused by name and value") {
  const Tensor x = normal({2, 3});
  CHECK_REFUSED(ValueError, cross_entropy(x, index({0, -4})), "cross_entropy", "target -4", "sample 1", "[0, 3)");
  CHECK_REFUSED(ValueError, cross_entropy(x, index({3, 0}), {.ignore_index = 1, .label_smoothing = 0.1}),
                "cross_entropy", "target 3", "sample 0", "[0, 3)");
  CHECK_REFUSED(ShapeError, cross_entropy(x, index({0})), "cross_entropy", "logits [2, 3]", "targets of shape [2]",
                "[1]");
  CHECK_REFUSED(ShapeError, cross_entropy(ones({2, 5, 3}), Index(Shape{2, 3}, 0)), "cross_entropy", "logits [2, 5, 3]",
                "targets of shape [2, 5]", "[2, 3]", "movedim(logits, 1, -1)");
  CHECK_REFUSED(ShapeError, nll_loss(ones({2, 5, 3, 4}), Index(Shape{2, 3, 4}, 0)), "nll_loss", "log_p [2, 5, 3, 4]",
                "targets of shape [2, 5, 3]", "[2, 3, 4]", "movedim(log_p, 1, -1)");
  CHECK_REFUSED(ValueError, cross_entropy(x, index({0, 0}), {.label_smoothing = 1.5}), "cross_entropy",
                "label_smoothing 1.5", "[0, 1]");
  CHECK_REFUSED(ShapeError, cross_entropy(x, ones({3, 2})), "cross_entropy", "[2, 3]", "[3, 2]");
  CHECK_REFUSED(ShapeError, cross_entropy(x, tensor({0, 2})), "cross_entropy", "targets [2]", "logits [2, 3]",
                "to_index(targets)");
  CHECK_REFUSED(ShapeError, mse_loss(x, ones({3})), "mse_loss", "[2, 3]", "[3]");
  CHECK_REFUSED(ShapeError, kl_div(x, ones({3})), "kl_div", "[2, 3]", "[3]");
}

TEST_CASE("the merci -> thanks example: the cross-entropy of two distributions") {
  // Six words, the target is the third; a trained model gives it 0.7.
  const Tensor q = tensor({{0, 0, 1, 0, 0, 0}});
  const Tensor p = tensor({{0.02, 0.08, 0.7, 0.1, 0.05, 0.05}});
  CHECK(cross_entropy(log(p), q).item() == doctest::Approx(-std::log(0.7)).epsilon(1e-14));
  CHECK(kl_div(log(p), q, {.reduction = Reduction::sum}).item() == doctest::Approx(-std::log(0.7)).epsilon(1e-14));
}
