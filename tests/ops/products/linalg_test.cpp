// Linear algebra: the definitions, symmetric and singular matrices, bad input. (Values and gradients: linalg_fixtures_test.cpp.)
#include <cmath>

#include <xgrad/ops/ops.h>

#include "support/check.h"
#include "support/fixtures.h"
#include "support/threads.h"

using namespace xgrad;
using namespace xgrad::testing;

namespace {

Tensor transposed_times(const Tensor& a, const Tensor& b) { return matmul(a, b, {.transpose_a = true}); }
Tensor symmetric(const Tensor& x) { return (x + transpose(x)) / 2; }
// Far from singular; symmetric with eigenvalues that are far apart; positive definite.
Array regular(const Shape& shape, std::uint64_t seed = 1) {
  return (Tensor(normal(shape, seed)) / 2 + 3 * eye(shape.dim(-1))).value();
}
Array definite(const Shape& shape, std::uint64_t seed = 1) {
  const Tensor x = normal(shape, seed);
  return (transposed_times(x, x) + eye(shape.dim(-1))).value();
}

// The derivatives of <c, f> at a symmetric a are symmetric, as if f were the function of symmetric matrices alone, and
// right along all symmetric directions: the first derivative, and that of <d, first derivative> for any d. The input is
// not made symmetric on its way to f, which would hide a gradient that is not.
void check_symmetric(const Function& f, const Array& at) {
  const auto first = [&](const Tensor& a) {
    const Tensor y = f({a});
    return grad(y, {a}, {.seed = normal(y.shape(), 5), .create_graph = true})[0];
  };
  const Function functions[] = {f, [&](const Tensors& a) { return first(a[0]); }};
  for (const Function& function : functions) {
    const Tensor a = variable(at), y = function({a});
    const Array seed = normal(y.shape(), 6), g = grad(y, {a}, {.seed = seed})[0].value();
    check_close(g, transpose(g), 1e-10);
    const std::int64_t n = at.dim(-1);
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j <= i; ++j) {
        Array direction(Shape{n, n}, Real(0));
        direction[{i, j}] = 1, direction[{j, i}] = 1;
        const Tensor way = direction;
        const double expected =
            slope([&](double t) { return sum(function({variable(at + t * way)}) * Tensor(seed)).item(); }, 1e-3);
        CHECK(sum(Tensor(g) * way).item() == doctest::Approx(expected).epsilon(1e-7));
      }
    }
  }
}

}  // namespace

TEST_CASE("factors of matrices of any shape multiply to what they came from") {
  for (const Shape& shape : {Shape{1, 1}, {4, 4}, {5, 3}, {3, 5}, {1, 4}, {4, 1}, {2, 3, 4, 2}, {2, 1, 2, 4}}) {
    CAPTURE(str(shape));
    const Tensor a = normal(shape);
    const std::int64_t k = std::min(shape.dim(-1), shape.dim(-2));
    const auto [q, r] = linalg::qr(a);
    CHECK(q.dim(-1) == k);
    check_close(matmul(q, r).value(), a.value());
    check_close(transposed_times(q, q).value(), broadcast_to(eye(k), transposed_times(q, q).shape()).value());
    check_close(triu(r).value(), r.value());
    const auto [u, s, vh] = linalg::svd(a);
    CHECK(u.dim(-1) == k);
    CHECK(vh.dim(-2) == k);
    check_close(matmul(u * unsqueeze(s, -2), vh).value(), a.value());
    check_close(transposed_times(u, u).value(), broadcast_to(eye(k), transposed_times(u, u).shape()).value());
    const Tensor vv = matmul(vh, vh, {.transpose_b = true});
    check_close(vv.value(), broadcast_to(eye(k), vv.shape()).value());
    CHECK(all(s >= Tensor(0)));
  }
}

