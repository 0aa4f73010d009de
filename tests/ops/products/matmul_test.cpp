// Products: factors that stand twice, threads, bad input. (Values and gradients: linalg_fixtures_test.cpp and
// random_cases_test.cpp.)
#include <iostream>
#include <sstream>

#include <xgrad/ops/ops.h>

#include "support/check.h"
#include "support/threads.h"

using namespace xgrad;
using namespace xgrad::testing;

TEST_CASE("products have the gradients of differences where a factor stands twice or is transposed") {
  check_gradients([](const Tensors& x) { return matmul(x[0], x[0]); }, {normal({3, 3})});
  check_gradients([](const Tensors& x) { return matmul(x[0], x[0]); }, {normal({3})});
  check_gradients([](const Tensors& x) { return matmul(x[0], x[0], {.transpose_b = true}); }, {normal({2, 3})});
  check_gradients([](const Tensors& x) { return transpose(matmul(transpose(x[0]), x[1])); },
                  {normal({4, 3}), normal({2, 4, 5})});
  check_gradients([](const Tensors& x) { return linear(x[0], x[0], x[1]); }, {normal({3, 3}), normal({3}, 3)});
}

TEST_CASE("products are the same bits for any number of threads") {
  const Tensor a = normal({300, 270}), b = normal({270, 310}, 2), c = normal({40, 31, 29}, 3),
               d = normal({40, 29, 33}, 4);
  const Tensor bias = normal({310}, 5);
  check_same_bits([&] {
    return concat({flatten(matmul(a, b)), flatten(matmul(a, b, {.transpose_a = false})),
                   flatten(matmul(b, a, {.transpose_a = true, .transpose_b = true})), flatten(matmul(c, d)),
                   flatten(linear(a, transpose(b), bias))});
  });
}

TEST_CASE("linear refuses inputs and biases that do not fit the weight") {
  for (const auto form : {&linear, &plain::linear}) {
    const auto f = [&](const Shape& x, const Shape& w, const Shape& b) { form(Array(x, 1), Array(w, 1), Array(b, 1)); };
    CHECK_REFUSED(ShapeError, f({2, 3}, {5, 4}, {5}), "linear", "input [2, 3]", "weight [5, 4]");
    CHECK_REFUSED(ShapeError, f({}, {5, 4}, {5}), "linear", "input []", "weight [5, 4]");
    CHECK_REFUSED(ShapeError, f({2, 4}, {4}, {5}), "linear", "input [2, 4]", "weight [4]");
    CHECK_REFUSED(ShapeError, f({2, 4}, {5, 4}, {4}), "linear", "bias [4]", "weight [5, 4]");
  }
}

TEST_CASE("dot and outer refuse what are no two vectors") {
  const Tensor a = tensor({1, 2, 3});
  CHECK_REFUSED(ShapeError, dot(a, tensor({1, 2})), "dot", "[3]", "[2]");
  CHECK_REFUSED(ShapeError, outer(a, Tensor(1)), "outer", "[3]", "[]");
}

TEST_CASE("einsum means what its letters say") {
  const Tensor a = normal({2, 3}), b = normal({3, 4}, 2), c = normal({2, 3, 4}, 3), d = normal({2, 4, 3}, 4);
  const Tensor s = normal({3, 3}, 5), v = normal({3}, 6), w = normal({4}, 7);
  const auto same_values = [](const Tensor& x, const Tensor& y) { check_close(x.value(), y.value()); };
  same_values(einsum("ij,jk->ki", {a, b}), transpose(matmul(a, b)));
  same_values(einsum("zA", {a}), transpose(a));  // the letters of a result that is not written come in alphabetical order
  same_values(einsum(" ji , kj -> ik ", {transpose(a), transpose(b)}), matmul(a, b));
  same_values(einsum("bij,bik->bjk", {c, c}), matmul(c, c, {.transpose_a = true}));
  same_values(einsum("bij,bjk->k", {c, d}), sum(matmul(c, d), {0, 1}));
  same_values(einsum("i,j->ji", {v, w}), outer(w, v));
  same_values(einsum("ij,ij->", {a, a}), sum(square(a)));
  same_values(einsum("ij,i->ij", {b, v}), b * unsqueeze(v, 1));
  same_values(einsum("ij,ji->ij", {b, transpose(b)}), square(b));
  same_values(einsum("ijk->j", {c}), sum(c, {0, 2}));
  same_values(einsum("ij,k->k", {a, w}), sum(a) * w);
  same_values(einsum("ii", {s}), s[{0, 0}] + s[{1, 1}] + s[{2, 2}]);
  same_values(einsum("ii,i->i", {s, v}), einsum("ii->i", {s}) * v);
  same_values(einsum("iji->j", {normal({2, 3, 2})}), normal({2, 3, 2})[{0, _, 0}] + normal({2, 3, 2})[{1, _, 1}]);
  same_values(einsum("iii->i", {normal({2, 2, 2})}),
              stack({normal({2, 2, 2})[{0, 0, 0}], normal({2, 2, 2})[{1, 1, 1}]}));
  same_values(einsum("ab,bc,c->a", {a, b, w}), matmul(matmul(a, b), w));
  same_values(einsum("...ij,jk", {c, transpose(b)}), matmul(c, transpose(b)));
  same_values(einsum("b...,b...->...", {c, c}), sum(square(c), 0));
  same_values(einsum("...i,...i->...", {c, normal({1, 4}, 8)}), sum(c * normal({1, 4}, 8), -1));
  same_values(einsum("...,...", {unsqueeze(a, 2), b[{slice(0, 1), _}]}), unsqueeze(a, 2) * b[{slice(0, 1), _}]);
  same_values(einsum("...ij->ij", {c}), sum(c, 0));
}

