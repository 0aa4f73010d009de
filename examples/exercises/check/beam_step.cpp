#include "check.h"

namespace xgrad::exercises {

void check::beam_step(Beams (*answer)(const Tensor&, const Tensor&)) {
  // Both of the best continue beginning 0, though beginning 1 has the greatest ln p.
  const Tensor p = tensor({{0.4, 0.35, 0.15, 0.1}, {0.1, 0.05, 0.8, 0.05}}), scores = log(tensor({0.6, 0.1}));
  const Beams beams = answer(scores, log(p));
  written(beams.scores.defined(),
          "reshape(scores, {-1, 1}) + log_p is the table of candidates (k, V); candidate i V + v of the flat list is "
          "(i, v)");
  has_shape("the list scores", beams.scores.shape(), {2}, "(k)");
  has_shape("the list parents", beams.parents.shape(), {2}, "(k)");
  has_shape("the list tokens", beams.tokens.shape(), {2}, "(k)");
  const auto is = [&](const Index& parents, const Index& tokens) {
    return equal(beams.parents, parents) && equal(beams.tokens, tokens);
  };
  const auto flat = [](const Tensor& x) { return reshape(x, {-1}); };
  not_this(beams.scores, topk(flat(reshape(scores, {-1, 1}) * log(p)), 2).values,
           "the scores are products: they are sums of ln p, so add");
  not_this(beams.scores, topk(flat(reshape(scores, {-1, 1}) + p), 2).values,
           "the probabilities were added: log_p has their logarithms already");
  not_this(beams.scores, topk(flat(log(reshape(exp(scores), {-1, 1}) + p)), 2).values,
           "the probabilities were added: they are multiplied, so their logarithms are added");
  not_this(beams.scores, tensor({0.24, 0.21}), "the scores are probabilities: they are sums of ln p");
  not_this(beams.scores, scores, "the scores are those of the beginnings: take those of the kept candidates");
  const char* best = "0.6 0.4 = 0.24 and 0.6 0.35 = 0.21 after beginning 0";
  if (is(index({0, 1}), index({0, 2})))
    not_yet("each beginning kept its own best token: all continuations compete, and the best are ", best);
  if (is(index({1, 0}), index({2, 0})))
    not_yet("the scores of the beginnings do not count: add scores_i to ln p, then the best are ", best);
  if (is(index({0, 1}), index({0, 0})))
    not_yet("parents and tokens are exchanged: candidate i V + v is beginning i, token v");
  if (is(index({0, 0}), index({0, 2})))
    not_yet("the flat list goes column by column: the table of candidates has a row for each beginning, (k, V)");
  if (is(index({0, 0}), index({1, 0}))) not_yet("the order is wrong: the greatest score comes first");
  if (!equal(beams.parents, index({0, 0})))
    not_yet("parents are ", beams.parents, " instead of [0, 0]: the best are ", best, "; i = position / V");
  if (!equal(beams.tokens, index({0, 1})))
    not_yet("tokens are ", beams.tokens, " instead of [0, 1]: the best are ", best, "; v = position % V");
  const Tensor right = log(tensor({0.24, 0.21}));
  not_this(beams.scores, log(tensor({0.4, 0.35})),
           "scores are ln p of the last token: a beginning's score is the sum over all of its tokens");
  same("the score", beams.scores, right);
  // Three beginnings, five tokens.
  const Tensor other = numbers({3}, 3), log_p = log_softmax(numbers({3, 5}, 4));
  const Sorted kept = topk(reshape(reshape(other, {3, 1}) + log_p, {15}), 3);
  const Beams more = answer(other, log_p);
  same("with k = 3 and V = 5 the score", more.scores, kept.values);
  const Index parents = kept.indices / 5, tokens = kept.indices % 5;
  if (!equal(more.parents, parents) || !equal(more.tokens, tokens))
    not_yet("with k = 3 and V = 5 parents are ", more.parents, " and tokens ", more.tokens, " instead of ", parents,
            " and ", tokens, ": i = position / V, v = position % V");
  right_because() = "with k = 1 this is greedy search";
}

}  // namespace xgrad::exercises
