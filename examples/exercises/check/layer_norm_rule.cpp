#include "check.h"

namespace xgrad::exercises {

void check::layer_norm_rule(Tensor (*answer)(const Tensor&, const Tensor&)) {
  const Tensor x = leaf({3, 5}, "x"), gy = numbers({3, 5}, 2);
  Operations ran;
  const Tensor gx = answer(gy, x);
  written(gx.defined(),
          "sigma is sqrt(var(x, -1, {.keepdim = true, .correction = 0}) + 1e-5), a column (..., 1); then y, then gx");
  ran.refuse({"layer_norm", "grad"});
  has_shape("the gradient", gx.shape(), {3, 5}, "that of x");
  const Axes last{-1};
  const auto row_mean = [&](const Tensor& a) { return mean(a, last, {.keepdim = true}); };
  const auto sigma_of = [&](const Tensor& x, double correction) {
    return sqrt(var(x, last, {.keepdim = true, .correction = correction}) + 1e-5);
  };
  // The rule where y and sigma are these.
  const auto rule = [&](const Tensor& y, const Tensor& sigma) {
    return (gy - row_mean(gy) - y * row_mean(gy * y)) / sigma;
  };
  const auto rule_of = [&](const Tensor& x, double correction) {
    const Tensor sigma = sigma_of(x, correction);
    return rule((x - row_mean(x)) / sigma, sigma);
  };
  const Tensor sigma = sigma_of(x, 0), y = (x - row_mean(x)) / sigma, right = rule_of(x, 0);
  const auto row = [&](const Tensor& a) { return digits(sum(a[{0}]).item()); };
  not_this(gx, gy / sigma, "row 0 of the gradient sums to ", row(gx),
           " instead of 0: x_j also moves mean and sigma, so both means are subtracted");
  not_this(gx, (gy - y * row_mean(gy * y)) / sigma, "row 0 of the gradient sums to ", row(gx),
           " instead of 0: a number added to all of a row changes no y. Subtract mean(gy)");
  not_this(gx, (gy - row_mean(gy)) / sigma, "row 0 of the gradient times y sums to ", row(gx * y),
           " instead of 0: a longer row gives the same y. Subtract y mean(gy y)");
  not_this(gx, right * sigma, "the gradient is not divided by sigma: a wider row moves y less");
  not_this(gx, right * square(sigma),
           "the gradient is multiplied by sigma instead of divided: a wider row moves y less");
  not_this(gx, rule(x, sigma), "x stands where y does: y = (x - mean) / sigma is the normalised row");
  const Tensor over_all = (gy - mean(gy) - y * mean(gy * y)) / sigma;
  not_this(gx, over_all, "the means go over the whole tensor: each row has its own, mean(x, -1, {.keepdim = true})");
  not_this(gx, rule_of(x, 1), "the variance is divided by C - 1: give var the option .correction = 0");
  not_this(gx, (gy - row_mean(gy) - row_mean(gy * y)) / sigma, "the last mean is multiplied by y_i");
  not_this(gx, (gy - row_mean(gy) + y * row_mean(gy * y)) / sigma, "both means are subtracted");
  same("the gradient", gx, right, "compare with finite differences of (x - mean) / sigma");
  const Tensor narrow = 0.003 * x;  // so that 1e-5 counts
  same("for rows of variance 1e-5 the gradient", answer(gy, narrow), rule_of(narrow, 0),
       "sigma is sqrt(variance + 1e-5)");
  right_because() = "each row of the gradient sums to 0, since a number added to a row changes no y";
}

}  // namespace xgrad::exercises
