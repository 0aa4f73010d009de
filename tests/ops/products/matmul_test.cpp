// Products: against the definition in xtensor, gradients against differences.
#include <xgrad/ops/derivatives/build_info.h>
#include <xgrad/ops/ops.h>

#include "support/check.h"
#include "support/oracle.h"
#include "support/threads.h"

using namespace xgrad;
using namespace xgrad::testing;

namespace {

// The product by definition.
Array by_definition(const Tensor& a, const Tensor& b, const MatmulOptions& options = {}) {
  return oracle::matmul((options.transpose_a ? transpose(a) : a).value(),
                        (options.transpose_b ? transpose(b) : b).value());
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
    const std::string product = cat(a, " @ ", b);
    CAPTURE(product);
    const Array x = normal(a, 1), y = normal(b, 2);
    CHECK(matmul(x, y, options).shape() == shape);
    check_close(matmul(x, y, options).value(), by_definition(x, y, options));
  }
}

TEST_CASE("matmul has gradients of any order for every shape and transposition") {
  for (const auto& [a, b, options, shape] : cases) {
    const std::string product = cat(a, " @ ", b);
    CAPTURE(product);
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
  CHECK(refusal({2, 3}, {3, 5}, {.transpose_a = true}) ==
        "matmul: inner sizes differ: [2, 3]' @ [3, 5]; did you mean without .transpose_a?");
  CHECK(refusal({3}, {4, 5}) == "matmul: inner sizes differ: [3] @ [4, 5]");
  CHECK(refusal({4, 5}, {4}) == "matmul: inner sizes differ: [4, 5] @ [4]; did you mean {.transpose_a = true}?");
  CHECK(refusal({3}, {4}) == "matmul: inner sizes differ: [3] @ [4]");
  CHECK(refusal({2, 2, 3}, {3, 3, 2}) == "matmul: [2, 2, 3] @ [3, 3, 2]: the axes in front of the matrices, [2] and [3], do not broadcast");
  CHECK(refusal({}, {3, 3}) == "matmul: a factor has no axis: [] @ [3, 3]");
  CHECK(refusal({3}, {3, 3}, {.transpose_a = true}) == "matmul: a vector cannot be transposed: [3] @ [3, 3]");
}

TEST_CASE("rows of a matrix times its transpose, in shared memory, is no special case") {
  const Array w = normal({4, 3});
  const Array first = Array(Shape{2, 3}, std::span(w.data(), 6));
  check_close(matmul(Tensor(first), Tensor(w), {.transpose_b = true}).value(),
              by_definition(first, w, {.transpose_b = true}));
  const Tensor x = normal({37, 19});
  const Tensor square = matmul(x, x, {.transpose_b = true});
  CHECK(difference(square.value(), transpose(square).value()) < 1e-14);
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

TEST_CASE("linear is x weight' + bias") {
  const auto composed = [](const Tensors& x) { return plain::linear(x[0], x[1], x[2]); };
  const auto fused = [](const Tensors& x) { return linear(x[0], x[1], x[2]); };
  CHECK(equal(linear(tensor({1, 2}), tensor({{1, 0}, {0, 1}, {1, 1}}), tensor({10, 20, 30})).value(),
              Array({3}, {11, 22, 33})));
  for (const Shape& shape : {Shape{4}, {1, 4}, {5, 4}, {2, 3, 4}, {2, 1, 3, 4}, {0, 4}, {200, 4}}) {
    CAPTURE(cat(shape));
    const std::vector<Array> inputs{normal(shape), normal({3, 4}, 2), normal({3}, 3)};
    const Tensors xs(inputs.begin(), inputs.end());
    check_close(fused(xs).value(), composed(xs).value());
    check_close(linear(xs[0], xs[1]).value(), plain::linear(xs[0], xs[1]).value());
    const bool zero = shape.numel() == 0;
    check_gradients(fused, inputs, {.zero = zero});
    check_gradients([](const Tensors& x) { return linear(x[0], x[1]); }, {inputs[0], inputs[1]}, {.zero = zero});
  }
  check_gradients(fused, {normal({2, 0}), normal({3, 0}), normal({3}, 3)});
  check_gradients([](const Tensors& x) { return linear(x[0], x[0], x[1]); }, {normal({3, 3}), normal({3}, 3)});
}

TEST_CASE("linear refuses inputs and biases that do not fit the weight") {
  const auto refusal = [](const Shape& x, const Shape& weight, const Shape& bias) {
    const std::string error = error_of<ShapeError>([&] { linear(Array(x, 1), Array(weight, 1), Array(bias, 1)); });
    CHECK(error_of<ShapeError>([&] { plain::linear(Array(x, 1), Array(weight, 1), Array(bias, 1)); }) == error);
    return error;
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
  CHECK(error_of<ShapeError>([&] { dot(a, tensor({1, 2})); }) == "dot: needs two vectors of one size, got [3] and [2]");
  CHECK(error_of<ShapeError>([&] { outer(a, Tensor(1)); }) == "outer: needs two vectors, got [3] and []");
}

TEST_CASE("einsum means what its letters say") {
  const Tensor a = normal({2, 3}), b = normal({3, 4}, 2), c = normal({2, 3, 4}, 3), d = normal({2, 4, 3}, 4);
  const Tensor s = normal({3, 3}, 5), v = normal({3}, 6), w = normal({4}, 7);
  const auto same_values = [](const Tensor& x, const Tensor& y) { check_close(x.value(), y.value()); };
  same_values(einsum("ij,jk->ik", {a, b}), matmul(a, b));
  same_values(einsum("ij,jk", {a, b}), matmul(a, b));
  same_values(einsum("ij,jk->ki", {a, b}), transpose(matmul(a, b)));
  same_values(einsum(" ji , kj -> ik ", {transpose(a), transpose(b)}), matmul(a, b));
  same_values(einsum("bij,bjk->bik", {c, d}), matmul(c, d));
  same_values(einsum("bij,bkj->bik", {c, c}), matmul(c, c, {.transpose_b = true}));
  same_values(einsum("bij,bik->bjk", {c, c}), matmul(c, c, {.transpose_a = true}));
  same_values(einsum("bij,bjk->k", {c, d}), sum(matmul(c, d), {0, 1}));
  same_values(einsum("i,j->ij", {v, w}), outer(v, w));
  same_values(einsum("i,j->ji", {v, w}), outer(w, v));
  same_values(einsum("i,i", {v, v}), dot(v, v));
  same_values(einsum("ij,ij->ij", {a, a}), square(a));
  same_values(einsum("ij,ij->", {a, a}), sum(square(a)));
  same_values(einsum("ij,i->ij", {b, v}), b * unsqueeze(v, 1));
  same_values(einsum("ij,ji->ij", {b, transpose(b)}), square(b));
  same_values(einsum("ij->ji", {a}), transpose(a));
  same_values(einsum("ba", {a}), transpose(a));
  same_values(einsum("ijk->j", {c}), sum(c, {0, 2}));
  same_values(einsum("ij->", {a}), sum(a));
  same_values(einsum("ij,k->k", {a, w}), sum(a) * w);
  same_values(einsum("ii->", {s}), einsum("ii", {s}));
  same_values(einsum("ii", {s}), s[{0, 0}] + s[{1, 1}] + s[{2, 2}]);
  same_values(einsum("ii->i", {s}), stack({s[{0, 0}], s[{1, 1}], s[{2, 2}]}));
  same_values(einsum("ii,i->i", {s, v}), einsum("ii->i", {s}) * v);
  same_values(einsum("iji->j", {normal({2, 3, 2})}), normal({2, 3, 2})[{0, _, 0}] + normal({2, 3, 2})[{1, _, 1}]);
  same_values(einsum("iii->i", {normal({2, 2, 2})}),
              stack({normal({2, 2, 2})[{0, 0, 0}], normal({2, 2, 2})[{1, 1, 1}]}));
  same_values(einsum("ab,bc,c->a", {a, b, w}), matmul(matmul(a, b), w));
  same_values(einsum("...ij->...ji", {c}), transpose(c));
  same_values(einsum("...ij,...jk->...ik", {c, d}), matmul(c, d));
  same_values(einsum("...ij,jk", {c, transpose(b)}), matmul(c, transpose(b)));
  same_values(einsum("b...,b...->...", {c, c}), sum(square(c), 0));
  same_values(einsum("...i,...i->...", {c, normal({1, 4}, 8)}), sum(c * normal({1, 4}, 8), -1));
  same_values(einsum("...,...", {unsqueeze(a, 2), b[{slice(0, 1), _}]}), unsqueeze(a, 2) * b[{slice(0, 1), _}]);
  same_values(einsum("...ij->ij", {c}), sum(c, 0));
  CHECK(einsum("ij,jk->ik", {zeros({2, 0}), zeros({0, 3})}).shape() == Shape{2, 3});
  CHECK(einsum("ij,jk->ik", {zeros({0, 2}), zeros({2, 3})}).shape() == Shape{0, 3});
  CHECK(einsum("ii->i", {zeros({0, 0})}).shape() == Shape{0});
}

TEST_CASE("einsum has gradients of any order") {
  const auto check = [](const char* formula, const std::vector<Array>& inputs) {
    CAPTURE(formula);
    check_gradients([formula](const Tensors& x) { return einsum(formula, x); }, inputs);
  };
  check("ij,jk->ki", {normal({2, 3}), normal({3, 4}, 2)});
  check("bqd,bkd->bqk", {normal({2, 3, 4}), normal({2, 5, 4}, 2)});
  check("bhqk,bkhd->bqhd", {normal({2, 2, 3, 4}), normal({2, 4, 2, 3}, 2)});
  check("ii->i", {normal({4, 4})});
  check("ij,k->k", {normal({2, 3}), normal({4}, 2)});
  check("ab,bc,cd->ad", {normal({2, 3}), normal({3, 2}, 2), normal({2, 4}, 3)});
  check("...i,...i->...", {normal({2, 3, 4}), normal({1, 4}, 2)});
  check_gradients([](const Tensors& x) { return einsum("ij,ij->", {x[0], x[0]}); }, {normal({3, 5})});
}

TEST_CASE("einsum refuses formulas that are malformed or do not fit") {
  const Tensor a = zeros({2, 3}), b = zeros({4, 5});
  const auto malformed = [&](const char* formula) { return error_of<ValueError>([&] { einsum(formula, {a}); }); };
  CHECK(malformed("i?") == "einsum: unexpected '?' in 'i?'");
  CHECK(malformed("ij-i") == "einsum: unexpected '-' in 'ij-i'");
  CHECK(malformed("ij->i->j") == "einsum: unexpected '-' in 'ij->i->j'");
  CHECK(malformed("ij..") == "einsum: unexpected '.' in 'ij..'");
  CHECK(malformed("......") == "einsum: unexpected '.' in '......'");
  CHECK(malformed("ij->ii") == "einsum: 'i' appears twice in the result in 'ij->ii'");
  CHECK(malformed("ij->k") == "einsum: 'k' of the result appears in no factor in 'ij->k'");
  CHECK(malformed("ij,jk") == "einsum: 'ij,jk' has 2 factors, 1 given");
  const auto unfitting = [&](const char* formula) { return error_of<ShapeError>([&] { einsum(formula, {a, b}); }); };
  CHECK(unfitting("ij,jk") == "einsum: 'j' has sizes 3 and 4 in 'ij,jk': factor 0 [2, 3], factor 1 [4, 5]");
  CHECK(unfitting("ij,ijk") == "einsum: factor 1 of 'ij,ijk' has shape [4, 5]");
  CHECK(unfitting("i,ijk") == "einsum: factor 0 of 'i,ijk' has shape [2, 3]");
  CHECK(unfitting("...,...") ==
        "einsum: an axis of '...' has sizes 2 and 4 in '...,...': factor 0 [2, 3], factor 1 [4, 5]");
}

TEST_CASE("tensordot sums over pairs of axes") {
  const Tensor a = normal({2, 3, 4}), b = normal({3, 4, 5}, 2), c = normal({4, 5, 3}, 3);
  check_close(tensordot(a, b, 2).value(), matmul(reshape(a, {2, 12}), reshape(b, {12, 5})).value());
  check_close(tensordot(a, c, {1, 2}, {-1, 0}).value(), einsum("ijk,klj->il", {a, c}).value());
  check_close(tensordot(a, b, 0).value(), einsum("ijk,lmn->ijklmn", {a, b}).value());
  CHECK(tensordot(a, c, {2}, {0}).shape() == Shape{2, 3, 5, 3});
  check_gradients([](const Tensors& x) { return tensordot(x[0], x[1], 2); }, {normal({2, 3, 2}), normal({3, 2, 2}, 2)});
  check_gradients([](const Tensors& x) { return tensordot(x[0], x[1], {0}, {1}); },
                  {normal({3, 2}), normal({2, 3}, 2)});
  CHECK(error_of<ShapeError>([&] { tensordot(a, b, 1); }) ==
        "tensordot: sizes of axis 2 of [2, 3, 4] and axis 0 of [3, 4, 5] differ");
  CHECK(error_of<ValueError>([&] { tensordot(a, b, 4); }) == "tensordot: count 4 of axes for [2, 3, 4] and [3, 4, 5]");
  CHECK(error_of<ValueError>([&] { tensordot(a, b, {0, 1}, {0}); }) == "tensordot: axes [0, 1] and [0] are not pairs");
  CHECK(error_of<ValueError>([&] { tensordot(a, b, {0, 0}, {0, 1}); }).starts_with("tensordot: "));
}

TEST_CASE("the build says what it runs on") {
  const BuildInfo info = build_info();
  CHECK(info.real == "double");
  CHECK_FALSE(info.blas.empty());
  CHECK(info.simd_width >= 1);
  CHECK(info.threads == threads());
  // On a processor with AVX2 or better nothing may be left at the BLAS's oldest kernels.
  CHECK((info.simd_width < 4 || info.blas_core != "Prescott"));
  CHECK(to_string(info).find(cat(info.simd, " (", info.simd_width, " numbers per register)")) != std::string::npos);
}

TEST_CASE("a BLAS that leaves speed unused is warned of") {
  const auto warning = [](std::string_view core, bool avx2, bool avx512) {
    return detail::blas_warning(core, avx2, avx512);
  };
  CHECK(warning("Haswell", true, true) ==
        "OpenBLAS uses kernels for Haswell, this processor could use those for SkylakeX (OPENBLAS_CORETYPE)");
  CHECK(warning("Prescott", true, false) ==
        "OpenBLAS uses kernels for Prescott, this processor could use those for Haswell (OPENBLAS_CORETYPE)");
  CHECK(warning("", true, false) == "the BLAS is not OpenBLAS, products may take many times longer");
  for (const char* core : {"SkylakeX", "Cooperlake", "SapphireRapids"}) CHECK(warning(core, true, true) == "");
  for (const char* core : {"Haswell", "Zen", "SkylakeX"}) CHECK(warning(core, true, false) == "");
  CHECK(warning("Prescott", false, false) == "");
  const BuildInfo info{.real = "float",
                       .blas = "OpenBLAS 0.3 X",
                       .blas_core = "Haswell",
                       .simd = "AVX2",
                       .bfloat16 = "AMX",
                       .warning = "slow"};
  CHECK(to_string(info).ends_with("\nwarning: slow"));
}
