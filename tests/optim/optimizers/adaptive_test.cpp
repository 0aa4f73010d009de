// What all optimizers refuse; Adam, RMSprop, Adagrad, Adadelta, Lion, Muon: what fixtures do not show. Their steps are
// held against PyTorch's in optimizer_fixtures_test.cpp.
#include "../support.h"

#include <xgrad/xgrad.h>

#include <cmath>
#include <limits>

namespace xgrad::testing {
namespace {

template <class Optimizer>
std::string refusal(const typename Optimizer::Options& options) {
  return error_of<ValueError>([&] { Optimizer({variable(1)}, options); });
}

TEST_CASE("Every optimizer refuses options outside their range by name") {
  CHECK(refusal<optim::SGD>({.lr = -1}) == "sgd: lr -1 is negative or not finite");
  CHECK(refusal<optim::SGD>({.momentum = -0.5}) == "sgd: momentum -0.5 is negative or not finite");
  CHECK(refusal<optim::SGD>({.weight_decay = -1}) == "sgd: weight_decay -1 is negative or not finite");
  CHECK(refusal<optim::SGD>({.momentum = infinity}) == "sgd: momentum inf is negative or not finite");
  CHECK(refusal<optim::SGD>({.dampening = -1}) == "sgd: dampening -1 is negative or not finite");
  CHECK(refusal<optim::SGD>({.momentum = 0.5, .dampening = 0.1, .nesterov = true}) ==
        "sgd: nesterov needs momentum and no dampening, got momentum 0.5 and dampening 0.1");
  CHECK(refusal<optim::SGD>({.nesterov = true}) ==
        "sgd: nesterov needs momentum and no dampening, got momentum 0 and dampening 0");
  CHECK(refusal<optim::Adam>({.lr = std::nan("")}) == "adam: lr nan is negative or not finite");
  CHECK(refusal<optim::Adam>({.betas = {1, 0.5}}) == "adam: betas[0] 1 is not in [0, 1)");
  CHECK(refusal<optim::Adam>({.betas = {0.5, -0.1}}) == "adam: betas[1] -0.1 is not in [0, 1)");
  CHECK(refusal<optim::Adam>({.eps = -1e-8}) == "adam: eps -1e-08 is negative or not finite");
  CHECK(refusal<optim::Adam>({.weight_decay = -1}) == "adam: weight_decay -1 is negative or not finite");
  CHECK(refusal<optim::AdamW>({.weight_decay = -1}) == "adamw: weight_decay -1 is negative or not finite");
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
  CHECK(refusal<optim::Lion>({.betas = {1, 0.9}}) == "lion: betas[0] 1 is not in [0, 1)");
  CHECK(refusal<optim::Lion>({.betas = {0.9, -1}}) == "lion: betas[1] -1 is not in [0, 1)");
  CHECK(refusal<optim::Lion>({.weight_decay = -1}) == "lion: weight_decay -1 is negative or not finite");
}

TEST_CASE("Options at the ends of their ranges are taken") {
  const Tensors one{variable(1)}, matrix{variable(Array({1, 1}, Real(1)))};
  const optim::SGD sgd(one, {.lr = 0, .momentum = 1.5, .nesterov = true});
  const optim::Adam adam(one, {.betas = {0, 0}, .eps = 0});
  const optim::RMSprop rmsprop(one, {.alpha = 0, .eps = 0, .momentum = 1});
  const optim::Adagrad adagrad(one, {.eps = 0});
  const optim::Adadelta adadelta(one, {.rho = 0, .eps = 0});
  const optim::Lion lion(one, {.betas = {0, 0}});
  const optim::Muon muon(matrix, {.momentum = 0, .eps = 0, .ns_steps = 1});
  const optim::LBFGS lbfgs(
      one, {.lr = 0, .max_iter = 1, .max_eval = 1, .tolerance_grad = 0, .tolerance_change = 0, .history_size = 1});
  for (const double decay : {0., 1.}) const optim::ExponentialMovingAverage average(one, {.decay = decay});
  CHECK(optim::schedule::linear({.start_factor = 0, .end_factor = 2, .total_iters = 1}).lr(1, 1) == 2);
  CHECK(optim::schedule::cosine({.steps = 1}).lr(0, 1) == 1);
  CHECK(optim::schedule::noam({.width = 1, .warmup = 1, .factor = 0}).lr(0, 1) == 0);
  CHECK(optim::schedule::noam({.width = 1, .warmup = 1}).lr(0, 1) == 1);
  CHECK(optim::schedule::warmup(1).lr(0, 1) == 1);
}

TEST_CASE("SGD moves by any gradient, however small") {
  constexpr Real least = std::numeric_limits<Real>::min();
  const Tensor x = variable(0);
  optim::SGD({x}, {.lr = 1 / least}).step({Tensor(least / 4)});
  CHECK(x.item() == Real(-0.25));
}

// Calls check(make) for each kind; make(parameters) gives an optimizer.
template <class Check>
void for_each_kind(const Check& check) {
  const auto one = [&]<class Optimizer>(std::type_identity<Optimizer>, const typename Optimizer::Options& options) {
    check([&](const Tensors& parameters) { return std::make_unique<Optimizer>(parameters, options); });
  };
  for (const double b1 : {0., 0.3, 0.9}) one(std::type_identity<optim::AdamW>(), {.lr = 0.1, .betas = {b1, 0.9}});
  one(std::type_identity<optim::RMSprop>(), {.lr = 0.5});
  one(std::type_identity<optim::Adagrad>(), {.lr = 0.5});
  one(std::type_identity<optim::Adadelta>(), {.lr = 0.5});
  one(std::type_identity<optim::Lion>(), {.lr = 0.5});
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

TEST_CASE("The steps of a large parameter are those of its pieces, whichever the optimizer") {
  const std::int64_t n = 50'000, pieces = 5;  // more than the threads take at a time
  const auto piece = [](const Array& a, std::int64_t i) { return a[{slice(i * n / pieces, (i + 1) * n / pieces)}]; };
  for_each_kind([&](const auto& make) {
    const Array start = normal({n}, 7);
    const Tensor whole = variable(start);
    Tensors parts;
    for (std::int64_t i = 0; i < pieces; ++i) parts.push_back(variable(piece(start, i)));
    const auto of_whole = make({whole}), of_parts = make(parts);
    for (std::uint64_t t = 0; t < 3; ++t) {
      const Array g = normal({n}, t);
      Tensors of_pieces;
      for (std::int64_t i = 0; i < pieces; ++i) of_pieces.push_back(Tensor(piece(g, i)));
      of_whole->step({Tensor(g)});
      of_parts->step(of_pieces);
    }
    CHECK(equal(whole.value(), concat(parts, 0).value()));
  });
}

TEST_CASE("Lion moves every number by lr, and not where its average is 0") {
  const Tensor x = variable(Array({4}, Real(0)));
  optim::Lion lion{{x}, {.lr = 0.25}};
  lion.step({Array({4}, {1e-30, -1e30, 0, 3})});
  CHECK(equal(x.value(), Array({4}, {-0.25, 0.25, 0, -0.25})));
}

TEST_CASE("Centered RMSprop stays finite where gradients hardly vary and rounding makes their variance negative") {
  const Tensor x = variable(Array({1000}, Real(0)));
  const Array g = normal({1000});
  optim::RMSprop rmsprop{{x}, {.lr = 1e-12, .alpha = 0.7, .centered = true}};
  for (int t = 0; t < 150; ++t) rmsprop.step({g});
  for (const Real value : x.value()) CHECK(std::isfinite(value));
}

TEST_CASE("Adam's bias correction stays 1 when the count of steps is beyond 2^31") {
  const Tensor x = variable(Array({1}, Real(0)), "x");
  optim::Adam adam{{x}, {.lr = 1, .betas = {0.5, 0.5}, .eps = 0}};
  adam.step({Array({1}, Real(2))});
  StateFile state = adam.state_dict();
  state.arrays["x.step"] = Index({}, (std::int64_t{1} << 31) + 5);
  adam.load_state_dict(state);
  const Real before = x.item();
  adam.step({Array({1}, Real(2))});
  // m = 1/2 1 + 1/2 2, v = 1/2 2 + 1/2 4
  CHECK(before - x.item() == doctest::Approx(1.5 / std::sqrt(3.0)).epsilon(1e-12));
  CHECK(std::get<Index>(adam.state_dict().arrays.at("x.step")).item() == (std::int64_t{1} << 31) + 6);
}

// A step from 0 of an optimizer that neither decays nor scales: minus the matrix that it takes for the gradient.
Array first_step(const Array& g, optim::MuonOptions options) {
  const Tensor x = variable(Array(g.shape(), Real(0)));
  options.lr = 1;
  optim::Muon muon{{x}, options};
  muon.step({g});
  return x.value();
}

TEST_CASE("Muon steps along a matrix whose singular values are near 1, and with the classic coefficients are 1") {
  for (const Shape& shape : {Shape{4, 9}, Shape{9, 4}, Shape{6, 6}}) {
    CAPTURE(shape);
    const Array g = normal(shape, 5);
    const Array rough = first_step(g, {.adjust_lr_fn = optim::MuonRate::original});
    const Real scale = std::sqrt(std::max(Real(1), Real(shape.dim(0)) / Real(shape.dim(1))));
    for (const Real s : linalg::svd(Tensor(rough)).s.value()) CHECK((s / scale > 0.5 && s / scale < 1.3));
    const auto [u, s, vh] = linalg::svd(Tensor(g));
    const Array exact = first_step(g, {.ns_coefficients = {1.5, -0.5, 0}, .ns_steps = 60});
    check_close(exact, (-scale * matmul(u, vh)).value(), 1e-9);
  }
}

TEST_CASE("Muon climbs by the steps that it would take down the opposite gradient") {
  const Array g = normal({3, 4}, 2);
  const Tensor x = variable(normal({3, 4})), y = variable(normal({3, 4}));
  optim::Muon up{{x}, {.maximize = true}}, down{{y}};
  for (int t = 0; t < 3; ++t) {
    up.step({g});
    down.step({-Tensor(g)});
  }
  CHECK(equal(x.value(), y.value()));
}

TEST_CASE("Muon refuses what is no matrix, and options outside their range") {
  CHECK_REFUSED(ShapeError, optim::Muon{{variable(Array({3}, Real(1)), "bias")}}, "muon", "'bias'", "shape [3]");
  const auto muon = [](const optim::MuonOptions& options) { optim::Muon({variable(Array({1, 1}, Real(1)))}, options); };
  CHECK_REFUSED(ValueError, muon({.lr = -1}), "muon", "lr -1 is negative");
  CHECK_REFUSED(ValueError, muon({.weight_decay = -1}), "muon", "weight_decay -1 is negative");
  CHECK_REFUSED(ValueError, muon({.momentum = 1}), "muon", "momentum 1 is not in [0, 1)");
  CHECK_REFUSED(ValueError, muon({.ns_coefficients = {1, infinity, 0}}), "muon", "ns_coefficients 1", "inf, 0");
  CHECK_REFUSED(ValueError, muon({.eps = -1}), "muon", "eps -1 is negative");
  CHECK_REFUSED(ValueError, muon({.ns_steps = 0}), "muon", "ns_steps 0 is not positive");
}

TEST_CASE("A gradient of 0 moves nothing, and the first step sees no momentum") {
  const Array zero(Shape{2, 3}, Real(0));
  CHECK(equal(first_step(zero, {}), zero));
}

}  // namespace
}  // namespace xgrad::testing
