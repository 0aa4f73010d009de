// Muon: what fixtures do not show. Its steps are held against PyTorch's in optimizer_fixtures_test.cpp.
#include "../support.h"

#include <cmath>
#include <limits>

#include <xgrad/xgrad.h>

namespace xgrad::testing {
namespace {

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
    const auto [u, s, vh] = linalg::svd(Tensor(g), {.full_matrices = false});
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
  const auto muon = [](const optim::MuonOptions& options) {
    return [=] { optim::Muon({variable(Array({1, 1}, Real(1)))}, options); };
  };
  CHECK_REFUSED(ValueError, muon({.lr = -1})(), "muon", "lr -1 is negative");
  CHECK_REFUSED(ValueError, muon({.weight_decay = -1})(), "muon", "weight_decay -1 is negative");
  CHECK_REFUSED(ValueError, muon({.momentum = 1})(), "muon", "momentum 1 is not in [0, 1)");
  CHECK_REFUSED(ValueError, muon({.ns_coefficients = {1, infinity, 0}})(), "muon", "ns_coefficients 1", "inf, 0");
  CHECK_REFUSED(ValueError, muon({.eps = -1})(), "muon", "eps -1 is negative");
  CHECK_REFUSED(ValueError, muon({.ns_steps = 0})(), "muon", "ns_steps 0 is not positive");
}

TEST_CASE("A gradient of 0 moves nothing, and the first step sees no momentum") {
  const Array zero(Shape{2, 3}, Real(0));
  CHECK(equal(first_step(zero, {}), zero));
}

}  // namespace
}  // namespace xgrad::testing
