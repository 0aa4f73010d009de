// Products: against plain loops, gradients against differences.
#include <xgrad/core/parallel.h>
#include <xgrad/ops/blas.h>
#include <xgrad/ops/ops.h>

#include "support/check.h"

using namespace xgrad;
using namespace xgrad::testing;

namespace {

// Element (i, j) of the last two axes, or (j, i) if transposed, of the matrix at flat position `batch` of the broadcast
// leading axes.
Real element(const Array& x, const Shape& batch_shape, std::int64_t batch, std::int64_t i, std::int64_t j,
             bool transposed) {
  if (transposed) std::swap(i, j);
  const Shape own(ShortList<std::int64_t>(std::span(x.shape().begin(), x.shape().end() - 2)));
  const auto strides = broadcast_strides(own, batch_shape);
  std::int64_t at = 0;
  for (int axis = batch_shape.rank() - 1; axis >= 0; --axis) {
    at += batch % batch_shape[axis] * strides[axis];
    batch /= batch_shape[axis];
  }
  return x.data()[(at * x.dim(-2) + i) * x.dim(-1) + j];
}

// The product by definition.
Array by_loops(const Array& a, const Array& b, const MatmulOptions& options, const Shape& shape) {
  const Shape batch(ShortList<std::int64_t>(std::span(shape.begin(), shape.end() - 2)));
  const std::int64_t m = shape.dim(-2), n = shape.dim(-1), inner = a.dim(options.transpose_a ? -2 : -1);
  Array y(shape, Real(0));
  Real* out = y.mutable_data();
  for (std::int64_t i = 0; i < y.size(); ++i) {
    for (std::int64_t k = 0; k < inner; ++k) {
      out[i] += element(a, batch, i / (m * n), i / n % m, k, options.transpose_a) *
                element(b, batch, i / (m * n), k, i % n, options.transpose_b);
    }
  }
  return y;
}

struct Case {
  Shape a, b;
  MatmulOptions options;
  Shape y;
};

const Case cases[] = {
    {{1, 1}, {1, 1}, {}, {1, 1}},
    {{2, 3}, {3, 4}, {}, {2, 4}},
    {{3, 2}, {3, 4}, {.transpose_a = true}, {2, 4}},
    {{2, 3}, {4, 3}, {.transpose_b = true}, {2, 4}},
    {{3, 2}, {4, 3}, {.transpose_a = true, .transpose_b = true}, {2, 4}},
    {{17, 33}, {33, 7}, {}, {17, 7}},
    {{5, 1}, {1, 7}, {}, {5, 7}},
    {{1, 7}, {7, 1}, {}, {1, 1}},
    {{2, 2, 3}, {3, 5}, {}, {2, 2, 5}},
    {{2, 2, 3}, {5, 3}, {.transpose_b = true}, {2, 2, 5}},
    {{2, 3, 2}, {3, 5}, {.transpose_a = true}, {2, 2, 5}},
    {{2, 3}, {4, 3, 2}, {}, {4, 2, 2}},
    {{3, 2}, {4, 2, 3}, {.transpose_a = true, .transpose_b = true}, {4, 2, 2}},
    {{4, 2, 3}, {4, 3, 2}, {}, {4, 2, 2}},
    {{4, 3, 2}, {4, 2, 3}, {.transpose_a = true, .transpose_b = true}, {4, 2, 2}},
    {{1, 2, 3}, {4, 3, 2}, {}, {4, 2, 2}},
    {{4, 2, 3}, {1, 3, 2}, {}, {4, 2, 2}},
    {{3, 1, 2, 2}, {2, 2, 3}, {}, {3, 2, 2, 3}},
    {{2, 1, 2, 3}, {1, 3, 4, 3}, {.transpose_b = true}, {2, 3, 2, 4}},
    {{2, 1, 2, 2, 3}, {1, 2, 1, 3, 2}, {}, {2, 2, 2, 2, 2}},
    {{2, 0}, {0, 3}, {}, {2, 3}},
    {{0, 2}, {2, 3}, {}, {0, 3}},
    {{2, 2}, {2, 0}, {}, {2, 0}},
    {{2, 3, 0}, {0, 2}, {}, {2, 3, 2}},
    {{3, 2, 0}, {3, 0, 2}, {}, {3, 2, 2}},
    {{0, 2, 3}, {0, 3, 2}, {}, {0, 2, 2}},
    {{0, 2, 3}, {3, 2}, {}, {0, 2, 2}},
};

}  // namespace

