#include "mistake.h"

namespace xgrad::exercises {

void check::split_heads(Tensor (*answer)(const Tensor&, std::int64_t)) {
  constexpr std::int64_t B = 2, T = 3, H = 4, d = 5;  // all differ, so that no axis stands for another
  const Tensor x = reshape(to_real(arange(B * T * H * d)), {B, T, H * d});
  const Tensor y = answer(x, H);
  written(y.defined(), "reshape the last axis C into H and d first, (B, T, H, d); then move the axes");
  const Tensor expected = permute(reshape(x, {B, T, H, d}), {0, 2, 1, 3});
  has_shape("the result", y.shape(), {B, H, T, d}, "(B, H, T, d)" + form_of(y, expected));
  if (const std::string form = form_of(y, expected); !form.empty()) not_yet("the result is wrong", form);
  const auto place = [&](std::int64_t element) { return position_of(element, x.shape()); };
  for (std::int64_t i = 0; i < y.size(); ++i) {
    const Shape at = position_of(i, y.shape());
    const Shape from = place(static_cast<std::int64_t>(y.value().begin()[i])), right{at[0], at[2], at[1] * d + at[3]};
    if (from == right) continue;
    if (from[0] != right[0])
      not_yet("sequence ", at[0], " of the result has elements of sequence ", from[0],
              ": the first axis stays as it is");
    if (from[1] != right[1]) {
      not_yet("head ", at[1], " mixes positions: its row ", at[2], " holds an element of position ", from[1],
              ". reshape keeps the order of the elements, so split C first and permute the axes after that");
    }
    not_yet("head ", at[1], " has column ", from[2], " of x as its element ", at[3], " instead of column ", right[2],
            ": a head has d columns that are neighbours");
  }
  right_because() = "both operations only reorder elements, and the way back is the same two in reverse";
}

}  // namespace xgrad::exercises
