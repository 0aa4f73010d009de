// Exercise 12: Sinusoids. Lesson 8, docs/learn/start/08_positions.md
//
//     p(i, 2j) = sin(i / 10000^(2j/C))        p(i, 2j + 1) = cos(i / 10000^(2j/C))
//
//     length = T, dim = C, an even number      ->      (T, C), the positions i = 0 ... T - 1
//
// A loop over the elements is one way: push them back to a std::vector<double> values, then tensor({length, dim},
// values). Another way is to_real(arange(length)), a column times a row, exp(x), sin(x), cos(x), stack({a, b}, axis)
// and reshape(x, shape).
#include "exercises.h"

using namespace xgrad;

Tensor sinusoids(std::int64_t length, std::int64_t dim) {
  return {};  // your lines
}