TEST_CASE("what the other triangle holds, also NaN, changes neither results nor gradients of any order") {
  const Array whole = definite({3, 3});
  const Tensor nan = full({3, 3}, not_a_number), b = normal({3, 2});
  const auto same = [](const Function& f, const Array& a, const Array& expected) {
    const Tensor x = variable(a), x_expected = variable(expected);
    const Tensor y = f({x}), y_expected = f({x_expected});
    check_close(y.value(), y_expected.value());
    const auto derivatives = [](const Tensor& y, const Tensor& x) {
      const Tensor first = grad(y, {x}, {.seed = normal(y.shape(), 2), .create_graph = true})[0];
      return concat({first, grad(sum(square(first)), {x})[0]});
    };
    check_close(derivatives(y, x).value(), derivatives(y_expected, x_expected).value());
  };
  const Tensor lower = tril(Tensor(whole)), upper = triu(Tensor(whole));
  const Array lower_only = where(lower == 0, nan, lower).value(), upper_only = where(upper == 0, nan, upper).value();
  same([](const Tensors& x) { return linalg::cholesky(x[0]); }, lower_only, whole);
  same([](const Tensors& x) { return linalg::eigh(x[0]).eigenvalues; }, lower_only, whole);
  same([](const Tensors& x) { return linalg::eigh(x[0]).eigenvectors; }, lower_only, whole);
  same([&](const Tensors& x) { return linalg::solve_triangular(x[0], b); }, lower_only, whole);
  same([&](const Tensors& x) { return linalg::solve_triangular(x[0], b, {.upper = true}); }, upper_only, whole);
  CHECK_REFUSED(NumericError, linalg::solve_triangular(lower_only, b, {.upper = true}), "solve_triangular",
                "matrix has nan", "[0, 1]");
  CHECK_REFUSED(NumericError, linalg::cholesky(upper_only), "cholesky", "matrix has nan", "[1, 0]");
}

TEST_CASE("the largest element of an eigenvector, and of a left singular vector, is positive") {
  for (std::uint64_t seed = 1; seed < 6; ++seed) {
    for (const Tensor& v :
         {linalg::eigh(symmetric(normal({5, 5}, seed))).eigenvectors, linalg::svd(normal({5, 3}, seed)).u}) {
      CHECK(equal(max(v, Axes{0}).value(), max(abs(v), Axes{0}).value()));
    }
  }
}

TEST_CASE("leading axes of triangular systems broadcast, vectors are columns") {
  const Tensor a = regular({3, 1, 2, 2}), b = normal({4, 2, 5}, 2), vector = normal({2}, 3);
  check_close(linalg::solve_triangular(a, b).value(), linalg::solve(tril(a), b).value());
  check_close(linalg::solve_triangular(a[{0, 0}], vector).value(), linalg::solve(tril(a[{0, 0}]), vector).value());
}

TEST_CASE("one equation in a batch of one and a vector keep their axes") {
  const Tensor a = ones({1, 1, 1}) * 2;
  const Tensor x = linalg::solve(a, tensor({3}));
  CHECK(x.shape() == Shape{1, 1});  // as (1, 2, 2) and (2) give (1, 2)
  CHECK(x.item() == 1.5);
  CHECK(linalg::solve(ones({1, 2, 2}) + eye(2), tensor({3, 4})).shape() == Shape{1, 2});
  CHECK(linalg::solve(ones({1, 1}) * 2, tensor({3})).shape() == Shape{1});
  CHECK(linalg::solve(a, tensor({{3}})).shape() == Shape{1, 1});
  CHECK(linalg::solve(a, tensor({{{3}}})).shape() == Shape{1, 1, 1});
}

TEST_CASE("functions of one triangle have the gradients of functions of symmetric matrices") {
  for (const Shape& shape : {Shape{2, 2}, {4, 4}}) {
    const Array a = definite(shape, 3);
    check_symmetric([](const Tensors& x) { return linalg::eigh(x[0]).eigenvalues; }, a);
    check_symmetric([](const Tensors& x) { return linalg::eigh(x[0]).eigenvectors; }, a);
    for (const bool upper : {false, true}) {
      check_symmetric([=](const Tensors& x) { return linalg::cholesky(x[0], {.upper = upper}); }, a);
    }
  }
  // As PyTorch has it for eigh((a + a') / 2).
  const Tensor a = variable({{2, 1}, {1, 4}}), v = linalg::eigh(a).eigenvectors;
  const Tensor g = grad(sum(v * tensor({{1, 2}, {3, 5}})), {a}, {.create_graph = true})[0];
  check_close(grad(sum(square(g)), {a})[0].value(),
              Array({2, 2}, {0.583649271728, -0.064367729294, -0.064367729294, -0.583649271728}), 1e-11);
}

