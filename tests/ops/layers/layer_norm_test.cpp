// Layer norm: against its formula and composed form; extreme inputs.
#include <cmath>
#include <limits>

#include <xgrad/ops/ops.h>

#include "support/check.h"
#include "support/fused.h"
#include "support/threads.h"

using namespace xgrad;
using namespace xgrad::testing;

namespace {

Tensor composed_layer_norm(const Tensor& x, const Tensor& gamma, const Tensor& beta) {
  const Tensor d = x - mean(x, -1, {.keepdim = true});
  return d / sqrt(mean(square(d), -1, {.keepdim = true}) + 1e-5) * gamma + beta;
}

bool finite(const Tensor& x) {
  return std::ranges::all_of(x.value(), [](Real v) { return std::isfinite(v); });
}

// Around the width of every register: the last pack of a row is full or not.
const std::int64_t lengths_of_rows[] = {1, 2, 7, 8, 15, 16, 17, 33, 64, 65, 130};

}  // namespace

TEST_CASE("layer norm and its gradients of two orders equal its formula for rows of any length") {
  const auto fused = [](const Tensors& x) { return layer_norm(x[0], x[1], x[2]); };
  const auto composed = [](const Tensors& x) { return composed_layer_norm(x[0], x[1], x[2]); };
  for (const std::int64_t n : lengths_of_rows) {
    CAPTURE(n);
    const double terms = n == 1 ? 300 : 0;  // 1 / sqrt(eps): what is left of one number is 0
    check_fused(fused, composed, {normal({5, n}), normal({n}, 2), normal({n}, 3)}, 1e-12, terms);
    check_fused([](const Tensors& x) { return layer_norm(x[0]); },
                [](const Tensors& x) { return composed_layer_norm(x[0], 1, 0); }, {normal({5, n})}, 1e-12, terms);
  }
  check_fused(fused, composed, {normal({700, 33}), normal({33}, 2), normal({33}, 3)});  // more rows than one block
  const Array x = normal({2, 3, 4});
  check_gradients([](const Tensors& in) { return layer_norm(in[0], in[1]); }, {x, normal({4}, 2)});
  check_gradients([](const Tensors& in) { return layer_norm(in[0], {}, in[1]); }, {x, normal({4}, 2)});
  check_gradients([](const Tensors& in) { return layer_norm(in[0], in[0], in[0]); }, {normal({5})});
  check_gradients([](const Tensors& in) { return transpose(layer_norm(transpose(in[0]), in[1], in[1])); },
                  {normal({4, 3}), normal({4}, 2)});
}

TEST_CASE("layer norm is exact where the mean is large against the spread") {
  for (const std::int64_t n : {7, 16, 33, 130}) {
    CAPTURE(n);
    const Array small = uniform({3, n}, 0, 4096);
    Array whole = small, moved = small;  // whole numbers, so that moving them loses nothing
    for (std::int64_t i = 0; i < small.size(); ++i) {
      whole.mutable_data()[i] = std::floor(small.data()[i]);
      moved.mutable_data()[i] = whole.data()[i] + 0x1p52;
    }
    const Tensor x = variable(whole), z = variable(moved);
    check_close(layer_norm(z).value(), layer_norm(x).value(), 1e-10);
    const Tensor seed = normal({3, n});
    check_close(grad(layer_norm(z), {z}, {.seed = seed})[0].value(),
                grad(layer_norm(x), {x}, {.seed = seed})[0].value());
  }
  const Tensor constant = variable(Array({2, 5}, 1e6));
  CHECK(equal(layer_norm(constant).value(), Array({2, 5}, 0)));
  CHECK(finite(grad(layer_norm(constant), {constant}, {.seed = normal({2, 5})})[0]));
}

TEST_CASE("layer norm refuses what does not fit") {
  const Tensor x = zeros({2, 3});
  CHECK_REFUSED(ShapeError, layer_norm(x, ones({2})), "layer_norm", "[2, 3]", "[2]");
  CHECK_REFUSED(ShapeError, layer_norm(x, ones({3}), ones({2})), "layer_norm", "beta [2]", "shape [3]");
  CHECK_REFUSED(ShapeError, layer_norm(x, ones({2}), {}, {.normalized = {3}}), "layer_norm", "gamma [2]", "shape [3]");
  CHECK_REFUSED(ShapeError, layer_norm(zeros({2, 0})), "layer_norm", "nothing to normalise", "[2, 0]");
  CHECK_REFUSED(ShapeError, layer_norm(Tensor(1)), "layer_norm", "[]", "[]");
  CHECK_REFUSED(ValueError, layer_norm(x, {}, {}, {.eps = -1}), "layer_norm", "eps -1");
}

TEST_CASE("normalisations are the same bits for any number of threads") {
  const Tensor x = variable(normal({2000, 70})), gamma = variable(normal({70}, 2)), beta = variable(normal({70}, 3));
  check_same_bits([&] {
    const Tensor y = layer_norm(softmax(x) + log_softmax(x), gamma, beta);
    Tensors parts{flatten(y)};
    for (const Tensor& g : grad(y, {x, gamma, beta}, {.seed = x.detach()})) parts.push_back(flatten(g));
    return concat(parts);
  });
}