TEST_CASE("matmul is the sum over the inner axis, leading axes broadcast") {
  for (const auto& [a, b, options, shape] : cases) {
    CAPTURE(cat(a, " @ ", b));
    const Array x = normal(a, 1), y = normal(b, 2);
    check_close(matmul(x, y, options).value(), by_loops(x, y, options, shape));
  }
}

TEST_CASE("matmul has gradients of any order for every shape and transposition") {
  for (const auto& [a, b, options, shape] : cases) {
    CAPTURE(cat(a, " @ ", b));
    const bool zero = a.numel() == 0 || b.numel() == 0;
    check_gradients([options = options](const Tensors& x) { return matmul(x[0], x[1], options); },
                    {normal(a, 1), normal(b, 2)}, {.zero = zero});
  }
  check_gradients([](const Tensors& x) { return matmul(x[0], x[0]); }, {normal({3, 3})});
  check_gradients([](const Tensors& x) { return matmul(x[0], x[0], {.transpose_b = true}); }, {normal({2, 3})});
  check_gradients([](const Tensors& x) { return transpose(matmul(transpose(x[0]), x[1])); },
                  {normal({4, 3}), normal({2, 4, 5})});
}

TEST_CASE("a vector is a row on the left, a column on the right") {
  const Tensor a = tensor({1, 2}), b = tensor({{1, 2, 3}, {4, 5, 6}});
  CHECK(equal(matmul(a, b).value(), Array({3}, {9, 12, 15})));
  CHECK(equal(matmul(b, tensor({1, 0, 2}), {}).value(), Array({2}, {7, 16})));
  CHECK(equal(matmul(a, a).value(), Array({}, {5})));
  CHECK(equal(matmul(a, b, {.transpose_b = false}).value(), matmul(a, transpose(b), {.transpose_b = true}).value()));
  CHECK(matmul(normal({3}), normal({2, 4, 3, 5})).shape() == Shape{2, 4, 5});
  CHECK(matmul(normal({2, 4, 3, 5}), normal({5})).shape() == Shape{2, 4, 3});
  const auto product = [](const Tensors& x) { return matmul(x[0], x[1]); };
  check_gradients(product, {normal({3}), normal({3}, 2)});
  check_gradients(product, {normal({3}), normal({3, 4}, 2)});
  check_gradients(product, {normal({3}), normal({2, 3, 4}, 2)});
  check_gradients(product, {normal({2, 5, 3}), normal({3}, 2)});
  check_gradients([](const Tensors& x) { return matmul(x[0], x[0]); }, {normal({3})});
}

TEST_CASE("matmul refuses factors that do not fit and names their shapes") {
  const auto refusal = [](const Shape& a, const Shape& b, const MatmulOptions& options = {}) {
    return error_of<ShapeError>([&] { matmul(Array(a, 1), Array(b, 1), options); });
  };
  CHECK(refusal({2, 3}, {4, 5}) == "matmul: inner sizes differ: [2, 3] @ [4, 5]");
  CHECK(refusal({2, 3}, {3, 5}, {.transpose_a = true}) == "matmul: inner sizes differ: [2, 3]' @ [3, 5]");
  CHECK(refusal({3}, {4, 5}) == "matmul: inner sizes differ: [3] @ [4, 5]");
  CHECK(refusal({4, 5}, {4}) == "matmul: inner sizes differ: [4, 5] @ [4]");
  CHECK(refusal({3}, {4}) == "matmul: inner sizes differ: [3] @ [4]");
  CHECK(refusal({2, 2, 3}, {3, 3, 2}) == "matmul: cannot broadcast [2] with [3] at axis -1");
  CHECK(refusal({}, {3, 3}) == "matmul: a factor has no axis: [] @ [3, 3]");
  CHECK(refusal({3}, {3, 3}, {.transpose_a = true}) == "matmul: a vector cannot be transposed: [3] @ [3, 3]");
}

TEST_CASE("rows of a matrix times its transpose, in shared memory, is no special case") {
  const Array w = normal({4, 3});
  const Array first = Array(Shape{2, 3}, std::span(w.data(), 6));
  check_close(matmul(Tensor(first), Tensor(w), {.transpose_b = true}).value(),
              by_loops(first, w, {.transpose_b = true}, {2, 4}));
  const Tensor x = normal({37, 19});
  const Tensor square = matmul(x, x, {.transpose_b = true});
  CHECK(difference(square.value(), transpose(square).value()) < 1e-14);
}