TEST_CASE("the determinant of a singular matrix has a gradient") {
  // Of rank n - 1, of rank n - 2 and regular ones in one batch.
  const Array a({4, 3, 3},
                {1,      2, 3, 2, 4, 6, 1, 0, 1, /**/ 1, 2, 3, 2, 4, 6, 3, 6, 9, /**/ 2, 0, 0, 0, 3, 1, 1, 0, 4,
                 /**/ 0, 0, 0, 0, 1, 0, 0, 0, 5});
  check_close(linalg::det(a).value(), Array({4}, {0, 0, 24, 0}));
  check_gradients([](const Tensors& x) { return linalg::det(x[0]); }, {a}, {.order = 1});
  const Tensor x = variable(a);
  CHECK_REFUSED(NumericError, grad(sum(linalg::det(x)), {x}, {.create_graph = true}), "det",
                "no second derivative");
  const Tensor singular = variable(Array({2, 2}, {1, 2, 2, 4}));
  CHECK(linalg::slogdet(singular).sign.item() == 0);
  CHECK(linalg::slogdet(singular).logabsdet.item() == -infinity);
  CHECK_REFUSED(NumericError, grad(linalg::slogdet(singular).logabsdet, {singular}), "slogdet",
                "no gradient", "singular");
}

TEST_CASE("a determinant that leaves the range has the gradient of its cofactors") {
  for (const double size : {1e200, 1e-200}) {
    const Tensor a = variable(tensor({{size, 0}, {size, 2 * size}}).value());
    const Tensor d = linalg::det(a);
    CHECK(d.item() == (size > 1 ? infinity : 0));
    check_close(grad(d, {a})[0].value(), (tensor({{2, -1}, {0, 1}}) * size).value());
  }
}

TEST_CASE("logarithms of determinants neither overflow nor underflow") {
  const Tensor a = eye(400) * 100, small = eye(400) / 100;
  CHECK(linalg::slogdet(a).logabsdet.item() == doctest::Approx(400 * std::log(100.0)));
  CHECK(linalg::slogdet(-small[{slice(0, 399), slice(0, 399)}]).sign.item() == -1);
  CHECK(linalg::slogdet(small).logabsdet.item() == doctest::Approx(-400 * std::log(100.0)));
}

TEST_CASE("gradients of vectors are refused where they are not defined, and those of values are not") {
  const auto refusal = [](const Tensor& y, const Tensor& x) {
    return error_of<NumericError>([&] { grad(sum(y), {x}); });
  };
  const Tensor twins = variable(Array({2, 2, 2}, {1, 0, 0, 2, 3, 0, 0, 3}));
  CHECK(refusal(linalg::eigh(twins).eigenvectors, twins) ==
        "eigh: no gradient of the eigenvectors: eigenvalues 0 and 1 of matrix [1] of the batch are equal: 3 and 3");
  check_close(grad(sum(linalg::eigh(twins).eigenvalues), {twins})[0].value(), broadcast_to(eye(2), {2, 2, 2}).value());
  CHECK(error_of<NumericError>([&] {
          const Tensor first = grad(sum(square(linalg::eigh(twins).eigenvalues)), {twins}, {.create_graph = true})[0];
          grad(sum(first * first), {twins});
        }).starts_with("eigh: no gradient of the eigenvectors"));
  // At the distance that is named: n eps max |w|.
  const auto apart = [](Real distance) { return variable(Array({2, 2}, {1, 0, 0, 1 + distance})); };
  const Tensor near = apart(Real(4.4e-16)), far = apart(Real(1e-15));
  CHECK(refusal(linalg::eigh(near).eigenvectors, near).starts_with("eigh: no gradient"));
  CHECK(grad(sum(linalg::eigh(far).eigenvectors), {far})[0].shape() == Shape{2, 2});

  const Tensor same = variable(Array({2, 2}, {0, 2, -2, 0}));
  CHECK(refusal(linalg::svd(same).u, same) ==
        "svd: no gradient of the singular vectors: singular values 0 and 1 of the matrix are equal: 2 and 2");
  CHECK(refusal(linalg::svd(same).vh, same).starts_with("svd: no gradient"));
  check_close(grad(sum(linalg::svd(same).s), {same})[0].value(), Array({2, 2}, {0, 1, -1, 0}));
  const Tensor flat = variable(Array({3, 2}, {1, 2, 2, 4, 3, 6}));
  CHECK(refusal(linalg::svd(flat).u, flat)
            .starts_with("svd: no gradient of the singular vectors: singular value 1 of the matrix is 0: "));
  CHECK(refusal(linalg::qr(flat).q, flat) == "qr: no gradient of q: column 1 of the matrix depends on those before it");
  // A refusal leaves gradients as they were.
  Tensor leaf = variable(Array({2, 2}, {3, 0, 0, 3}));
  sum(leaf).backward();
  CHECK_THROWS_AS(sum(linalg::eigh(leaf).eigenvectors).backward(), NumericError);
  CHECK(equal(leaf.grad().value(), Array({2, 2}, 1)));
}

