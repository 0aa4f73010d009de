#include "mistake.h"

namespace xgrad::exercises {

void check::padded_loss(Tensor (*answer)(const Tensor&, const Index&, std::int64_t)) {
  const Tensor losses = variable({{1, 2, 30}, {6, 40, 50}}, "losses");
  const Index targets = index({{4, 2, 0}, {2, 0, 0}});
  const Tensor loss = answer(losses, targets, 0);
  written(loss.defined(), "to_real(targets != pad) is the table of m");
  if (loss.size() != 1) has_shape("the loss", loss.shape(), {}, "one number");
  const double value = loss.item();
  const std::pair<double, const char*> mistakes[] = {
      {21.5, ", the mean over all 6 positions: the padding counts"},
      {1.5, ": the 3 words are divided by all 6 positions; divide by the number of words"},
      {9, ", the sum over the words: divide by their number"},
      {40, ", the mean over the padding: m is 0 where the target is pad"},
      {3.75, ", the mean of the means of two sequences: a word of a short one counts more. All words count the same"},
      {4.5, ": the sum over the words is divided by the number of sequences; divide by that of words"},
      {43, ": the sum still has the padding; multiply by m there, too"}};
  for (const auto& [mistake, text] : mistakes) {
    if (std::abs(value - mistake) < 1e-4) not_yet("L is ", mistake, text);
  }
  agree({.what = "L", .why = "(1 + 2 + 6) / 3"}, answer,
        [](const Tensor& losses, const Index& targets, std::int64_t pad) {
          const Tensor m = to_real(targets != pad);
          return sum(losses * m) / sum(m);
        },
        {{"losses", losses}, {"targets", targets}, {"pad", std::int64_t{0}}});
  same("with pad = 2 L", answer(losses, targets, 2), Tensor(121. / 4), "the argument says which word is padding");
  right_because() = "more padding in a batch does not change the loss";
}

}  // namespace xgrad::exercises
