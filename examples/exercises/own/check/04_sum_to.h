// Hint: y.at(rows > 1 ? i : 0, cols > 1 ? j : 0) is the element of the small table to which element (i, j) of x
// belongs.
#include "check.h"

namespace check {

inline std::string link(const std::string& folder) {
  const Matrix x{2, 3, {1, 2, 3, 40, 50, 60}};
  same("sum_to(x, 1, 3)", sum_to(x, 1, 3), {1, 3, {41, 52, 63}},
       {{{1, 3, {20.5, 26, 31.5}}, "it is the mean: add the copies"},
        {{1, 3, {40, 50, 60}}, "the last row replaced the first: add them"}});
  same("sum_to(x, 2, 1)", sum_to(x, 2, 1), {2, 1, {6, 150}},
       {{{2, 1, {3, 60}}, "the last column replaced the others: add them"}});
  same("sum_to(x, 1, 1)", sum_to(x, 1, 1), {1, 1, {156}});
  same("sum_to(x, 2, 3)", sum_to(x, 2, 3), x);
  same("repeat_to of a row", repeat_to({1, 3, {1, 2, 3}}, 2, 3), {2, 3, {1, 2, 3, 1, 2, 3}});
  same("repeat_to of a column", repeat_to({2, 1, {1, 2}}, 2, 3), {2, 3, {1, 1, 1, 2, 2, 2}});
  same("repeat_to of a number", repeat_to({1, 1, {7}}, 2, 2), {2, 2, {7, 7, 7, 7}});
  const Tensor row(numbers(1, 3, 1), "row"), column(numbers(2, 1, 2), "column"), table(numbers(2, 3, 3), "table");
  const auto rule = [&](const std::string& what, const Tensor& y, const Matrix& right, const Matrix& found) {
    if (y.node->inputs.size() != 1)
      not_yet(what, " has ", y.node->inputs.size(), " inputs instead of 1: return record(...)");
    const Matrix value = y.value();
    same(what, value, right);
    const Matrix gx = y.node->inputs[0].rule(map(value, [](double) { return 1; }));
    same(what + ": the gradient", gx, found,
         {{map(found, [](double) { return 1; }), "each copy contributes: sum them"}});
  };
  rule("repeat of a row", repeat(row, 2, 3), repeat_to(row.value(), 2, 3), {1, 3, {2, 2, 2}});
  rule("repeat of a column", repeat(column, 2, 3), repeat_to(column.value(), 2, 3), {2, 1, {3, 3}});
  rule("sum to a column", sum(table, 2, 1), sum_to(table.value(), 2, 1), {2, 3, {1, 1, 1, 1, 1, 1}});
  const Tensors all{row, column, table};
  const auto formula = [&] { return (table * row - column) / (row * row + 1) + 2; };
  gradients("(table row - column) / (row^2 + 1) + 2", formula, all, {"row", "column", "table"});
  draw(formula(), folder + "/graph.dot");
  return "repeating and summing are each other's rule";
}

}  // namespace check
