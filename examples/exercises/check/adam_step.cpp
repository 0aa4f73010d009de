#include "mistake.h"

namespace xgrad::exercises {

void check::adam_step(Tensor (*answer)(const Tensor&, const Tensor&, Moments&, double)) {
  Tensor w = tensor({1, 2, 3, 4}), m = zeros({4}), v = zeros({4});
  Moments moments;
  constexpr double lr = 0.3;
  for (int t = 1; t <= 3; ++t) {
    // The second element has gradients as small as epsilon.
    const Tensor g = numbers({4}, t) * tensor({1, 1e-8, 100, 1});
    const Moments before = moments;
    Tensor next;
    try {
      next = answer(w, g, moments, lr);
    } catch (const GraphError&) {
      if (t > 1) throw;
      not_yet("in the first step an undefined tensor was used: moments.mean and moments.square begin as zeros_like(w)");
    }
    written(next.defined(), "begin with `if (!moments.mean.defined())`, and put zeros_like(w) into both means");
    has_shape("the new w", next.shape(), {4}, "that of w");
    if (!moments.mean.defined() || !moments.square.defined()) {
      not_yet("a running mean is still undefined after a step: the next step needs moments.mean and moments.square");
    }
    has_no_nan("the new w", next, "1 - 0.9^t is 0 while t is 0: count the step first");
    if (moments.steps != t) not_yet("moments.steps is ", moments.steps, " after step ", t, ": each step counts 1");
    // One step as a function of w, g, m, v and lr; the first begins without m and v.
    const auto after = [&](const Tensor& w, const Tensor& g, const Tensor& m, const Tensor& v, double lr) {
      Moments now = t == 1 ? before : Moments{m, v, t - 1};
      const Tensor result = answer(w, g, now, lr);
      return std::pair(result, now);
    };
    const auto new_m = [](const Tensor& g, const Tensor& m) { return 0.9 * m + 0.1 * g; };
    const auto new_v = [](const Tensor& g, const Tensor& v) { return 0.999 * v + 0.001 * square(g); };
    const double c = 1 - std::pow(0.9, t), d = 1 - std::pow(0.999, t);
    if (t == 1) {
      not_this(moments.mean, zeros({4}), "moments.mean was not changed: assign the new m to it");
      not_this(
          moments.mean, g,
          "moments.mean is g after the first step instead of 0.1 g: m starts from zeros and keeps 0.9 of itself; it "
          "is stored without the division by 1 - 0.9^t");
      not_this(moments.mean, 0.001 * g, "0.9 and 0.999 have changed places: m keeps 0.9 of itself, v 0.999");
      not_this(moments.mean, 0.9 * g, "0.9 and 0.1 have changed places: 0.9 belongs to the old m, 0.1 to g");
      not_this(
          moments.square, square(g),
          "moments.square is g^2 after the first step instead of 0.001 g^2: v starts from zeros and keeps 0.999 of "
          "itself; it is stored without the division by 1 - 0.999^t");
    }
    agree({.what = str("moments.mean after step ", t),
           .terms = {term("m", [](const Tensor&, const Tensor& m) { return m; }),
                     term("g", [](const Tensor& g, const Tensor&) { return g; })}},
          [&](const Tensor& g, const Tensor& m) { return after(w, g, m, v, lr).second.mean; }, new_m,
          {{"g", g}, {"the old m", m}});
    agree({.what = str("moments.square after step ", t),
           .terms = {term("v", [](const Tensor&, const Tensor& v) { return v; }),
                     term("g^2", [](const Tensor& g, const Tensor&) { return square(g); }),
                     term("g", [](const Tensor& g, const Tensor&) { return g; })},
           .tolerance = 1e-7},
          [&](const Tensor& g, const Tensor& v) { return after(w, g, m, v, lr).second.square; }, new_v,
          {{"g", g}, {"the old v", v}});
    const Tensor m1 = new_m(g, m), v1 = new_v(g, v), step = lr * (m1 / c) / (sqrt(v1 / d) + 1e-8);
    const auto with = [&](const Tensor& mean, const Tensor& square) { return lr * mean / (sqrt(square) + 1e-8); };
    const std::string first =
        t == 1 ? str("the first step is ", digits(max(abs(w - next)).item()), " long instead of lr = 0.3: ") : "";
    // The step is what is judged: a wrong sign or factor shows there. The first step is as long as lr for each element,
    // so that many mistakes give it by chance: there the known ones count alone.
    const std::vector<Known> known{
        {w - step, "the change alone is returned: return w minus it"},
        {w + step, "the change alone is returned: return w minus the step"},
        {with(m1, v1), first + "m and v start from 0, so divide them by 1 - 0.9^t and 1 - 0.999^t"},
        {with(m1 / c, v1), "v is not divided by 1 - 0.999^t in the step"},
        {lr * (m1 / c) / (sqrt(v1) / d + 1e-8),
         "v is divided by 1 - 0.999^t after its root: divide v, then take the root"},
        {with(m1, v1 / d), "m is not divided by 1 - 0.9^t in the step"},
        {with(m1 / 0.1, v1 / 0.001), "m is divided by 1 - 0.9 in each step: 0.9^t is a power, std::pow(0.9, t)"},
        {with(m1 / 0.9, v1 / 0.999), "m and v are divided by 0.9 and 0.999: divide by 1 - 0.9^t and 1 - 0.999^t"},
        {with(m1 / (1 - c), v1 / (1 - d)),
         "m and v are divided by 0.9^t and 0.999^t: divide by 1 - 0.9^t and 1 - 0.999^t"},
        {with(m1 / d, v1 / c), "0.9 and 0.999 have changed places in the division: 1 - 0.9^t belongs to m"},
        {with(m1 / d, v1 / d), "m is divided by 1 - 0.999^t: 1 - 0.9^t belongs to m"},
        {with(m1 / c, v1 / c), "v is divided by 1 - 0.9^t: 1 - 0.999^t belongs to v"},
        {with(m1 * c, v1 * d), "m and v are multiplied by 1 - 0.9^t and 1 - 0.999^t: divide by them"},
        {lr * (m1 / c) / sqrt(v1 / d), "1e-8 is missing: it bounds the step where gradients are tiny"},
        {lr * (m1 / c) / sqrt(v1 / d + 1e-8),
         "the element with a gradient of 1e-8 hardly moves: 1e-8 is added after the square root"},
        {lr * (m1 / c) / (v1 / d + 1e-8), "the mean of the square has no root: divide by sqrt(v)"},
        {lr * (m1 / c) * (sqrt(v1 / d) + 1e-8), "the root of v multiplies: the step is divided by it"},
        {with(g, v1 / d), "the step divides g: it divides m"},
        {with(m1 / c, square(m1 / c)), "the root is that of m^2: v belongs there"},
        {with(v1 / d, m1 / c), "m and v have changed places in the step: m stands above, sqrt(v) below"},
        {with(m / std::max(c, 1e-9), v1 / d), "the step uses the old m: assign the new one first"},
        {zeros({4}), "w did not move: return the new w"}};
    if (t == 1) {
      for (const Known& one : known) {
        if (!allclose(one.value, step, {.rtol = 1e-4})) not_this(w - next, one.value, "in step 1: ", one.text);
      }
      w = next, m = m1, v = v1;
      continue;
    }
    agree(
        {.what = str("the step w - (new w), in step ", t, ","), .known = known},
        [&](const Tensor& w, const Tensor& g, const Tensor& m, const Tensor& v, double lr) {
          return w - after(w, g, m, v, lr).first;
        },
        [&](const Tensor&, const Tensor& g, const Tensor& m, const Tensor& v, double lr) {
          return lr * (new_m(g, m) / c) / (sqrt(new_v(g, v) / d) + 1e-8);
        },
        {{"w", w}, {"g", g}, {"the old m", m}, {"the old v", v}, {"lr", lr}});
    w = next, m = m1, v = v1;
  }
  right_because() = "three steps agree with Adam; the first is lr long, however large the gradient is";
}

}  // namespace xgrad::exercises
