#include "mistake.h"

namespace xgrad::exercises {

void check::hessian_product(Tensor (*answer)(const Loss&, const Tensor&, const Tensor&)) {
  // f = a^2 b + b^3: H = ((2 b, 2 a), (2 a, 6 b)), at (1, 2) ((4, 2), (2, 12)).
  const Loss f = [](const Tensor& x) { return square(x[{0}]) * x[{1}] + pow(x[{1}], 3); };
  const Tensor x = variable({1, 2}, "x"), v = tensor({3, -1});
  Tensor product;
  try {
    product = answer(f, x, v);
  } catch (const GraphError& error) {
    const std::string_view reason = error.what();
    not_yet(reason.find("not one element") != reason.npos
                ? "the second grad needs one number: sum(g * v), not g * v"
                : "the second grad finds no way from its number to what it is to differentiate by: take the first one "
                  "with {.create_graph = true}, and the second one at x",
            " (", reason, ")");
  }
  written(product.defined(),
          "const Tensor g = grad(f(x), {x}, {.create_graph = true})[0]; then sum(g * v) is one number");
  if (product.shape() == Shape{}) not_yet("the result is one number, df/dx . v perhaps: its gradient at x is H v");
  using T = const Tensor&;
  agree(
      {.what = "H v",
       .known = {{tensor({6, 14}),
                  "the result is H (1, 1): v takes no part. Multiply the gradient by v before the second grad"},
                 {tensor({18, -14}),
                  "the sums of the rows of H are multiplied by v: multiply the gradient by v before the second grad, "
                  "not its result after it"},
                 {tensor({8, 19}), "the result is the gradient at x + v: differentiate df/dx . v at x"},
                 {tensor({4, 6}), "the difference of the gradients at x + v and x is H v for small steps only"},
                 {tensor({4, 13}), "the result is the gradient of f: a second grad is missing"},
                 {tensor({12, -13}), "the result is the gradient of f times v: a second grad is missing"},
                 {tensor({12, -12}), "the result is the diagonal of H times v: multiply the gradient by v and sum"},
                 {tensor({30, 6}), "the result is v times H v: v belongs to the first gradient only"}},
       .why = "H is ((4, 2), (2, 12)) here and v is (3, -1)"},
      [&](T x, T v) { return answer(f, variable(x.value(), "x"), v); },
      [](T x, T v) {
        const Tensor a = x[{0}], b = x[{1}];
        return stack({2 * b * v[{0}] + 2 * a * v[{1}], 2 * a * v[{0}] + 6 * b * v[{1}]}, 0);
      },
      {{"x", x.detach()}, {"v", v}});
  const Loss g = [](const Tensor& z) { return sum(square(z) * square(z)); };
  const Tensor z = leaf({4}, "z", 5), u = numbers({4}, 6);
  same("for f = sum x^4 H v", answer(g, z, u), 12 * square(z) * u, {}, 1e-3);
  right_because() = "two gradients gave H v; all of H takes 1 + n";
}

}  // namespace xgrad::exercises
