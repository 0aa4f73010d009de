#include "mistake.h"

namespace xgrad::exercises {

void check::rms_rule(Tensor (*answer)(const Tensor&, const Tensor&)) {
  using T = const Tensor&;
  const Tensor gy = numbers({3, 5}, 2), x = numbers({3, 5});
  const auto over = [](T a) { return mean(a, -1, {.keepdim = true}); };
  const auto r_of = [=](T x) { return sqrt(over(square(x)) + 1e-5); };
  const auto part = [=](const char* name, const auto& f) {
    return term(name, [=](T gy, T x) { return f(gy, x / r_of(x)) / r_of(x); });
  };
  // The rule where y and r are these.
  const auto rule = [=](T gy, T y, T r) { return (gy - y * over(gy * y)) / r; };
  const Tensor r = r_of(x), y = x / r;
  agree({.what = "the gradient",
         .meaning = "that of x",
         .hint = "dr/dx_i = x_i / (C r), so y_j changes by -x_j / r^2 times that; sum over j",
         .refused = {"rms_norm", "grad"},
         .known = {{gy / r, "x_i moves r, too, and with it all of the row"},
                   {(gy - x * over(gy * x)) / r, "x stands where y does: dr/dx_i brings two more divisions by r"},
                   {rule(gy, y, ones_like(r)), "the division by r is missing"},
                   {rule(gy, y, 1 / r), "the rest is multiplied by r instead of divided: a longer row moves y less"},
                   {rule(gy, x / square(r), square(r)), "r is the root of mean(x^2) + 1e-5, and the root is missing"},
                   {rule(gy, y, square(r)), "it is divided by r^2: dy_i/dx_i = 1 / r"},
                   {(gy - y * mean(gy * y, 0)) / r, "the mean goes over the rows: each row has its own"},
                   {(gy - y * mean(gy * y)) / r, "the mean goes over the whole tensor: each row has its own"},
                   {y, "this is y: the gradient of x is wanted"}},
         .terms = {part("gy", [](T gy, T) { return gy; }),
                   part("y mean(gy y)", [=](T gy, T y) { return y * over(gy * y); }),
                   part("mean(gy y)", [=](T gy, T y) { return over(gy * y); }),
                   part("y mean(gy)", [=](T gy, T y) { return y * over(gy); }),
                   part("mean(gy)", [=](T gy, T) { return over(gy); })}},
        answer, [=](T gy, T x) { return rule(gy, x / r_of(x), r_of(x)); }, {{"gy", gy}, {"x", x}});
  right_because() = "the gradient of each row is at right angles to y: a longer row has the same y";
}

}  // namespace xgrad::exercises