TEST_CASE("norms of any order, of numbers of any size, of infinity and of NaN") {
  const Tensor x = tensor({{3, -4}, {0, 12}});
  CHECK(linalg::vector_norm(x, 0).item() == 3);
  CHECK(linalg::vector_norm(x, -double(infinity)).item() == 0);
  CHECK(linalg::vector_norm(x, -1).item() == 0);
  CHECK(linalg::norm(zeros({0})).item() == 0);
  CHECK(linalg::norm(tensor({3e200, 4e200})).item() == doctest::Approx(5e200));
  CHECK(linalg::norm(tensor({3e-200, 4e-200})).item() == doctest::Approx(5e-200));
  CHECK(std::isnan(linalg::norm(tensor({not_a_number, 1})).item()));
  CHECK(linalg::norm(tensor({infinity, 1})).item() == infinity);
  CHECK_REFUSED(ValueError, linalg::vector_norm(x, double(not_a_number)), "vector_norm", "ord is NaN");
}

TEST_CASE("norms have gradients of 0 at 0") {
  for (const double ord : {2.0, 1.0, 3.0, 1.5, 0.5, -1.0, double(infinity), -double(infinity)}) {
    CAPTURE(ord);
    const Tensor zero = variable(Array({3}, Real(0)));
    const Tensor g = grad(linalg::vector_norm(zero, ord), {zero}, {.create_graph = true})[0];
    CHECK(equal(g.value(), Array({3}, Real(0))));
  }
}

TEST_CASE("the trace is that of each matrix of a batch, whatever its shape") {
  for (const Shape& shape : {Shape{2, 4}, {4, 2}, {1, 5}, {2, 3, 2}}) {
    check_close(trace(normal(shape)).value(), sum(diagonal(normal(shape)), -1).value());
  }
  CHECK(trace(zeros({2, 0})).item() == 0);
}

TEST_CASE("a batch of no matrices gives a batch of no results") {
  const Tensor none = zeros({0, 3, 3}), right = zeros({0, 3, 2});
  CHECK(linalg::solve(none, right).shape() == Shape{0, 3, 2});
  CHECK(linalg::solve_triangular(none, right).shape() == Shape{0, 3, 2});
  CHECK(linalg::inv(none).shape() == Shape{0, 3, 3});
  CHECK(linalg::det(none).shape() == Shape{0});
  CHECK(linalg::slogdet(none).logabsdet.shape() == Shape{0});
  CHECK(linalg::cholesky(none).shape() == Shape{0, 3, 3});
  CHECK(linalg::qr(right).r.shape() == Shape{0, 2, 2});
  CHECK(linalg::eigh(none).eigenvalues.shape() == Shape{0, 3});
  CHECK(linalg::svd(right).u.shape() == Shape{0, 3, 2});
  CHECK(linalg::solve(eye(3), zeros({3, 0})).shape() == Shape{3, 0});
  CHECK(linalg::solve_triangular(eye(3), zeros({3, 0})).shape() == Shape{3, 0});
  const Tensor x = variable(Array(Shape{0, 3, 3}));
  CHECK(grad(sum(linalg::eigh(x).eigenvectors) + sum(linalg::det(x)), {x})[0].shape() == Shape{0, 3, 3});
}

TEST_CASE("matrices that do not fit are refused with their shapes") {
  struct Row {
    const char* name;
    void (*f)(const Tensor&);
    bool square = true, side = false;  // of a right-hand side, whose shape is checked first
  };
  const Row rows[] = {
      {"inv", [](const Tensor& a) { linalg::inv(a); }},
      {"det", [](const Tensor& a) { linalg::det(a); }},
      {"slogdet", [](const Tensor& a) { linalg::slogdet(a); }},
      {"cholesky", [](const Tensor& a) { linalg::cholesky(a); }},
      {"eigh", [](const Tensor& a) { linalg::eigh(a); }},
      {"solve", [](const Tensor& a) { linalg::solve(a, ones({3})); }, true, true},
      {"solve_triangular", [](const Tensor& a) { linalg::solve_triangular(a, ones({3})); }, true, true},
      {"qr", [](const Tensor& a) { linalg::qr(a); }, false},
      {"svd", [](const Tensor& a) { linalg::svd(a); }, false},
  };
  for (const Row& row : rows) {
    CAPTURE(std::string(row.name));
    if (row.square) CHECK_REFUSED(ShapeError, row.f(ones({2, 3, 4})), row.name, "square", "[2, 3, 4]");
    if (row.side) continue;
    CHECK_REFUSED(ShapeError, row.f(ones({3})), row.name, "(..., m, n)", "[3]");
    CHECK_REFUSED(ShapeError, row.f(ones({2, 0, 0})), row.name, "at least one row", "[2, 0, 0]");
    const Array bad({2, 1, 2, 2}, {1, 0, 0, 2, 2, 0, not_a_number, 3});
    CHECK_REFUSED(NumericError, row.f(bad), row.name, "matrix [1, 0]", "nan at [1, 0]");
    CHECK_REFUSED(NumericError, row.f(tensor({{1, 0}, {infinity, 1}})), row.name, "inf at [1, 0]");
    CHECK_REFUSED(LimitError, row.f(ones({16385, 1})), row.name, "[16385, 1]", "16384");
  }
}

