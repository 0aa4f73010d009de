// Layer, RMS and batch norm: sizes that random_cases_test.cpp does not draw, numbers of any size and far from 0, threads, bad
// input. (Values and gradients: reduce_fixtures_test.cpp and layers_fixtures_test.cpp.)
#include <limits>

#include <xgrad/ops/ops.h>

#include "support/check.h"
#include "support/fused.h"
#include "support/threads.h"

namespace xgrad::testing {
namespace {

struct Norm {
  const char* name;
  Tensor (*f)(const Tensor& x, const Tensor& gamma, const Tensor& beta, double eps);
  double eps;
  int channels;  // axis of gamma
  bool shifts = true;

  Tensor operator()(const Tensors& x) const {
    return f(x[0], x.size() > 1 ? x[1] : Tensor(), x.size() > 2 ? x[2] : Tensor(), eps);
  }
  Tensor composed(const Tensors& x) const {
    const Plain plain;
    return (*this)(x);
  }
  void check(const Shape& shape) const {
    CAPTURE(str(name, " ", shape));
    const Array x = normal(shape), gamma = normal({shape.dim(channels)}, 2), beta = normal({shape.dim(channels)}, 3);
    check_fused(*this, [this](const Tensors& in) { return composed(in); },
                shifts ? std::vector{x, gamma, beta} : std::vector{x, gamma});
  }
};

const Norm layer{"layer_norm",
                 [](const Tensor& x, const Tensor& gamma, const Tensor& beta, double eps) {
                   return layer_norm(x, gamma, beta, {.eps = eps});
                 },
                 1e-5, -1};
const Norm rms{"rms_norm",
               [](const Tensor& x, const Tensor& gamma, const Tensor&, double eps) {
                 return rms_norm(x, gamma, {.eps = eps});
               },
               std::numeric_limits<Real>::epsilon(), -1, false};
const Norm batch{"batch_norm",
                 [](const Tensor& x, const Tensor& gamma, const Tensor& beta, double eps) {
                   return batch_norm(x, gamma, beta, {.eps = eps}).y;
                 },
                 1e-5, 1};

TEST_CASE("norms and their gradients of two orders equal their formulas for more rows than one block, and for many axes") {
  for (const Norm* norm : {&layer, &rms}) norm->check({700, 33});
  for (const Shape& shape : {Shape{4, 300, 7, 9}, {2, 3, 1, 1, 3}, {2, 3, 2, 3, 2}}) batch.check(shape);
}

TEST_CASE("norms are exact where the mean is large against the spread") {
  const auto check = [](const Norm& norm, const Shape& shape) {
    CAPTURE(str(norm.name, " ", shape));
    const Tensor whole = floor(Tensor(uniform(shape, 0, 4096)));  // so that moving them loses nothing
    const Tensor x = variable(whole.value()), z = variable((whole + 0x1p52).value()), seed = normal(shape);
    const Tensor y = norm({x}), moved = norm({z});
    check_close(moved.value(), y.value(), 1e-10);
    check_close(grad(moved, {z}, {.seed = seed})[0].value(), grad(y, {x}, {.seed = seed})[0].value());
  };
  for (const std::int64_t n : {7, 16, 33, 130}) check(layer, {3, n});
  check(batch, {6, 2, 7});
  const Tensor constant = variable(Array({2, 5}, 1e6));
  for (const Norm* norm : {&layer, &batch}) {
    const Tensor y = (*norm)({constant});
    CHECK(equal(y.value(), Array({2, 5}, 0)));
    CHECK(all(isfinite(grad(y, {constant}, {.seed = normal({2, 5})})[0])));
  }
}

TEST_CASE("norms do not depend on the size of numbers as long as squares are in range") {
  for (const Norm* norm : {&rms, &batch}) {
    const Shape shape = norm == &rms ? Shape{2, 9} : Shape{4, 2, 3};
    for (const Real scale : {Real(1e100), Real(1e-100)}) {
      CAPTURE(str(norm->name, " times ", scale));
      const Tensor x = variable(normal(shape)), scaled = variable((x * scale).value()), seed = normal(shape, 2);
      const Tensor y = norm->f(x, {}, {}, 0), z = norm->f(scaled, {}, {}, 0);
      check_close(z.value(), y.value());
      const Tensor expected = grad(y, {x}, {.seed = seed})[0];
      for (const bool create_graph : {false, true}) {
        const Tensor g = grad(z, {scaled}, {.seed = seed, .create_graph = create_graph, .retain_graph = true})[0];
        check_close((g * scale).value(), expected.value());
      }
    }
  }
}

TEST_CASE("normalisations are the same bits for any number of threads") {
  const auto check = [](const Shape& shape, const Function& f, std::int64_t channels) {
    const Tensors x{variable(normal(shape)), variable(normal({channels}, 2)), variable(normal({channels}, 3))};
    check_same_bits([&] {
      const Tensor y = f(x);
      Tensors parts{flatten(y)};
      for (const Tensor& g : grad(y, x, {.seed = x[0].detach(), .unused = Unused::zeros})) parts.push_back(flatten(g));
      return concat(parts);
    });
  };
  check({2000, 70}, [](const Tensors& x) { return layer_norm(softmax(x[0]) + log_softmax(x[0]), x[1], x[2]); }, 70);
  check({2000, 70}, rms, 70);
  check({20, 70, 31}, batch, 70);
}

TEST_CASE("norms refuse what does not fit") {
  const Tensor x = zeros({2, 3}), images = zeros({2, 3, 4});
  CHECK_REFUSED(ShapeError, layer_norm(x, ones({2})), "layer_norm", "[2, 3]", "[2]");
  CHECK_REFUSED(ShapeError, layer_norm(x, ones({3}), ones({2})), "layer_norm", "beta [2]", "shape [3]");
  CHECK_REFUSED(ShapeError, layer_norm(x, ones({2}), {}, {.normalized = {3}}), "layer_norm", "gamma [2]", "shape [3]");
  CHECK_REFUSED(ShapeError, layer_norm(zeros({2, 0})), "layer_norm", "nothing to normalise", "[2, 0]");
  CHECK_REFUSED(ShapeError, layer_norm(Tensor(1)), "layer_norm", "[]", "[]");
  CHECK_REFUSED(ValueError, layer_norm(x, {}, {}, {.eps = -1}), "layer_norm", "eps -1");
  CHECK_REFUSED(ShapeError, rms_norm(x, ones({2})), "rms_norm", "[2, 3]", "[2]");
  CHECK_REFUSED(ShapeError, rms_norm(x, ones({2}), {.normalized = {3}}), "rms_norm", "gamma [2]", "shape [3]");
  CHECK_REFUSED(ShapeError, rms_norm(zeros({2, 0})), "rms_norm", "nothing to normalise", "[2, 0]");
  CHECK_REFUSED(ValueError, rms_norm(x, {}, {.eps = -1}), "rms_norm", "eps -1");
  CHECK_REFUSED(ShapeError, batch_norm(zeros({3})), "batch_norm", "numbers (B, C, ...)", "[3]");
  CHECK_REFUSED(ShapeError, batch_norm(zeros({0, 3})), "batch_norm", "numbers (B, C, ...)", "[0, 3]");
  CHECK_REFUSED(ShapeError, batch_norm(images, ones({4})), "batch_norm", "gamma [4]", "shape [3]");
  CHECK_REFUSED(ShapeError, batch_norm(images, ones({3}), ones({3, 1})), "batch_norm", "beta [3, 1]", "shape [3]");
  CHECK_REFUSED(ValueError, batch_norm(images, {}, {}, {.eps = -1}), "batch_norm", "eps -1");
}

}  // namespace
}  // namespace xgrad::testing
