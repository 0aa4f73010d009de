#include <xgrad/nn/layers/positions.h>

#include "check.h"

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
  const double first = p.value().at({1, 2}), second = p.value().at({1, 3});
  if (std::abs(first * first + second * second - 1) > 1e-4)
    not_yet(
        "columns 2 and 3 have different angles at position 1: sin and cos of a pair share i / 10000^(2j/C), and j is "
        "the number of the pair");
  if (std::abs(first - std::sin(1.)) < 1e-5)
    not_yet("all pairs of columns turn at one speed: 2 * j / dim of integers is 0; write 2. * j / dim");
  if (std::abs(first - std::sin(10.)) < 1e-5)
    not_yet("later pairs of columns turn faster: the position is divided by 10000^(2j/C), not multiplied");
  if (allclose(p[{_, slice(0, 2)}], right[{_, slice(0, 2)}], {.atol = 1e-5}) &&
      !allclose(p[{_, 2}], right[{_, 2}], {.atol = 1e-5})) {
    not_yet("columns 0 and 1 are right, column 2 at position 1 is sin ", digits(std::asin(first)), " instead of sin ",
            digits(std::asin(right.value().at({1, 2}))),
            ": the angle is i / 10000^(2j/C), and j is the number of the pair");
  }
  same("p", p, right);
  same("p", answer(50, 2), nn::sinusoids(50, 2), "with C = 2", 1e-3);
  right_because() = "p(i) . p(j) depends on i - j alone";
}

}  // namespace xgrad::exercises
