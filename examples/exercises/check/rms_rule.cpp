#include "mistake.h"

namespace xgrad::exercises {

void check::rms_rule(Tensor (*answer)(const Tensor&, const Tensor&)) {
  using T = const Tensor&;
  const Tensor gy = numbers({3, 5}, 2), x = numbers({3, 5});
  Operations ran;
  const Tensor gx = answer(gy, x);
  written(gx.defined(), "dr/dx_i = x_i / (C r), so y_j changes by -x_j / r^2 times that; sum over j");
  ran.refuse({"rms_norm", "grad"});
  const auto over = [](T a) { return mean(a, -1, {.keepdim = true}); };
  const auto r_of = [=](T x) { return sqrt(over(square(x)) + 1e-5); };
  const auto part = [=](const char* name, const auto& f) {
    return term(name, [=](T gy, T x) { return f(gy, x / r_of(x)) / r_of(x); });
  };
  const Tensor r = r_of(x), y = x / r;
  agree({.what = "the gradient",
         .meaning = "that of x",
         .known = {{gy / r, "x_i moves r, too, and with it all of the row"},
                   {(gy - x * over(gy * x)) / r, "x stands where y does: dr/dx_i brings two more divisions by r"},
                   {gy - y * over(gy * y), "the division by r is missing"}},
         .terms = {part("gy", [](T gy, T) { return gy; }),
                   part("y mean(gy y)", [=](T gy, T y) { return y * over(gy * y); }),
                   part("y mean(gy)", [=](T gy, T y) { return y * over(gy); }),
                   part("mean(gy)", [=](T gy, T) { return over(gy); })}},
        answer, [=](T gy, T x) { return (gy - x / r_of(x) * over(gy * x / r_of(x))) / r_of(x); },
        {{"gy", gy}, {"x", x}});
  right_because() = "the gradient of each row is at right angles to y: a longer row has the same y";
}

}  // namespace xgrad::exercises
