// Hint: gy has the shape (n, m) and A (n, k): gy times something of shape (m, k), which is B transposed.
#include "check.h"

namespace check {

inline std::string link(const std::string& folder) {
  const Tensor a(numbers(2, 3, 1), "a"), b(numbers(3, 4, 2), "b");
  same("flipped", flipped({2, 3, {1, 2, 3, 4, 5, 6}}), {3, 2, {1, 4, 2, 5, 3, 6}},
       {{{3, 2, {1, 2, 3, 4, 5, 6}}, "the elements stay in their order: row i becomes column i"}});
  same("product", product({2, 2, {1, 2, 3, 4}}, {2, 2, {5, 6, 7, 8}}), {2, 2, {19, 22, 43, 50}},
       {{{2, 2, {5, 12, 21, 32}}, "element by element: Y_ij is a sum over k"},
        {{2, 2, {23, 34, 31, 46}}, "this is B A"},
        {{2, 2, {17, 23, 39, 53}}, "this is A B^T: the second factor is read along its columns"},
        {{2, 2, {26, 30, 38, 44}}, "this is A^T B: the first factor is read along its rows"},
        {{2, 2, {14, 16, 28, 32}}, "the last product replaced the sum: add them"}});
  same("product of (2, 3) and (3, 4)", product(a.value(), b.value()), [&] {
    Matrix y{2, 4};
    for (int i = 0; i < 24; ++i)
      y.at(i / 12, i / 3 % 4) += a.value().at(i / 12, i % 3) * b.value().at(i % 3, i / 3 % 4);
    return y;
  }());
  const Tensor y = matmul(a, b);
  if (y.node->inputs.size() != 2) not_yet("matmul: the result has ", y.node->inputs.size(), " inputs instead of 2");
  gradients("transpose", [&] { return transpose(a); }, {a}, {"a"});
  // A square case first: every product of square tables has the right shape.
  const Tensor p(numbers(3, 3, 3), "p"), q(numbers(3, 3, 4), "q");
  const Matrix g = numbers(3, 3, 5), u = p.value(), v = q.value();
  const Tensor pq = matmul(p, q);
  const auto& inputs = pq.node->inputs;
  const auto rule = [&](const std::string& name, const Matrix& x, const Matrix& right, const Matrix& other) {
    same("matmul: the rule of " + name, x, right,
         {{other, "the factor is not transposed"},
          {turned(right), "it is transposed: the factors come in the other order"},
          {product(turned(other), g), "gy stands on the wrong side"},
          {product(other, g), "gy stands on the wrong side, and the factor is not transposed"},
          {product(g, other), "gy stands on the wrong side, and the factor is not transposed"},
          {product(g, turned(other)), "gy stands on the wrong side"}});
  };
  rule("a", inputs[0].rule(g), product(g, turned(v)), product(g, v));
  rule("b", inputs[1].rule(g), product(turned(u), g), product(u, g));
  gradients("matmul", [&] { return matmul(a, b); }, {a, b}, {"a", "b"});
  draw(y, folder + "/graph.dot");
  return "two products of tables are the rule of a product";
}

}  // namespace check
