#include "mistake.h"

namespace xgrad::exercises {

void check::layer_norm_rule(Tensor (*answer)(const Tensor&, const Tensor&)) {
  const Tensor x = leaf({3, 5}, "x"), gy = numbers({3, 5}, 2);
  Operations ran;
  const Tensor gx = answer(gy, x);
  written(gx.defined(),
          "sigma is sqrt(var(x, -1, {.keepdim = true, .correction = 0}) + 1e-5), a column (..., 1); then y, then gx");
  ran.refuse({"layer_norm", "grad"});
  using T = const Tensor&;
  const auto over = [](T a) { return mean(a, -1, {.keepdim = true}); };
  const auto sigma_of = [](T x, double correction) {
    return sqrt(var(x, -1, {.keepdim = true, .correction = correction}) + 1e-5);
  };
  const auto normal = [=](T x) { return (x - over(x)) / sigma_of(x, 0); };
  // The rule where y and sigma are these.
  const auto rule = [=](T gy, T y, T sigma) { return (gy - over(gy) - y * over(gy * y)) / sigma; };
  const auto right = [=](T gy, T x) { return rule(gy, normal(x), sigma_of(x, 0)); };
  const Tensor sigma = sigma_of(x, 0), y = normal(x), corrected = sigma_of(x, 1);
  const auto row = [&](T a) { return digits(sum(a[{0}]).item()); };
  const auto row_0 = str("row 0 of the gradient sums to ", row(gx), " instead of 0: ");
  const auto part = [=](const char* name, const auto& f) {
    return term(name, [=](T gy, T x) { return f(gy, normal(x)) / sigma_of(x, 0); });
  };
  agree(
      {.what = "the gradient",
       .meaning = "that of x",
       .known = {{gy / sigma, row_0 + "x_j also moves mean and sigma, so both means are subtracted"},
                 {(gy - y * over(gy * y)) / sigma,
                  row_0 + "a number added to all of a row changes no y. Subtract mean(gy)"},
                 {(gy - over(gy)) / sigma, str("row 0 of the gradient times y sums to ", row(gx * y),
                                               " instead of 0: a longer row gives the same y. Subtract y mean(gy y)")},
                 {rule(gy, y, ones_like(sigma)), "the gradient is not divided by sigma: a wider row moves y less"},
                 {rule(gy, y, 1 / sigma),
                  "the gradient is multiplied by sigma instead of divided: a wider row moves y less"},
                 {rule(gy, y, square(sigma)), "the gradient is divided by the variance: divide by sigma, its root"},
                 {rule(gy, x, sigma), "x stands where y does: y = (x - mean) / sigma is the normalised row"},
                 {(gy - over(gy) - y * over(gy * x)) / sigma, "x stands in the last mean: it is that of gy y"},
                 {(gy - over(gy) - x * over(gy * y)) / sigma, "x stands before the last mean: y does"},
                 {(gy - mean(gy) - y * mean(gy * y)) / sigma,
                  "the means go over the whole tensor: each row has its own, mean(x, -1, {.keepdim = true})"},
                 {rule(gy, (x - over(x)) / corrected, corrected),
                  "the variance is divided by C - 1: give var the option .correction = 0"},
                 {(gy - over(gy) - over(gy * y)) / sigma, "the last mean is multiplied by y_i"},
                 {y, "this is y: the gradient of x is wanted"}},
       .terms = {part("gy", [](T gy, T) { return gy; }), part("mean(gy)", [=](T gy, T) { return over(gy); }),
                 part("y mean(gy y)", [=](T gy, T y) { return y * over(gy * y); }),
                 part("mean(gy y)", [=](T gy, T y) { return over(gy * y); }),
                 part("y mean(gy)", [=](T gy, T y) { return y * over(gy); }),
                 part("gy mean(gy y)", [=](T gy, T y) { return gy * over(gy * y); }),
                 part("y mean(y^2)", [=](T, T y) { return y * over(y * y); }),
                 term("(x - mean) mean(gy (x - mean))",
                      [=](T gy, T x) {
                        const Tensor c = x - over(x);
                        return c * over(gy * c) / sigma_of(x, 0);
                      }),
                 part("gy y", [](T gy, T y) { return gy * y; })}},
      answer, right, {{"gy", gy}, {"x", x.detach()}});
  const Tensor narrow = 0.003 * x;  // so that 1e-5 counts
  same("for rows of variance 1e-5 the gradient", answer(gy, narrow), right(gy, narrow),
       "sigma is sqrt(variance + 1e-5)");
  right_because() = "each row of the gradient sums to 0, since a number added to a row changes no y";
}

}  // namespace xgrad::exercises
