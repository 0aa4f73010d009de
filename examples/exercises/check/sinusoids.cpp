#include <xgrad/nn/layers/positions.h>

#include "mistake.h"

namespace xgrad::exercises {

void check::sinusoids(Tensor (*answer)(std::int64_t, std::int64_t)) {
  const Tensor p = answer(5, 8);
  written(p.defined(),
          "a row has a sine and a cosine of the same angle for each j below C / 2; std::pow(10000, y) is a power");
  has_shape("the result", p.shape(), {5, 8}, "(T, C)");
  const Tensor right = nn::sinusoids(5, 8);
  not_this(p, Tensor(nn::sinusoids(5, 8, nn::Sinusoids::concatenated)),
           "the first half has the sines and the second half the cosines: they alternate, sin in columns 2j, cos in "
           "columns 2j + 1");
  not_this(p, Tensor(nn::sinusoids(6, 8))[{slice(1, none)}],
           "the first position is 1: positions count from 0, so row 0 is 0, 1, 0, 1, ...");
  if (allclose(p[{0}], tensor({1, 0, 1, 0, 1, 0, 1, 0})))
    not_yet("row 0 is 1, 0, 1, 0, ...: the sine comes first, sin 0 = 0");
  // The table of an angle, with the functions of its even and odd columns.
  const auto table = [](const auto& angle, const auto& even, const auto& odd) {
    std::vector<double> values;
    for (int i = 0; i < 5; ++i) {
      for (int c = 0; c < 8; ++c) values.push_back(c % 2 == 0 ? even(angle(i, c)) : odd(angle(i, c)));
    }
    return tensor({5, 8}, values);
  };
  const auto sine = [](double x) { return std::sin(x); };
  const auto cosine = [](double x) { return std::cos(x); };
  const auto angle = [](double i, int c) { return i / std::pow(10000, c / 2 * 2 / 8.); };
  const auto turned = [&](const auto& angle) { return table(angle, sine, cosine); };
  const double degree = std::acos(-1) / 180;
  const Known mistakes[] = {
      {table(angle, sine, sine), "every column is a sine: columns 2j + 1 have the cosine"},
      {table(angle, cosine, cosine), "every column is a cosine: columns 2j have the sine"},
      {turned([](double i, int c) { return i / std::pow(10000, c / 8.); }),
       "columns 2 and 3 have different angles at position 1: sin and cos of a pair share i / 10000^(2j/C), and j is "
       "the "
       "number of the pair"},
      {turned([](double i, int c) { return i / std::pow(10000, c / 2 / 8.); }),
       "columns 0 and 1 are right, the others turn too fast: 10000 is raised to 2j/C, and j is the number of the pair"},
      {turned([&](double i, int c) { return 2 * std::acos(-1) * angle(i, c); }), "the angles are multiplied by 2 pi"},
      {turned([](double i, int c) { return i / std::pow(10000, (c / 2 * 2 + 1) / 8.); }),
       "the exponent is 2j/C, not (2j + 1)/C"},
      {turned([](double i, int c) { return i / std::pow(10000, c / 2 * 4 / 8.); }),
       "columns 0 and 1 are right, the others turn too slowly: 2j is the column, j the number of the pair"},
      {turned([](double i, int) { return i; }),
       "all pairs of columns turn at one speed: 2 * j / dim of integers is 0; write 2. * j / dim"},
      {turned([](double i, int c) { return i * std::pow(10000, c / 2 * 2 / 8.); }),
       "later pairs of columns turn faster: the position is divided by 10000^(2j/C), not multiplied"},
      {turned([](double i, int c) { return c < 2 ? i : i / (10000 * (c / 2 * 2 / 8.)); }),
       "10000 is multiplied by 2j/C: it is raised to this power, std::pow(10000, 2. * j / dim)"},
      {turned([](double i, int c) { return i / (10000 * (c / 2 * 2 / 8.)); }),
       "10000 is multiplied by 2j/C: it is raised to this power, std::pow(10000, 2. * j / dim)"},
      {turned([](double i, int c) { return (c / 2) / std::pow(10000, 2 * i / 8); }),
       "position and pair have changed places: the row is the position i, which is divided"},
      {turned([&](double i, int c) { return angle(i, c) * degree; }),
       "the angles are in degrees: std::sin takes i / 10000^(2j/C) as it is"},
      {turned([](double i, int c) { return i / std::pow(10000, c / 2 * 2 / 6.); }),
       "the exponent is 2j / C, with C = dim, not C - 2"},
      {turned([](double i, int c) { return i / std::pow(10000, (c / 2 * 2 + 2) / 8.); }),
       "the pairs count from 0: the first has the exponent 0"}};
  for (const Known& mistake : mistakes) not_this(p, mistake.value, mistake.text);
  std::vector<double> by_row;
  for (int i = 0; i < 5; ++i) {
    for (int c = 0; c < 8; ++c) by_row.push_back(i % 2 == 0 ? sine(angle(i, c)) : cosine(angle(i, c)));
  }
  not_this(p, tensor({5, 8}, by_row),
           "sine and cosine alternate from row to row: they alternate from column to column");
  // The first pair that is not right, by what it would need.
  for (int c = 2; c < 8; c += 2) {
    const double at_1 = p.value().at({1, c}), base = std::pow(std::asin(at_1), -8. / c);
    if (allclose(p[{_, slice(0, c)}], right[{_, slice(0, c)}], {.atol = 1e-5}) &&
        !allclose(p[{_, c}], right[{_, c}], {.atol = 1e-5}) && std::abs(base / 10000 - 1) > 1e-3 &&
        allclose(p[{_, c}], sin(to_real(arange(5)) * std::asin(at_1)), {.atol = 1e-5})) {
      not_yet("columns before ", c, " are right, column ", c, " at position 1 is sin ", digits(std::asin(at_1)),
              " instead of sin ", digits(std::asin(right.value().at({1, c}))), ", as if the base were ", digits(base),
              ": the angle is i / 10000^(2j/C), and j is the number of the pair");
    }
  }
  const auto columns = [](const Tensor& t, int first) { return reshape(t, {5, 4, 2})[{_, _, first}]; };
  for (const int half : {0, 1}) {
    if (allclose(columns(p, half), columns(right, half), {.atol = 1e-5}))
      same(half == 0 ? "the sines are right, the cosine" : "the cosines are right, the sine", columns(p, 1 - half),
           columns(right, 1 - half), half == 0 ? "it is cos of the same angle" : "it is sin of the same angle");
  }
  same("p", p, right);
  same("p", answer(50, 2), nn::sinusoids(50, 2), "with C = 2", 1e-3);
  right_because() = "p(i) . p(j) depends on i - j alone";
}

}  // namespace xgrad::exercises
