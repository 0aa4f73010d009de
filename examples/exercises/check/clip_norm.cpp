#include "check.h"

namespace xgrad::exercises {

void check::clip_norm(Tensors (*answer)(const Tensors&, double)) {
  const Tensors gradients{tensor({{3, 0}, {0, 4}}), tensor({7.2, 9.6})};  // norms 5 and 12, together 13
  const Tensors clipped = answer(gradients, 6.5);
  written(!clipped.empty(),
          "a loop adds sum(square(g)).item() of all gradients; its root is the norm; a second loop scales");
  if (clipped.size() != 2) not_yet("the list has ", clipped.size(), " gradients instead of 2");
  for (const std::size_t i : {1, 0}) {
    const auto name = str("gradient ", i);
    written(clipped[i].defined(), name + " is left");
    has_shape(name, clipped[i].shape(), gradients[i].shape(), "that of the gradient");
    if (i == 1) {
      not_this(clipped[i], gradients[i] * (6.5 / 12),
               "gradient 1 was scaled by its own norm, 12: all gradients share one factor, 6.5 / 13");
      not_this(clipped[i], tensor({6.5, 6.5}),
               "the elements were cut off, which changes the direction: scale all by one factor");
    }
    not_this(clipped[i], gradients[i], name,
             " is as long as before, though the norm of all together is 13 and max_norm 6.5: the factor is the lesser "
             "of 1 and 6.5 / 13");
    not_this(clipped[i], gradients[i] * (6.5 / 17), name,
             " is scaled by 6.5 / 17: norms do not add up, their squares do, sqrt(5^2 + 12^2) = 13");
    not_this(clipped[i], gradients[i] * (6.5 / 169), name,
             " is scaled by 6.5 / 169: take the root of the sum of squares");
    not_this(clipped[i], gradients[i] / 13, name, " is scaled to the length 1 instead of max_norm = 6.5");
    same(name, clipped[i], gradients[i] / 2, "the norm of all together is 13, so the factor is 6.5 / 13");
  }
  const Tensors small = answer(gradients, 26);
  if (small.size() != 2) not_yet("with max_norm = 26 the list has ", small.size(), " gradients: short ones stay");
  for (std::size_t i = 0; i < 2; ++i) {
    not_this(small[i], 2 * gradients[i],
             "a vector of length 13 became longer with max_norm = 26: the factor is at most 1");
    same(str("with max_norm = 26 gradient ", i), small[i], gradients[i], "a short vector stays as it is");
  }
  right_because() = "a vector of length 13 became one of 6.5 in the same direction";
}

}  // namespace xgrad::exercises
