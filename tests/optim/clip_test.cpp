// Gradient clipping.
#include "support.h"

#include <cmath>
#include <limits>

#include "support/threads.h"

namespace xgrad::testing {
namespace {

struct Two {
  Tensor a = variable(Array({2}, Real(0)), "a"), b = variable(Array({1}, Real(0)), "blocks.3.attn.q");
  Tensors parameters{a, b};
  Tensors gradients(Real x, Real y, Real z) const { return {Array({2}, {x, y}), Array({1}, {z})}; }
  // The same gradients, held by the parameters as after backward().
  void hold(Real x, Real y, Real z) const {
    const Tensors g = gradients(x, y, z);
    for (std::size_t i = 0; i < 2; ++i) {
      parameters[i].zero_grad();
      parameters[i].backward({.seed = g[i]});
    }
  }
};

TEST_CASE("clip_grad_norm clips what backward() left in the parameters") {
  const Two two;
  two.hold(3, 4, 12);
  CHECK(optim::clip_grad_norm(two.parameters, 1) == 13);
  CHECK(two.b.grad().item() == doctest::Approx(12 / (13 + 1e-6)));
  two.b.zero_grad();
  CHECK(optim::clip_grad_norm(two.parameters, 1) == doctest::Approx(5 / (13 + 1e-6)));
}

TEST_CASE("A parameter that stands twice is refused, as the optimizers refuse it") {
  const Two two;
  const Tensors tied{two.a, two.b, two.a};
  two.hold(3, 4, 0);
  const Tensors gradients{Array({2}, {3, 4}), Array({1}, Real(0)), Array({2}, {3, 4})};
  for (const double bound : {1., 100.}) {
    for (const double order : {2., double(infinity)}) {
      const optim::ClipOptions options{.norm_type = order};
      CHECK_REFUSED(ValueError, optim::clip_grad_norm(tied, bound, options), "clip_grad_norm", "duplicate", "'a'");
      CHECK_REFUSED(ValueError, optim::clip_grad_norm(gradients, tied, bound), "clip_grad_norm", "duplicate", "'a'");
    }
  }
  CHECK(equal(two.a.grad().value(), Array({2}, {3, 4})));
  CHECK(optim::clip_grad_norm(two.parameters, 1) == 5);
}

TEST_CASE("A gradient that is not finite is named, and nothing changes") {
  const Two two;
  for (const Real bad : {infinity, -infinity, std::numeric_limits<Real>::quiet_NaN()}) {
    const Tensors given = two.gradients(3, 4, bad);
    CHECK_REFUSED(NumericError, optim::clip_grad_norm(given, two.parameters, 1), "clip_grad_norm",
                  "non-finite gradient in 'blocks.3.attn.q'");
    CHECK(equal(given[0].value(), Array({2}, {3, 4})));
    two.hold(3, 4, bad);
    CHECK_THROWS_AS(optim::clip_grad_norm(two.parameters, 1), NumericError);
    CHECK(equal(two.a.grad().value(), Array({2}, {3, 4})));
  }
}

TEST_CASE("Gradients whose squares overflow or underflow are clipped rightly") {
  const Two two;
  const Real huge = std::numeric_limits<Real>::max() / 8;
  const auto clipped = optim::clip_grad_norm(two.gradients(3 * (huge / 16), 4 * (huge / 16), 0), two.parameters, 1);
  CHECK(clipped.norm == doctest::Approx(5 * (static_cast<double>(huge) / 16)).epsilon(1e-6));
  check_close(clipped.gradients[0].value(), Array({2}, {Real(0.6), Real(0.8)}), 1e-6);
  const Real tiny = std::numeric_limits<Real>::min();
  CHECK(optim::clip_grad_norm(two.gradients(3 * tiny, 4 * tiny, 0), two.parameters, 1).norm ==
        doctest::Approx(5 * static_cast<double>(tiny)).epsilon(1e-6).scale(0));
  CHECK(optim::clip_grad_norm(two.gradients(0, 0, 0), two.parameters, 1).norm == 0);
}

TEST_CASE("Norms of any order cannot overflow, and name what is not finite or does not fit") {
  const Two two;
  const Real huge = std::numeric_limits<Real>::max() / 8;
  for (const double order : {1., 3., 50., 5000.}) {
    CAPTURE(order);
    const double expected = std::pow(2, 1 / order);
    CHECK(optim::clip_grad_norm(two.gradients(huge, -huge, 0), two.parameters, 1e9, {.norm_type = order}).norm ==
          doctest::Approx(expected * static_cast<double>(huge)).epsilon(1e-6));
    CHECK(optim::clip_grad_norm(two.gradients(0, 0, 0), two.parameters, 1, {.norm_type = order}).norm == 0);
  }
  const optim::ClipOptions largest{.norm_type = infinity};
  two.hold(3, -4, 2);
  CHECK(optim::clip_grad_norm(two.parameters, 2, largest) == 4);
  CHECK(two.a.grad().value().at({1}) == doctest::Approx(-2));
  const Tensors endless = two.gradients(1, 2, infinity);
  CHECK_REFUSED(NumericError, optim::clip_grad_norm(endless, two.parameters, 1, largest), "clip_grad_norm",
                "non-finite gradient in 'blocks.3.attn.q'");
  CHECK_REFUSED(ValueError, optim::clip_grad_norm(two.parameters, -1), "clip_grad_norm", "max_norm -1 is negative");
  CHECK_REFUSED(ValueError, optim::clip_grad_norm(two.parameters, std::nan("")), "clip_grad_norm", "max_norm nan");
  CHECK_REFUSED(ValueError, optim::clip_grad_norm({Tensor(1)}, two.parameters, 1), "clip_grad_norm", "1 gradients");
  for (const double order : {0., -1., std::nan("")}) {
    CHECK_REFUSED(ValueError, optim::clip_grad_norm(two.parameters, 1, {.norm_type = order}), "clip_grad_norm",
                  str("norm_type ", order, " is not positive"));
  }
}

TEST_CASE("The norm is the same for any number of threads") {
  const Tensor x = variable(Array({200003}, Real(0)));
  const Tensors g{Tensor(normal({200003}))};
  check_same_bits([&] { return Tensor(static_cast<Real>(optim::clip_grad_norm(g, {x}, 1e9).norm)); });
  CHECK(optim::clip_grad_norm(g, {x}, 1e9).norm == doctest::Approx(std::sqrt(200003.0)).epsilon(0.01));
}

TEST_CASE("Clipping by hand-over works in place, clipping a list that is kept does not touch it") {
  const Two two;
  Tensors mine = two.gradients(3, 4, 12);
  const Real* const place = mine[0].value().data();
  const auto copy = optim::clip_grad_norm(mine, two.parameters, 1);
  CHECK(equal(mine[0].value(), Array({2}, {3, 4})));
  const auto moved = optim::clip_grad_norm(std::move(mine), two.parameters, 1);
  CHECK(moved.gradients[0].value().data() == place);
  CHECK(equal(moved.gradients[0].value(), copy.gradients[0].value()));
}

}  // namespace
}  // namespace xgrad::testing
