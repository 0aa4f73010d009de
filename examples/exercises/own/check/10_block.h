// Hint: sum(x, length, 1) / dim is the mean of each row, and repeats by itself where it is subtracted from x.
#include "check.h"

namespace check {

inline std::string link(const std::string& folder) {
  const Tensor table(numbers(5, 3, 1), "table");
  const Ids ids{4, 1, 4};
  Matrix taken{3, 3}, back{5, 3};
  const Matrix g = numbers(3, 3, 2);
  for (int t = 0; t < 3; ++t) {
    for (int j = 0; j < 3; ++j)
      taken.at(t, j) = table.value().at(ids[std::size_t(t)], j), back.at(ids[std::size_t(t)], j) += g.at(t, j);
  }
  const Tensor looked_up = rows(table, ids);
  same("rows", looked_up.value(), taken);
  if (looked_up.node->inputs.size() != 1)
    not_yet("rows: the result has ", looked_up.node->inputs.size(), " inputs instead of 1");
  Matrix last = back;
  for (int j = 0; j < 3; ++j) last.at(4, j) = g.at(2, j);
  same("rows: the rule, for the ids 4, 1, 4,", looked_up.node->inputs[0].rule(g), back,
       {{last, "id 4 occurs twice, and only its last row counts: add them"},
        {g, "it is gy as it came: each row goes back to the row of the table that it came from"}});
  const int T = 3, C = 4;
  Random random(1);
  const Block block(C, 2, random);
  const Tensor x(numbers(T, C, 3), "x");
  const auto moments = [&](double eps, bool root, int by) {
    Matrix y = x.value();
    for (int t = 0; t < T; ++t) {
      double mean = 0, square = 0;
      for (int j = 0; j < C; ++j) mean += y.at(t, j) / C;
      for (int j = 0; j < C; ++j) square += (y.at(t, j) - mean) * (y.at(t, j) - mean) / by;
      for (int j = 0; j < C; ++j) y.at(t, j) = (y.at(t, j) - mean) / (root ? std::sqrt(square + eps) : square + eps);
    }
    return y;
  };
  Norm norm(C);
  same("norm", norm(x).value(), moments(1e-5, true, C),
       {{moments(1e-5, false, C), "divided by the variance: by its root"},
        {moments(1e-5, true, C - 1), "the variance is divided by C - 1: divide by C"},
        {moments(1e-5, true, 1), "the variance is the sum of the squares: divide it by C"},
        {x.value(), "it is x as it came in"}});
  norm.scale.value() = numbers(1, C, 4), norm.shift.value() = numbers(1, C, 5);
  const auto plus = [](double a, double b) { return a + b; };
  const Matrix scaled_norm = times(moments(1e-5, true, C), repeat_to(norm.scale.value(), T, C));
  same("norm with scale and shift", norm(x).value(), map(scaled_norm, repeat_to(norm.shift.value(), T, C), plus),
       {{moments(1e-5, true, C), "scale and shift take no part"}, {scaled_norm, "shift is not added"}});
  gradients("norm", [&] { return norm(x); }, {x, norm.scale, norm.shift}, {"x", "scale", "shift"});
  const auto ffn = [&](const Tensor& h) { return block.out(tanh(block.in(h))); };
  const Tensor h = x + block.attention(block.norm1(x)), bare = block.attention(block.norm1(x));
  same("block", block(x).value(), (h + ffn(block.norm2(h))).value(),
       {{ffn(block.norm2(bare)).value(), "both residual connections are missing: x + ..., h + ..."},
        {(bare + ffn(block.norm2(bare))).value(),
         "the first residual connection is missing: h = x + attention(norm1(x))"},
        {ffn(block.norm2(h)).value(), "the second residual connection is missing: y = h + ..."},
        {(x + ffn(block.norm2(h))).value(), "the second residual connection adds x: it adds h"},
        {(h + block.out(block.in(block.norm2(h)))).value(), "tanh is missing: two linear maps in a row are one"},
        {(h + ffn(h)).value(), "norm2 is missing"},
        {(h + ffn(block.norm2(x))).value(), "the second half takes x: it takes h"},
        {h.value(), "the second half is missing"}});
  const Gpt gpt(5, 6, C, 2, 2, random);
  const Ids text{3, 0, 3, 2};
  const Tensor logits = gpt(text);
  if (logits.value().rows != 4 || logits.value().cols != 5)
    not_yet("Gpt: the logits have the shape (", logits.value().rows, ", ", logits.value().cols,
            ") instead of (4, 5), (T, V)");
  const auto model = [&](const Ids& places, std::size_t blocks, bool last_norm) {
    Tensor y = rows(gpt.token, text) + rows(gpt.position, places);
    for (std::size_t i = 0; i < blocks; ++i) y = gpt.blocks[i](y);
    return gpt.out(last_norm ? gpt.norm(y) : y).value();
  };
  same("Gpt", logits.value(), model({0, 1, 2, 3}, 2, true),
       {{model({0, 1, 2, 3}, 2, false), "the last norm is missing"},
        {model({0, 1, 2, 3}, 1, true), "only one of two blocks is used"},
        {model({1, 2, 3, 4}, 2, true), "positions count from 0"},
        {model(text, 2, true), "the position table is read at the tokens: at 0, 1, 2, ..."}});
  draw(block(x), folder + "/graph.dot");
  return "this is the GPT; its parameters know nothing yet";
}

}  // namespace check
