#include "mistake.h"

namespace xgrad::exercises {

void check::masked_softmax(Tensor (*answer)(const Tensor&, const Index&)) {
  const Tensor scores = leaf({3, 2, 4}, "scores");
  const Index lengths = index({2, 3, 4});
  Operations ran;
  const Tensor weights = answer(scores, lengths);
  written(weights.defined(),
          "a score of minus infinity counts as e^-inf = 0; masked_fill puts it in place of the masked scores");
  ran.refuse({"masked_softmax"});
  has_shape("the result", weights.shape(), scores.shape(), "that of the scores");
  const Mask masked = arange(4) >= reshape(lengths, {3, 1, 1});
  not_this(weights, softmax(masked_fill(scores, masked, -infinity), 1),
           "the softmax runs over the queries: it belongs over the keys, the last axis");
  not_this(weights, log_softmax(masked_fill(scores, masked, -infinity)),
           "these are ln of the weights: softmax, not log_softmax");
  not_this(weights, softmax(masked_fill(scores, masked, -infinity), 0),
           "the softmax runs over the sequences: it belongs over the keys, the last axis");
  has_no_nan("the weight", weights,
             ran.names.contains("mul") ? "0 * infinity is NaN; masked_fill and where choose without a product"
                                       : "the masked scores are plus infinity: take minus infinity");
  not_this(weights, softmax(scores), "masked keys keep their weights: key 2 of sequence 0 has ",
           digits(weights.value().at({0, 0, 2})),
           ", and only 2 keys are valid: the mask (B, 1, S) is true for keys, the last axis");
  not_this(weights, softmax(masked_fill(scores, masked, 0)), "key 2 of sequence 0 has the weight ",
           digits(weights.value().at({0, 0, 2})), " instead of 0: a score of 0 counts as e^0 = 1, take minus infinity");
  const bool reversed = weights.value().at({0, 0, 3}) > 0.01;
  for (std::int64_t b = 0; b < 3; ++b) {
    for (std::int64_t s = 0; s < 4; ++s) {
      const double weight = weights.value().at({b, 0, s});
      const auto key = str("key ", s, " of sequence ", b, " has the weight ", digits(weight));
      if (weight == -infinity)
        not_yet(key, ": minus infinity was filled in after the softmax; mask the scores, before it");
      if (s >= lengths.at({b}) && weight != 0 && std::abs(weight) < 1e-3)
        not_yet(key, " instead of 0: the masked scores are low, but not minus infinity");
      if (s >= lengths.at({b}) && weight != 0)
        not_yet(key, " instead of 0: the valid keys are 0 ... ", lengths.at({b}) - 1);
      if (s < lengths.at({b}) && weight == 0)
        not_yet(key, ", although ", lengths.at({b}), " keys are valid, 0 ... ", lengths.at({b}) - 1,
                reversed ? "; masked_fill fills where its mask is true" : "");
    }
  }
  const Tensor keys = to_real(!masked);
  not_this(weights, keys / reshape(to_real(lengths), {3, 1, 1}) + zeros_like(weights),
           "all valid keys have the same weight: the scores take no part");
  agree(
      {.what = "the weight",
       .known = {{masked_fill(softmax(scores), masked, 0),
                  "the masked keys took part in the sum of the softmax; mask the scores, before the softmax"},
                 {exp(masked_fill(scores, masked, -infinity)), "the weights are not divided by the sum of their row"}}},
      answer, [](const Tensor& scores, const Index& lengths) { return xgrad::masked_softmax(scores, lengths); },
      {{"scores", scores}, {"lengths", lengths}});
  right_because() = "no gradient reaches a masked score, either";
}

}  // namespace xgrad::exercises
