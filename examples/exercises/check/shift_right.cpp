#include "check.h"

namespace xgrad::exercises {

void check::shift_right(Index (*answer)(const Index&, std::int64_t)) {
  const Index target = index({{7, 11, 9, 2}, {5, 8, 2, 0}});
  const Index read = answer(target, 1);
  written(read.size() > 0,
          "Index(Shape{target.dim(0), 1}, bos) is a column of bos; concat puts it before the first T - 1 columns");
  has_shape("the result", read.shape(), {2, 4}, "(B, T): one word comes in at the front, the last one leaves");
  for (std::int64_t b = 0; b < 2; ++b) {
    for (std::int64_t t = 0; t < 4; ++t) {
      const std::int64_t word = read.at({b, t}), right = t == 0 ? 1 : target.at({b, t - 1});
      if (word == right) continue;
      const auto what = str("position ", t, " of sequence ", b, " reads ", word, " instead of ", right);
      if (t == 0 && word == target.at({b, -1}))
        not_yet(what, ": the last word came round to the front, where bos = 1 belongs");
      if (b > 0 && t == 0 && word == target.at({b - 1, -1}))
        not_yet(what, ": the last word of the sequence before came in");
      if (word == target.at({b, t})) not_yet(what, ": it leaks, since ", word, " is the word that it should predict");
      if (t < 3 && word == target.at({b, t + 1}))
        not_yet(what, ": it leaks, since ", word, " comes after the word that it should predict");
      if (word == 1) not_yet(what, ": bos fills a row, but it is a column: both are put together along axis 1");
      not_yet(what, t == 0 ? ", bos" : ", the word before");
    }
  }
  if (!equal(answer(target, 3)[{_, 0}], index({3, 3})))
    not_yet("with bos = 3 the first column is not 3: take the argument");
  right_because() = "one pass predicts all T words, each from those before it";
}

}  // namespace xgrad::exercises
