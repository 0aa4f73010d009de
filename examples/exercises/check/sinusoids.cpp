#include <xgrad/nn/layers/positions.h>

#include "check.h"

namespace xgrad::exercises {

void check::sinusoids(Tensor (*answer)(std::int64_t, std::int64_t)) {
  const Tensor p = answer(5, 8);
  written(p.defined(),
          "for each i and each j below C / 2 push back sin and then cos of i / std::pow(10000, 2. * j / dim)");
  has_shape("the result", p.shape(), {5, 8}, "(T, C)");
  const Tensor right = nn::sinusoids(5, 8);
  not_this(p, Tensor(nn::sinusoids(5, 8, nn::Sinusoids::concatenated)),
           "the first half has the sines and the second half the cosines: they alternate, sin in columns 2j, cos in "
           "columns 2j + 1");
  not_this(p, Tensor(nn::sinusoids(6, 8))[{slice(1, none)}],
           "the first position is 1: positions count from 0, so row 0 is 0, 1, 0, 1, ...");
  if (allclose(p[{0}], tensor({1, 0, 1, 0, 1, 0, 1, 0})))
    not_yet("row 0 is 1, 0, 1, 0, ...: the sine comes first, sin 0 = 0");
  if (allclose(p[{_, slice(0, 2)}], right[{_, slice(0, 2)}], {.atol = 1e-5}) &&
      !allclose(p[{_, 2}], right[{_, 2}], {.atol = 1e-5})) {
    not_yet("columns 0 and 1 are right, column 2 at position 1 is sin ", digits(std::asin(p.value().at({1, 2}))),
            " instead of sin ", digits(std::asin(right.value().at({1, 2}))),
            ": the exponent is 2j / C, where j numbers the pair of columns");
  }
  same("p", p, right);
  same("p", answer(50, 2), nn::sinusoids(50, 2), "with C = 2", 1e-3);
}

}  // namespace xgrad::exercises