TEST_CASE("matrices that have no answer are refused with their place in the batch") {
  const Tensor singular = Array({2, 2, 2}, {1, 0, 0, 1, 1, 2, 2, 4});
  CHECK_REFUSED(NumericError, linalg::inv(singular), "inv", "matrix [1]");
  CHECK_REFUSED(NumericError, linalg::solve(singular, ones({2, 1})), "solve", "matrix [1]");
  CHECK_REFUSED(NumericError, linalg::cholesky(singular[{1}] - eye(2)), "cholesky", "the matrix", "block of 1");
  CHECK_REFUSED(NumericError, linalg::cholesky(Array({2, 2, 2}, {1, 0, 0, 1, 1, 2, 2, 1})), "cholesky", "matrix [1]",
                "block of 2");
  CHECK_REFUSED(NumericError, linalg::solve_triangular(tensor({{1, 0}, {5, 0}}), ones({2})), "solve_triangular",
                "singular: 0", "[1, 1]");
}

TEST_CASE("right-hand sides that do not fit are refused with both shapes") {
  CHECK_REFUSED(ShapeError, linalg::solve(eye(3), ones({2, 2})), "solve", "side [2, 2]", "matrices [3, 3]");
  CHECK_REFUSED(ShapeError, linalg::solve(eye(3), Tensor(1)), "solve", "side []", "matrices [3, 3]");
  CHECK_REFUSED(ShapeError, linalg::solve(eye(3), ones({2, 3})), "solve", "side [2, 3]",
                "matrices [3, 3]");
  CHECK_REFUSED(ShapeError, linalg::solve(broadcast_to(eye(3), {2, 3, 3}), ones({4, 3, 1})), "solve", "[2]", "[4]");
  CHECK_REFUSED(ShapeError, linalg::solve_triangular(eye(3), ones({4, 1})), "solve_triangular", "side [4, 1]",
                "matrices [3, 3]");
  // Shapes are looked at before numbers.
  for (const Tensor& a : {zeros({2, 3, 3}), Tensor(Array({2, 3, 3}, not_a_number))}) {
    CHECK_REFUSED(ShapeError, linalg::solve(a, ones({4, 3, 1})), "solve", "[2]", "[4]");
    CHECK_REFUSED(ShapeError, linalg::solve_triangular(a, ones({4, 3, 1})), "solve_triangular", "[2]", "[4]");
  }
  CHECK_REFUSED(NumericError, linalg::solve(eye(2), tensor({1, not_a_number})), "solve", "matrix has nan", "[1, 0]");
}

TEST_CASE("a gradient that is NaN passes through") {
  const Tensor a = variable(regular({3, 3})), b = variable(normal({3, 2}));
  for (const Tensor& y : {linalg::solve(a, b), linalg::solve_triangular(a, b), linalg::inv(a),
                          linalg::cholesky(matmul(a, a, {.transpose_b = true}))}) {
    CHECK(std::isnan(sum(grad(sum(y) * not_a_number, {a})[0]).item()));
  }
}

TEST_CASE("linear algebra is the same bits for any number of threads") {
  const Tensor a = regular({40, 12, 12}), b = normal({40, 12, 3}, 2);
  check_same_bits([&] {
    const auto [u, s, vh] = linalg::svd(a);
    return concat({flatten(linalg::solve(a, b)), flatten(linalg::inv(a)), linalg::det(a), flatten(u), flatten(s),
                   flatten(linalg::qr(a).q), flatten(linalg::eigh(symmetric(a)).eigenvectors)});
  });
}
