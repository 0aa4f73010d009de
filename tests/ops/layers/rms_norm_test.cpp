// RMS norm: against its formula and composed form; extreme inputs.
#include <algorithm>
#include <cmath>

#include <xgrad/ops/ops.h>

#include "support/check.h"
#include "support/fused.h"
#include "support/threads.h"

namespace xgrad::testing {
namespace {

Tensor composed_rms_norm(const Tensor& x, const Tensor& gamma, Real eps = std::numeric_limits<Real>::epsilon()) {
  return x / sqrt(mean(square(x), -1, {.keepdim = true}) + eps) * gamma;
}

TEST_CASE("RMS norm and its gradients of two orders equal its formula for rows of any length") {
  const auto fused = [](const Tensors& x) { return rms_norm(x[0], x[1]); };
  const auto composed = [](const Tensors& x) { return composed_rms_norm(x[0], x[1]); };
  for (const std::int64_t n : {1, 2, 7, 8, 15, 16, 17, 33, 65, 130}) {
    CAPTURE(n);
    const double terms = n == 1 ? 1 : 0;  // one number becomes 1 or -1: hardly any gradient is left
    check_fused(fused, composed, {normal({5, n}), normal({n}, 2)}, 1e-12, terms);
    check_fused([](const Tensors& x) { return rms_norm(x[0]); },
                [](const Tensors& x) { return composed_rms_norm(x[0], 1); }, {normal({5, n})}, 1e-12, terms);
  }
  check_fused(fused, composed, {normal({700, 33}), normal({33}, 2)});  // more rows than one block
}

TEST_CASE("RMS norm does not take off the mean, and scales rows to mean square 1 as long as squares are in range") {
  check_close(rms_norm(tensor({{3, 4}}), {}, {.eps = 0}).value(), (tensor({{0.6, 0.8}}) * std::sqrt(Real(2))).value());
  for (const Real size : {Real(1e-100), Real(1e100)}) {
    const Tensor x = variable(Tensor(normal({2, 9})) * size);
    const auto norm = [](const Tensor& x) { return rms_norm(x, {}, {.eps = 0}); };
    check_close(norm(x).value(), norm(x / size).value());
    const Tensor seed(normal({2, 9}, 2));
    const Tensor g = grad(norm(x), {x}, {.seed = seed, .retain_graph = true})[0];
    const Tensor recorded = grad(norm(x), {x}, {.seed = seed, .create_graph = true})[0];
    check_close((g * size).value(), (recorded * size).value());
    CHECK(std::ranges::all_of(g.value(), [](Real v) { return std::isfinite(v); }));
  }
}

TEST_CASE("RMS norm is the same bits for any number of threads") {
  const Tensor x = variable(normal({2000, 70})), gamma = variable(normal({70}, 2));
  check_same_bits([&] {
    const Tensor y = rms_norm(x, gamma);
    Tensors parts{flatten(y)};
    for (const Tensor& g : grad(y, {x, gamma}, {.seed = x.detach()})) parts.push_back(flatten(g));
    return concat(parts);
  });
}

TEST_CASE("RMS norm refuses what does not fit") {
  const Tensor x = zeros({2, 3});
  CHECK_REFUSED(ShapeError, rms_norm(x, ones({2})), "rms_norm", "[2, 3]", "[2]");
  CHECK_REFUSED(ShapeError, rms_norm(x, ones({2}), {.normalized = {3}}), "rms_norm", "gamma [2]", "shape [3]");
  CHECK_REFUSED(ShapeError, rms_norm(zeros({2, 0})), "rms_norm", "nothing to normalise", "[2, 0]");
  CHECK_REFUSED(ValueError, rms_norm(x, {}, {.eps = -1}), "rms_norm", "eps -1");
}

}  // namespace
}  // namespace xgrad::testing
