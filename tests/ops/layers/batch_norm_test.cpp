// Batch norm: against its composed form, in shapes of any rank, and extreme inputs.
#include <cmath>

#include <xgrad/ops/ops.h>

#include "support/check.h"
#include "support/fused.h"
#include "support/threads.h"

using namespace xgrad;
using namespace xgrad::testing;

namespace {

AxisSet all_but_channels(int rank) {
  Axes axes{0};
  for (int axis = 2; axis < rank; ++axis) axes.push_back(axis);
  return axes;
}

Tensor composed_batch_norm(const Tensor& x, const Tensor& gamma, const Tensor& beta) {
  const AxisSet axes = all_but_channels(x.rank());
  Shape channels = Shape::filled(x.rank(), 1);
  channels[1] = x.dim(1);
  const Tensor d = x - mean(x, axes, {.keepdim = true});
  return d / sqrt(mean(square(d), axes, {.keepdim = true}) + 1e-5) * reshape(gamma, channels) +
         reshape(beta, channels);
}

}  // namespace

TEST_CASE("batch norm and its gradients of two orders equal its formula for any number of axes") {
  const auto fused = [](const Tensors& x) { return batch_norm(x[0], x[1], x[2]).y; };
  const auto composed = [](const Tensors& x) { return composed_batch_norm(x[0], x[1], x[2]); };
  for (const Shape& shape :
       {Shape{5, 3}, {40, 3}, {1, 3, 2}, {2, 3, 5}, {3, 3, 4, 9}, {2, 3, 1, 1, 3}, {2, 3, 2, 3, 2}}) {
    CAPTURE(cat(shape));
    check_fused(fused, composed, {normal(shape), normal({3}, 2), normal({3}, 3)});
    check_fused([](const Tensors& x) { return batch_norm(x[0]).y; },
                [](const Tensors& x) { return composed_batch_norm(x[0], ones({3}), zeros({3})); }, {normal(shape)});
  }
  check_fused(fused, composed, {normal({4, 300, 7, 9}), normal({300}, 2), normal({300}, 3)});  // more than one block
  const Array x = normal({2, 3, 4});
  check_gradients([](const Tensors& in) { return batch_norm(in[0], in[1]).y; }, {x, normal({3}, 2)});
  check_gradients([](const Tensors& in) { return batch_norm(in[0], {}, in[1]).y; }, {x, normal({3}, 2)});
}

TEST_CASE("batch norm tells the mean and the variance of each channel") {
  const Tensor x = normal({3, 4, 5});
  const BatchNormed normed = batch_norm(x);
  check_close(normed.mean, mean(x, {0, 2}).value());
  check_close(normed.variance, var(x, {0, 2}, {.correction = 0}).value());
}

TEST_CASE("batch norm is exact where the mean is large against the spread") {
  const Array small = uniform({6, 2, 7}, 0, 4096);
  Array whole = small, moved = small;  // whole numbers, so that moving them loses nothing
  for (std::int64_t i = 0; i < small.size(); ++i) {
    whole.mutable_data()[i] = std::floor(small.data()[i]);
    moved.mutable_data()[i] = whole.data()[i] + 0x1p52;
  }
  const Tensor x = variable(whole), z = variable(moved), seed = normal(small.shape());
  check_close(batch_norm(z).y.value(), batch_norm(x).y.value(), 1e-10);
  check_close(grad(batch_norm(z).y, {z}, {.seed = seed})[0].value(),
              grad(batch_norm(x).y, {x}, {.seed = seed})[0].value());
  CHECK(equal(batch_norm(Array({3, 2}, 1e6)).y.value(), Array({3, 2}, 0)));
}

TEST_CASE("batch norm does not depend on the size of numbers as long as squares are in range") {
  for (const Real scale : {Real(1e100), Real(1e-100)}) {
    CAPTURE(scale);
    const Tensor x = normal({4, 2, 3}), z = variable(x.value()), seed = normal({4, 2, 3}, 2);
    const Tensor scaled = variable((x * scale).value());
    const BatchNormFuncOptions exact{.eps = 0};
    check_close(batch_norm(scaled, {}, {}, exact).y.value(), batch_norm(x, {}, {}, exact).y.value());
    const Tensor expected = grad(batch_norm(z, {}, {}, exact).y, {z}, {.seed = seed})[0];
    for (const bool create_graph : {false, true}) {
      const Tensor gradient =
          grad(batch_norm(scaled, {}, {}, exact).y, {scaled}, {.seed = seed, .create_graph = create_graph})[0];
      check_close((gradient * scale).value(), expected.value());
    }
  }
}

TEST_CASE("batch norm is the same bits for any number of threads") {
  const Tensor x = variable(normal({20, 70, 31})), gamma = variable(normal({70}, 2)), beta = variable(normal({70}, 3));
  check_same_bits([&] {
    const Tensor y = batch_norm(x, gamma, beta).y;
    Tensors parts{flatten(y)};
    for (const Tensor& g : grad(y, {x, gamma, beta}, {.seed = x.detach()})) parts.push_back(flatten(g));
    return concat(parts);
  });
}

TEST_CASE("batch norm refuses what does not fit") {
  const Tensor x = zeros({2, 3, 4});
  CHECK_REFUSED(ShapeError, batch_norm(zeros({3})), "batch_norm", "numbers (B, C, ...)", "[3]");
  CHECK_REFUSED(ShapeError, batch_norm(zeros({0, 3})), "batch_norm", "numbers (B, C, ...)", "[0, 3]");
  CHECK_REFUSED(ShapeError, batch_norm(x, ones({4})), "batch_norm", "gamma [4]", "shape [3]");
  CHECK_REFUSED(ShapeError, batch_norm(x, ones({3}), ones({3, 1})), "batch_norm", "beta [3, 1]", "shape [3]");
  CHECK_REFUSED(ValueError, batch_norm(x, {}, {}, {.eps = -1}), "batch_norm", "eps -1");
}
