// Losses: edges, errors. (Values and gradients: losses_fixtures_test.cpp, random_cases_test.cpp and the catalogue of operations.)
#include <cmath>

#include <xgrad/ops/ops.h>

#include "support/check.h"
#include "support/fused.h"

using namespace xgrad;
using namespace xgrad::testing;

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

TEST_CASE("wrong targets are refused by name and value") {
  const Tensor x = normal({2, 3});
  CHECK_REFUSED(ValueError, cross_entropy(x, index({0, -4})), "cross_entropy", "target -4", "sample 1", "[0, 3)");
  CHECK_REFUSED(ValueError, cross_entropy(x, index({3, 0}), {.ignore_index = 1, .label_smoothing = 0.1}),
                "cross_entropy", "target 3", "sample 0", "[0, 3)");
  const std::string left = "target -100 of sample 1 is not in [0, 3)";
  CHECK(error_of<ValueError>([&] {
          cross_entropy(x, index({0, -100}));
        }) == "cross_entropy: " + left + "; {.ignore_index = -100} leaves such samples out");
  CHECK(error_of<ValueError>([&] {
          nll_loss(x, index({2, -100}), {.ignore_index = 1});
        }) == "nll_loss: " + left + "; {.ignore_index = -100} leaves such samples out");
  CHECK(error_of<ValueError>([&] {
          cross_entropy(x, index({0, 3}));
        }) == "cross_entropy: target 3 of sample 1 is not in [0, 3)");
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

TEST_CASE("losses at infinities and of ignored samples are limits") {
  const auto bce = [](Real x, Real t) {
    return binary_cross_entropy_with_logits(Tensor(x), Tensor(t), {.pos_weight = Tensor(2)}).item();
  };
  CHECK(bce(infinity, 1) == 0);
  CHECK(bce(-infinity, 0) == 0);
  CHECK(bce(-infinity, 1) == infinity);
  CHECK(bce(800, 0) == 800);
  CHECK(bce(-800, 1) == 1600);
  const Tensor certain = tensor({{-infinity, 0}});
  CHECK(nll_loss(certain, index({0}), {.weight = tensor({0, 1})}).item() == 0);
  CHECK(cross_entropy(certain, index({0}), {.weight = tensor({0, 1})}).item() == 0);
  CHECK(nll_loss(certain, index({7}), {.ignore_index = 7}).item() == 0);
  CHECK(cross_entropy(ones({1, 2}), index({7}), {.weight = ones({2}), .ignore_index = 7}).item() == 0);
  CHECK(huber_loss(Tensor(infinity), Tensor(0)).item() == infinity);
  CHECK(smooth_l1_loss(Tensor(infinity), Tensor(0)).item() == infinity);
}

TEST_CASE("losses refuse what makes no sense, and say what") {
  const Tensor x = normal({2, 3}), p = uniform({2, 3}, 0, 1);
  const Index classes({2}, {0, 2});
  CHECK_REFUSED(ShapeError, cross_entropy(x, classes, {.weight = ones({2})}), "cross_entropy", "weight [2]",
                "3 classes");
  CHECK_REFUSED(ShapeError, cross_entropy(x, p, {.weight = ones({2})}), "cross_entropy", "weight [2]", "3 classes");
  CHECK_REFUSED(ShapeError, nll_loss(x, classes, {.weight = ones({3, 1})}), "nll_loss", "weight [3, 1]", "3 classes");
  CHECK_REFUSED(ShapeError, nll_loss(x, index({1})), "nll_loss", "log_p [2, 3]", "targets of shape [2]", "[1]");
  CHECK_REFUSED(ValueError, nll_loss(x, index({1, 3})), "nll_loss", "target 3", "sample 1", "[0, 3)");
  CHECK_REFUSED(ShapeError, nll_loss(Tensor(1), Index(Shape{}, 0)), "nll_loss", "log_p", "[]");

  CHECK_REFUSED(ValueError, binary_cross_entropy(tensor({0.5, 1.5}), zeros({2})), "binary_cross_entropy", "p = 1.5",
                "[0, 1]", "binary_cross_entropy_with_logits");
  CHECK_REFUSED(ValueError, binary_cross_entropy(Tensor(not_a_number), Tensor(0)), "binary_cross_entropy", "p = nan");
  CHECK_REFUSED(ShapeError, binary_cross_entropy(p, p, {.weight = ones({2, 2, 3})}), "binary_cross_entropy",
                "weight [2, 2, 3]", "[2, 3]");
  CHECK_REFUSED(ShapeError, binary_cross_entropy_with_logits(x, p, {.pos_weight = ones({2})}),
                "binary_cross_entropy_with_logits", "[2]", "[2, 3]");

  const Tensor three = ones({3});
  CHECK_REFUSED(ShapeError, l1_loss(x, three), "l1_loss", "[2, 3]", "[3]");
  CHECK_REFUSED(ShapeError, smooth_l1_loss(x, three), "smooth_l1_loss", "[2, 3]", "[3]");
  CHECK_REFUSED(ShapeError, huber_loss(x, three), "huber_loss", "[2, 3]", "[3]");
  CHECK_REFUSED(ShapeError, gaussian_nll_loss(x, three, three), "gaussian_nll_loss", "[2, 3]", "[3]");
  CHECK_REFUSED(ShapeError, binary_cross_entropy(x, three), "binary_cross_entropy", "[2, 3]", "[3]");
  CHECK_REFUSED(ValueError, smooth_l1_loss(x, x, {.beta = -1}), "smooth_l1_loss", "beta -1");
  CHECK_REFUSED(ValueError, huber_loss(x, x, {.delta = 0}), "huber_loss", "delta 0");
  CHECK_REFUSED(ValueError, gaussian_nll_loss(x, x, x * 0 - 1), "gaussian_nll_loss", "variance -1");
  CHECK_REFUSED(ShapeError, gaussian_nll_loss(x, x, ones({4, 2, 3})), "gaussian_nll_loss", "variance [4, 2, 3]",
                "[2, 3]");
  CHECK_REFUSED(ValueError, gaussian_nll_loss(x, x, p, {.eps = -1}), "gaussian_nll_loss", "eps -1");
  CHECK_REFUSED(ValueError, triplet_margin_loss(x, x, x, {.margin = 0}), "triplet_margin_loss", "margin 0");
}
