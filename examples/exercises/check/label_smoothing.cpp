#include "mistake.h"

namespace xgrad::exercises {

void check::label_smoothing(Tensor (*answer)(const Tensor&, const Index&, double)) {
  const Tensor logits = leaf({3, 5}, "logits");
  const Index targets = index({1, 4, 0});
  using T = const Tensor&;
  const auto of = [](const Tensor& r, const Tensor& log_p) { return -sum(r * log_p) / log_p.dim(0); };
  const auto right = [of](T logits, const Index& targets, double a) {
    const std::int64_t V = logits.dim(1);
    return of((1 - a) * one_hot(targets, V) + a / V, log_softmax(logits));
  };
  const Tensor log_p = log_softmax(logits), hot = one_hot(targets, 5), r = 0.9 * hot + 0.02;
  agree({.what = "L",
         .meaning = "the mean over the samples",
         .hint = "r = (1 - a) * one_hot(targets, V) + a / V, a table (N, V) whose rows sum to 1",
         .refused = {"cross_entropy"},
         .known =
             {{of(hot, log_p), "the loss is that without smoothing: a = 0.1 takes no part"},
              {of(hot + 0.02, log_p), "row 0 of r sums to 1.1 instead of 1: the right class keeps 1 - a"},
              {of(0.9 * hot + 0.1, log_p), "row 0 of r sums to 1.4 instead of 1: each class gets a / V, not a"},
              {of(0.9 * hot + 0.1 / 4 * (1 - hot), log_p),
               "the share a went to the 4 other classes alone: each of the 5 classes gets a / V, the right one, too"},
              {of(0.1 * hot + 0.9 / 5, log_p), "a and 1 - a have changed places: the right class keeps 1 - a"},
              {of(r, softmax(logits)), "the logarithm is missing: log_softmax gives ln p"},
              {of(r, logits), "the logits stand where ln p belongs: log_softmax(logits)"},
              {of(r, log_softmax(softmax(logits))), "the softmax is taken twice: log_softmax takes the logits"},
              {of(r, log_softmax(logits, 0)), "log_softmax runs over the samples: the classes are the last axis"},
              {of(r, log_p) + sum(r * log(r)) / 3, "the entropy of r is subtracted: L is -sum r ln p alone"},
              {-mean(log(0.9 * sum(hot * softmax(logits), 1) + 0.02)),
               "p is smoothed: smooth r, and multiply ln p by it"},
              {of(r, log(log_p)), "log_softmax has the logarithm already"}},
         .terms = {term("[v = c]", [of](T logits, const Index& c,
                                        double) { return of(one_hot(c, logits.dim(1)), log_softmax(logits)); }),
                   term("1",
                        [of](T logits, const Index&, double) { return of(ones_like(logits), log_softmax(logits)); })},
         .why = "L is the mean over n of the sum over v of -r_nv ln p_nv"},
        answer, right, {{"logits", logits}, {"targets", targets}, {"a", 0.1}});
  right_because() = "the loss is smallest at p = r, so no logit has to grow without end";
}

}  // namespace xgrad::exercises
