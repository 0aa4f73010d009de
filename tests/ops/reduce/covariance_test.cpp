// Covariances and correlations: definitions, gradients against differences, bad input.
#include <xgrad/ops/ops.h>


#include "support/check.h"
#include "support/threads.h"

namespace xgrad::testing {
TEST_CASE("covariances are variances on the diagonal, and what weights say is what repeated observations say") {
  const Tensor x = normal({3, 5});
  check_close(diagonal(cov(x)).value(), var(x, {.axis = 1}).value());
  check_close(cov(x, {.correction = 0}).value(), (cov(x) * 4 / 5).value());
  check_close(cov(x[{0}]).value(), var(x[{0}]).value());
  CHECK(cov(x[{slice(0, 1)}]).rank() == 0);
  CHECK(corrcoef(x[{0}]).item() == 1);
  const Index times = index({1, 0, 3, 2, 1});
  check_close(cov(x, {.fweights = times}).value(), cov(repeat_interleave(x, times, 1)).value());
  // Weights that are all the same say nothing.
  check_close(cov(x, {.aweights = full({5}, 3)}).value(), cov(x).value());
  // A mean that is large against the deviations does not harm.
  check_close(cov(x + 1e8).value(), cov(x).value(), 1e-7);
}

TEST_CASE("correlations do not know units, and lie within -1 and 1") {
  const Tensor x = normal({4, 6});
  check_close(corrcoef((x + 3) * tensor({{1}, {1e100}, {1e-100}, {-2}})).value(),
              (corrcoef(x) * tensor({{1, 1, 1, -1}, {1, 1, 1, -1}, {1, 1, 1, -1}, {-1, -1, -1, 1}})).value(), 1e-10);
  const Tensor line = normal({1, 50}, 2), together = concat({line, line * 3, line * -0.1}, 0);
  check_close(corrcoef(together).value(), tensor({{1, 1, -1}, {1, 1, -1}, {-1, -1, 1}}).value());
  CHECK(max(abs(corrcoef(together))).item() <= 1);
}

TEST_CASE("covariances and correlations have gradients of any order") {
  for (const Shape& shape : {Shape{5}, {1, 4}, {3, 6}, {4, 3}}) {
    CAPTURE(cat(shape));
    const Index times = index(std::vector<std::int64_t>(static_cast<std::size_t>(shape.dim(-1)), 2));
    check_gradients([](const Tensors& x) { return cov(x[0]); }, {normal(shape)}, {.order = 2});
    check_gradients([&](const Tensors& x) { return cov(x[0], {.correction = 2, .fweights = times, .aweights = x[1]}); },
                    {normal(shape), uniform({shape.dim(-1)}, 0.5, 1.5, 2)}, {.order = 2});
  }
  check_gradients([](const Tensors& x) { return corrcoef(x[0]); }, {normal({3, 6})}, {.order = 2});
  check_gradients([](const Tensors& x) { return corrcoef(x[0])[{0, 1}]; }, {normal({2, 4})}, {.order = 3});
}

TEST_CASE("covariances refuse what does not fit with its name") {
  const Tensor x = normal({2, 3});
  const auto shape = [&](const CovOptions& options) { return error_of<ShapeError>([&] { cov(x, options); }); };
  const auto value = [&](const CovOptions& options) { return error_of<ValueError>([&] { cov(x, options); }); };
  CHECK(error_of<ShapeError>([] {
          cov(zeros({2, 3, 4}));
        }) == "cov: needs variables (m, n) or one (n), got shape [2, 3, 4]");
  CHECK(error_of<ShapeError>([] {
          corrcoef(zeros({2, 3, 4}));
        }) == "corrcoef: needs variables (m, n) or one (n), got shape [2, 3, 4]");
  CHECK(shape({.fweights = index({1, 2})}) ==
        "cov: fweights has shape [2]; needs one weight for each of 3 observations");
  CHECK(shape({.aweights = ones({3, 1})}) ==
        "cov: aweights has shape [3, 1]; needs one weight for each of 3 observations");
  CHECK(value({.fweights = index({1, -2, 1})}) == "cov: fweights has -2 at 1; needs weights of 0 or more");
  CHECK(value({.aweights = tensor({1, 1, not_a_number})}) == "cov: aweights has nan at 2; needs weights of 0 or more");
  CHECK(value({.aweights = zeros({3})}) == "cov: the weights of 3 observations have the sum 0");
  CHECK(value({.aweights = tensor({1, infinity, 1})}) == "cov: the weights of 3 observations have the sum inf");
  CHECK(value({.correction = 3}) == "cov: the sum of the weights, 3, does not exceed the correction, 3");
  CHECK(value({.fweights = index({0, 1, 0})}) == "cov: the sum of the weights, 1, does not exceed the correction, 1");
  CHECK(error_of<ValueError>([] { cov(zeros({2, 0})); }) == "cov: the weights of 0 observations have the sum 0");
  CHECK(error_of<ValueError>([] { cov(Tensor(1)); }) ==
        "cov: the sum of the weights, 1, does not exceed the correction, 1");
  CHECK(error_of<ValueError>([] {
          corrcoef(tensor({{1, 2, 3}, {0.1, 0.1, 0.1}}));
        }) == "corrcoef: variable 1 does not vary; needs each to have a variance");
  CHECK(cov(zeros({0, 3})).shape() == Shape{0, 0});
  CHECK(corrcoef(zeros({0, 3})).shape() == Shape{0, 0});
}

TEST_CASE("covariances are the same bits for any number of threads") {
  const Tensor x = normal({70, 3000});
  check_same_bits([&] { return corrcoef(x); });
}

}  // namespace xgrad::testing
