// Losses: values by hand, kernels against their composed form, edges and errors.
#include <cmath>

#include <xgrad/ops/losses/loss.h>
#include <xgrad/ops/ops.h>

#include "support/check.h"
#include "support/fused.h"

using namespace xgrad;
using namespace xgrad::testing;

namespace {

// -(1 - a) ln p_t - a/V sum ln p_c for one row.
double row_by_hand(const Array& logits, std::int64_t row, std::int64_t target, double a) {
  const std::int64_t V = logits.dim(-1);
  double total = 0;
  for (std::int64_t c = 0; c < V; ++c) total += std::exp(logits.data()[row * V + c]);
  double loss = 0;
  for (std::int64_t c = 0; c < V; ++c) {
    loss -= ((c == target ? 1 - a : 0) + a / static_cast<double>(V)) * (logits.data()[row * V + c] - std::log(total));
  }
  return loss;
}

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
        Array expected(Shape{2, 3}, Real(0));
        double sum = 0, count = 0;
        for (std::int64_t i = 0; i < 6; ++i) {
          const std::int64_t t = targets.mutable_data()[i] = i * 5 % V;
          if (ignored && t == *ignored) continue;
          expected.mutable_data()[i] = row_by_hand(x, i, t, a);
          sum += expected.data()[i];
          ++count;
        }
        const auto loss = [&](const Tensor& logits, Reduction reduction) {
          return cross_entropy(logits, targets,
                               {.ignore_index = ignored, .label_smoothing = a, .reduction = reduction});
        };
        const double terms = V == 1 ? 1 : 0;  // a single class has probability 1: what is left is rounding
        check_close(loss(x, Reduction::none).value(), expected, 1e-13, terms);
        CHECK(loss(x, Reduction::sum).item() == doctest::Approx(sum).epsilon(1e-13));
        CHECK(loss(x, Reduction::mean).item() == doctest::Approx(count == 0 ? 0 : sum / count).epsilon(1e-13));
        const bool zero = V == 1 || count == 0;
        for (const Reduction reduction : {Reduction::none, Reduction::sum, Reduction::mean}) {
          check_gradients([&](const Tensors& t) { return loss(t[0], reduction); }, {x}, {.zero = zero});
          const Real share = reduction == Reduction::mean && count > 0 ? static_cast<Real>(1 / count) : 1;
          check_fused([&](const Tensors& t) { return loss(t[0], reduction); },
                      [&](const Tensors& t) {
                        const Tensor losses = composed_losses(t[0], targets, ignored, a);
                        return reduction == Reduction::none ? losses : xgrad::sum(losses) * share;
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

TEST_CASE("the merci -> thanks example: the cross-entropy of two distributions") {
  // Six words, the target is the third; a trained model gives it 0.7.
  const Tensor q = tensor({{0, 0, 1, 0, 0, 0}});
  const Tensor p = tensor({{0.02, 0.08, 0.7, 0.1, 0.05, 0.05}});
  CHECK(cross_entropy(log(p), q).item() == doctest::Approx(-std::log(0.7)).epsilon(1e-14));
  CHECK(kl_div(log(p), q, {.reduction = Reduction::sum}).item() == doctest::Approx(-std::log(0.7)).epsilon(1e-14));
}

TEST_CASE("je suis etudiant -> i am a student <eos>: the mean of -ln p, the divergence, and what smoothing adds") {
  const Tensor p = tensor({{0.01, 0.02, 0.93, 0.01, 0.02, 0.01},
                           {0.01, 0.8, 0.1, 0.05, 0.01, 0.03},
                           {0.99, 0.001, 0.001, 0.001, 0.002, 0.005},
                           {0.001, 0.002, 0.001, 0.02, 0.94, 0.036},
                           {0.008, 0.009, 0.001, 0.001, 0.001, 0.98}});
  const Index target = index({2, 1, 0, 4, 5});
  const double certain = -std::log(0.93 * 0.8 * 0.99 * 0.94 * 0.98) / 5;
  CHECK(cross_entropy(log(p), target).item() == doctest::Approx(certain).epsilon(1e-12));
  CHECK(kl_div(log(p), Tensor(one_hot(target, 6)), {.reduction = Reduction::sum}).item() / 5 ==
        doctest::Approx(certain).epsilon(1e-12));
  double all = 0;  // -ln p of every word at every position
  for (const Real each : p.value()) all -= std::log(each);
  CHECK(cross_entropy(log(p), target, {.label_smoothing = 0.1}).item() ==
        doctest::Approx(0.9 * certain + 0.1 * all / 30).epsilon(1e-12));
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

TEST_CASE("cross-entropy with probabilities: gradients to both sides") {
  const Array q = uniform({3, 5}, 0.1, 1, 5);
  for (const double a : {0.0, 0.2}) {
    const auto loss = [a](const Tensors& x) { return cross_entropy(x[0], x[1], {.label_smoothing = a}); };
    check_gradients(loss, {normal({3, 5}), q});
    const Tensor smooth = Tensor(q) * (1 - a) + a / 5;
    const Tensor p = exp(Tensor(normal({3, 5})) - logsumexp(normal({3, 5}), 1, {.keepdim = true}));
    CHECK(loss({normal({3, 5}), q}).item() == doctest::Approx(-sum(smooth * log(p)).item() / 3).epsilon(1e-13));
  }
  const Index classes = index({1, 4, 0});
  Array hot(Shape{3, 5}, Real(0));
  for (std::int64_t i = 0; i < 3; ++i) hot.mutable_data()[i * 5 + classes.data()[i]] = 1;
  const Tensor x = normal({3, 5});
  CHECK(cross_entropy(x, Tensor(hot)).item() == doctest::Approx(cross_entropy(x, classes).item()).epsilon(1e-14));
}

TEST_CASE("squared error, divergence and yes-or-no questions") {
  CHECK(mse_loss(tensor({1, 2}), tensor({3, 5})).item() == 6.5);
  CHECK(mse_loss(tensor({1, 2}), tensor({3, 5}), {.reduction = Reduction::sum}).item() == 13);
  check_gradients([](const Tensors& x) { return mse_loss(x[0], x[1]); }, {normal({2, 3}), normal({2, 3}, 2)});

  const Array p = uniform({2, 3}, 0.1, 1), q = uniform({2, 3}, 0.1, 1, 2);
  double sum = 0;
  for (int i = 0; i < 6; ++i) sum += q.data()[i] * (std::log(q.data()[i]) - std::log(p.data()[i]));
  CHECK(kl_div(log(p), q, {.reduction = Reduction::sum}).item() == doctest::Approx(sum).epsilon(1e-14));
  CHECK(kl_div(log(p), log(q), {.log_target = true}).item() == doctest::Approx(sum / 6).epsilon(1e-14));
  check_gradients([](const Tensors& x) { return kl_div(x[0], x[1]); }, {normal({2, 3}), q});
  check_gradients([](const Tensors& x) { return kl_div(x[0], x[1], {.log_target = true}); },
                  {normal({2, 3}), normal({2, 3}, 2)});
  CHECK(kl_div(tensor({-infinity, 0}), tensor({0, 1})).item() == 0);

  for (const double x : {-800.0, -1.5, 0.0, 2.0, 800.0}) {
    const double t = 0.3, expected = std::max(x, 0.0) - x * t + std::log1p(std::exp(-std::abs(x)));
    CHECK(binary_cross_entropy_with_logits(Tensor(x), Tensor(t)).item() == doctest::Approx(expected).epsilon(1e-14));
  }
  check_gradients([](const Tensors& x) { return binary_cross_entropy_with_logits(x[0], x[1]); },
                  {normal({2, 3}), uniform({2, 3}, 0, 1)});
}

TEST_CASE("wrong targets are refused by name and value") {
  const Tensor x = normal({2, 3});
  CHECK(error_of<ValueError>([&] {
          cross_entropy(x, index({0, -4}));
        }) == "cross_entropy: target -4 of sample 1 is not in [0, 3)");
  CHECK(error_of<ValueError>([&] {
          cross_entropy(x, index({3, 0}), {.ignore_index = 1, .label_smoothing = 0.1});
        }) == "cross_entropy: target 3 of sample 0 is not in [0, 3)");
  CHECK(error_of<ShapeError>([&] { cross_entropy(x, index({0})); }) ==
        "cross_entropy: logits [2, 3] need targets of shape [2], got [1]");
  CHECK(error_of<ShapeError>([] {
          cross_entropy(ones({2, 5, 3}), Index(Shape{2, 3}, 0));
        }) ==
        "cross_entropy: logits [2, 5, 3] need targets of shape [2, 5], got [2, 3]: classes are the last axis, "
        "movedim(logits, 1, -1)");
  CHECK(error_of<ShapeError>([] {
          nll_loss(ones({2, 5, 3, 4}), Index(Shape{2, 3, 4}, 0));
        }) ==
        "nll_loss: log_p [2, 5, 3, 4] need targets of shape [2, 5, 3], got [2, 3, 4]: classes are the last axis, "
        "movedim(log_p, 1, -1)");
  CHECK(error_of<ValueError>([&] {
          cross_entropy(x, index({0, 0}), {.label_smoothing = 1.5});
        }) == "cross_entropy: label_smoothing 1.5 is not in [0, 1]");
  CHECK(error_of<ShapeError>([&] {
          cross_entropy(x, ones({3, 2}));
        }) == "cross_entropy: shapes differ: [2, 3] and [3, 2]");
  CHECK(error_of<ShapeError>([&] {
          cross_entropy(x, tensor({0, 2}));
        }) == "cross_entropy: targets [2] for logits [2, 3]: class numbers are an Index, to_index(targets); "
              "probabilities have the logits' shape");
  CHECK(error_of<ShapeError>([&] { mse_loss(x, ones({3})); }) == "mse_loss: shapes differ: [2, 3] and [3]");
  CHECK(error_of<ShapeError>([&] { kl_div(x, ones({3})); }) == "kl_div: shapes differ: [2, 3] and [3]");
}