TEST_CASE("products are the same bits for any number of threads") {
  const Tensor a = normal({300, 270}), b = normal({270, 310}, 2), c = normal({40, 31, 29}, 3),
               d = normal({40, 29, 33}, 4);
  const Tensor bias = normal({310}, 5);
  const auto all = [&] {
    return concat({flatten(matmul(a, b)), flatten(matmul(a, b, {.transpose_a = false})),
                   flatten(matmul(b, a, {.transpose_a = true, .transpose_b = true})), flatten(matmul(c, d)),
                   flatten(linear(a, transpose(b), bias))});
  };
  const int before = threads();
  set_threads(1);
  const Tensor one = all();
  set_threads(3);
  const Tensor three = all();
  set_threads(before);
  CHECK(equal(one.value(), three.value()));
}

TEST_CASE("linear is x weight' + bias") {
  const auto composed = [](const Tensors& x) { return matmul(x[0], x[1], {.transpose_b = true}) + x[2]; };
  const auto fused = [](const Tensors& x) { return linear(x[0], x[1], x[2]); };
  CHECK(equal(linear(tensor({1, 2}), tensor({{1, 0}, {0, 1}, {1, 1}}), tensor({10, 20, 30})).value(),
              Array({3}, {11, 22, 33})));
  for (const Shape& shape : {Shape{4}, {1, 4}, {5, 4}, {2, 3, 4}, {2, 1, 3, 4}, {0, 4}, {200, 4}}) {
    CAPTURE(cat(shape));
    const std::vector<Array> inputs{normal(shape), normal({3, 4}, 2), normal({3}, 3)};
    const Tensors xs(inputs.begin(), inputs.end());
    check_close(fused(xs).value(), composed(xs).value());
    check_close(linear(xs[0], xs[1]).value(), matmul(xs[0], xs[1], {.transpose_b = true}).value());
    const bool zero = shape.numel() == 0;
    check_gradients(fused, inputs, {.zero = zero});
    check_gradients([](const Tensors& x) { return linear(x[0], x[1]); }, {inputs[0], inputs[1]}, {.zero = zero});
  }
  check_gradients(fused, {normal({2, 0}), normal({3, 0}), normal({3}, 3)});
  check_gradients([](const Tensors& x) { return linear(x[0], x[0], x[1]); }, {normal({3, 3}), normal({3}, 3)});
}

TEST_CASE("linear refuses inputs and biases that do not fit the weight") {
  const auto refusal = [](const Shape& x, const Shape& weight, const Shape& bias) {
    return error_of<ShapeError>([&] { linear(Array(x, 1), Array(weight, 1), Array(bias, 1)); });
  };
  CHECK(refusal({2, 3}, {5, 4}, {5}) == "linear: input [2, 3] does not fit weight [5, 4]");
  CHECK(refusal({}, {5, 4}, {5}) == "linear: input [] does not fit weight [5, 4]");
  CHECK(refusal({2, 4}, {4}, {5}) == "linear: input [2, 4] does not fit weight [4]");
  CHECK(refusal({2, 4}, {5, 4}, {4}) == "linear: bias [4] does not fit weight [5, 4]");
}

TEST_CASE("dot and outer are the products of two vectors") {
  const Tensor a = tensor({1, 2, 3}), b = tensor({4, 5, 6});
  CHECK(dot(a, b).item() == 32);
  CHECK(equal(outer(a, tensor({1, 10})).value(), Array({3, 2}, {1, 10, 2, 20, 3, 30})));
  check_gradients([](const Tensors& x) { return dot(x[0], x[1]); }, {normal({5}), normal({5}, 2)});
  check_gradients([](const Tensors& x) { return outer(x[0], x[1]); }, {normal({5}), normal({3}, 2)});
  CHECK(error_of<ShapeError>([&] { dot(a, tensor({1, 2})); }) == "dot: no two vectors: [3] . [2]");
  CHECK(error_of<ShapeError>([&] { outer(a, Tensor(1)); }) == "outer: no two vectors: [3], []");
}

TEST_CASE("the build says what it runs on") {
  const BuildInfo info = build_info();
  CHECK(info.real == "double");
  CHECK_FALSE(info.blas.empty());
  CHECK(info.simd_width >= 1);
  CHECK(info.threads == threads());
  // On a processor with AVX2 or better nothing may be left at the BLAS's oldest kernels.
  CHECK((info.simd_width < 4 || info.blas_core != "Prescott"));
}
