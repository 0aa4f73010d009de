// Hint: m and v get a table of zeros for each parameter in the first step: m.push_back(Matrix{x.rows, x.cols}).
#include "check.h"

namespace check {

inline std::string link(const std::string&) {
  const Tensor w(Matrix{1, 3, {1, 2, 3}}, "w"), b(Matrix{1, 1, {5}}, "b");
  Adam adam{{w, b}, 0.1};
  Matrix m{1, 3}, v{1, 3};
  for (int t = 1; t <= 3; ++t) {
    const Matrix g = times(numbers(1, 3, unsigned(t)), {1, 3, {1, 1e-8, 100}}), before = w.value();
    adam.step({g, {1, 1, {0}}});
    if (adam.t != t) not_yet("t is ", adam.t, " after step ", t);
    if (adam.m.size() != 2 || adam.v.size() != 2)
      not_yet("m and v have ", adam.m.size(), " and ", adam.v.size(), " tables for 2 parameters after step ", t,
              ": make them in the first step only");
    const auto keep = [&](const Matrix& old, const Matrix& now, double k) {
      return map(old, now, [k](double a, double b) { return k * a + (1 - k) * b; });
    };
    const auto step = [&](const Matrix& mean, const Matrix& square) {
      return map(before, map(mean, square, [](double a, double b) { return 0.1 * a / (std::sqrt(b) + 1e-8); }),
                 [](double a, double s) { return a - s; });
    };
    const std::string at = " after step " + std::to_string(t);
    same("m" + at, adam.m[0], keep(m, g, 0.9),
         {{Matrix{1, 3}, "it stays 0: a reference, Matrix&, changes the table that stays, a copy does not"},
          {keep(m, g, 0.1), "0.9 and 0.1 have changed places"},
          {g, "m starts from zeros and keeps 0.9 of itself"},
          {scaled(keep(m, g, 0.9), 1 / (1 - std::pow(0.9, t))), "m is stored without the division by 1 - 0.9^t"}});
    same("v" + at, adam.v[0], keep(v, times(g, g), 0.999),
         {{Matrix{1, 3}, "it stays 0: a reference, Matrix&, changes the table that stays, a copy does not"},
          {keep(v, g, 0.999), "v takes the square of the gradient"}},
         1e-12);
    m = keep(m, g, 0.9), v = keep(v, times(g, g), 0.999);
    const double c = 1 - std::pow(0.9, t), d = 1 - std::pow(0.999, t);
    const Matrix m1 = scaled(m, 1 / c), v1 = scaled(v, 1 / d);
    same("w" + at, w.value(), step(m1, v1),
         {{before, "it did not move: a reference, Matrix& x, changes the parameter, a copy does not"},
          {step(scaled(m1, -1), v1), "the step goes up: subtract it"},
          {step(m, v), "m and v are not divided by 1 - 0.9^t and 1 - 0.999^t"},
          {step(m, v1), "m is not divided by 1 - 0.9^t"},
          {step(m1, v), "v is not divided by 1 - 0.999^t"},
          {step(scaled(m, 10), scaled(v, 1000)), "the power is missing: 0.9^t is std::pow(0.9, t)"},
          {step(g, v1), "g stands where m does"},
          {step(scaled(m1, 10), v1), "lr takes no part"},
          {step(m1, times(v1, v1)), "the root of v is missing"}});
    same("b, whose gradient is 0," + at, b.value(), {1, 1, {5}});
  }
  return "three steps agree; the first is lr long, however large the gradient is";
}

}  // namespace check