TEST_CASE("einsum refuses formulas that are malformed or do not fit") {
  const Tensor a = zeros({2, 3}), b = zeros({4, 5});
  CHECK_REFUSED(ValueError, einsum("i?", {a}), "einsum", "'?' in 'i?'");
  CHECK_REFUSED(ValueError, einsum("ij-i", {a}), "einsum", "'-' in 'ij-i'");
  CHECK_REFUSED(ValueError, einsum("ij->i->j", {a}), "einsum", "'-' in 'ij->i->j'");
  CHECK_REFUSED(ValueError, einsum("ij..", {a}), "einsum", "'.' in 'ij..'");
  CHECK_REFUSED(ValueError, einsum("......", {a}), "einsum", "'.' in '......'");
  CHECK_REFUSED(ValueError, einsum("ij->ii", {a}), "einsum", "'i' appears twice", "'ij->ii'");
  CHECK_REFUSED(ValueError, einsum("ij->k", {a}), "einsum", "'k' of the result", "'ij->k'");
  CHECK_REFUSED(ValueError, einsum("ij,jk", {a}), "einsum", "'ij,jk' has 2 factors", "1 given");
  CHECK_REFUSED(ShapeError, einsum("ij,jk", {a, b}), "einsum", "'j' has sizes 3 and 4", "[2, 3]", "[4, 5]");
  CHECK_REFUSED(ShapeError, einsum("ij,ijk", {a, b}), "einsum", "factor 1 of 'ij,ijk'", "[4, 5]");
  CHECK_REFUSED(ShapeError, einsum("i,ijk", {a, b}), "einsum", "factor 0 of 'i,ijk'", "[2, 3]");
  CHECK_REFUSED(ShapeError, einsum("...,...", {a, b}), "einsum", "sizes 2 and 4", "[2, 3]", "[4, 5]");
}

TEST_CASE("tensordot refuses axes that are not pairs") {
  const Tensor a = normal({2, 3, 4}), b = normal({3, 4, 5}, 2);
  CHECK_REFUSED(ShapeError, tensordot(a, b, 1), "tensordot", "axis 2 of [2, 3, 4]", "axis 0 of [3, 4, 5]");
  CHECK_REFUSED(ValueError, tensordot(a, b, 4), "tensordot", "count 4", "[2, 3, 4]", "[3, 4, 5]");
  CHECK_REFUSED(ValueError, tensordot(a, b, {0, 1}, {0}), "tensordot", "axes [0, 1]", "[0]");
  CHECK_REFUSED(ValueError, tensordot(a, b, {0, 0}, {0, 1}), "tensordot");
}

TEST_CASE("the build says what it runs on") {
  const BuildInfo info = build_info();
  CHECK(info.real == "double");
  CHECK(info.simd_width >= 1);
  CHECK(info.threads == threads());
  CHECK(info.blas_core.empty() != info.blas.starts_with("OpenBLAS"));
  CHECK(info.blas.empty() == (to_string(info).find(", no BLAS, ") != std::string::npos));
  CHECK(to_string(info).find(str(info.simd, " (", info.simd_width, " numbers per register)")) != std::string::npos);
}

TEST_CASE("the build in a line") {
  BuildInfo info{.real = "float",
                 .blas = "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH",
                 .blas_core = "Haswell",
                 .simd = "AVX2",
                 .simd_width = 8,
                 .bfloat16 = "AMX",
                 .threads = 1};
  CHECK(to_string(info) ==
        "xgrad " XGRAD_VERSION " (float), OpenBLAS 0.3.21 for Haswell, AVX2 (8 numbers per register), "
        "bfloat16 by AMX, 1 thread");
  info = {.real = "double", .simd = "SSE2", .simd_width = 2, .bfloat16_missing = "no unit", .threads = 2};
  CHECK(to_string(info) == "xgrad " XGRAD_VERSION " (double), no BLAS, SSE2 (2 numbers per register), "
                           "no bfloat16 (no unit), 2 threads");
  info.blas = "BLAS";
  CHECK(to_string(info).find("(double), BLAS, SSE2") != std::string::npos);
}

TEST_CASE("in double no precision of products changes them") {
  const Tensor a(normal({20, 30})), b(normal({30, 10}, 2));
  const Array exact = matmul(a, b).value();
  std::ostringstream said;
  for (const MatmulPrecision precision : {MatmulPrecision::high, MatmulPrecision::medium, MatmulPrecision::highest}) {
    std::streambuf* const errors = std::cerr.rdbuf(said.rdbuf());
    set_matmul_precision(precision);
    std::cerr.rdbuf(errors);
    CHECK(said.str() == "");
    CHECK(matmul_precision() == precision);
    CHECK(equal(matmul(a, b).value(), exact));
  }
}
