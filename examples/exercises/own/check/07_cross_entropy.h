// Hint: -ln p_c = ln sum_k e^(x_k) - x_c. The derivative of the first term with respect to x_j is p_j; that of the
// second is 1 for j = c.
#include "check.h"

namespace check {

inline std::string link(const std::string& folder) {
  const Tensor x(numbers(3, 4, 1), "x");
  const Matrix e = map(x.value(), [](double a) { return std::exp(a); });
  const auto over = [&](const Matrix& sums) {
    return map(e, repeat_to(sums, 3, 4), [](double a, double b) { return a / b; });
  };
  const Matrix p = over(sum_to(e, 3, 1));
  same("probabilities", probabilities(x.value()), p,
       {{over(sum_to(e, 1, 4)), "the columns sum to 1: each row is a softmax"},
        {over(sum_to(e, 1, 1)), "all rows together sum to 1: each row sums to 1"},
        {e, "the division by the sum of the row is missing"}});
  if (std::isnan(probabilities({1, 2, {1000, 0}}).v[0]))
    not_yet("probabilities of (1000, 0): e^1000 is infinite; subtract the largest score of the row from all of them");
  for (const double c : {1000., -1000.}) {
    const Matrix shifted = probabilities(map(x.value(), [c](double a) { return a + c; }));
    same("probabilities of scores around " + std::to_string(int(c)), shifted, p, {}, 1e-9);
  }
  same("probabilities of (0, 0, 1000)", probabilities({1, 3, {0, 0, 1000}}), {1, 3, {0, 0, 1}});
  const Tensor weights = softmax(x);
  same("softmax", weights.value(), p);
  if (weights.node->inputs.size() != 1)
    not_yet("softmax: the result has ", weights.node->inputs.size(), " inputs instead of 1");
  const Matrix g = numbers(3, 4, 2), both = times(g, p), sums = repeat_to(sum_to(both, 3, 1), 3, 4);
  const auto minus = [](const Matrix& a, const Matrix& b) {
    return map(a, b, [](double u, double v) { return u - v; });
  };
  same("softmax: the rule", weights.node->inputs[0].rule(g), minus(both, times(sums, p)),
       {{both, "the sum is missing: a score moves all weights of its row"},
        {times(g, minus(p, times(p, p))),
         "it is the rule of the diagonal alone, p (1 - p): a score moves all weights of its row"},
        {minus(both, sums), "the sum is multiplied by p_j"},
        {minus(g, sums), "gy minus the sum is multiplied by p_j"}});
  const Ids answers{2, 0, 2};
  const Tensor loss = cross_entropy(x, answers);
  double right = 0, wrong = 0;
  Matrix hot{3, 4};
  for (int t = 0; t < 3; ++t)
    right -= std::log(p.at(t, answers[std::size_t(t)])), wrong += p.at(t, answers[std::size_t(t)]),
        hot.at(t, answers[std::size_t(t)]) = 1;
  same("cross_entropy", loss.value(), {1, 1, {right / 3}},
       {{{1, 1, {right}}, "the sum over the rows: L is their mean"},
        {{1, 1, {-right / 3}}, "the sign: -ln p is positive"},
        {{1, 1, {-wrong / 3}}, "the logarithm is missing"},
        {{1, 1, {right / 12}}, "divided by the number of elements: the mean is that over the rows"}});
  if (loss.node->inputs.size() != 1 || loss.node->inputs[0].from.node != x.node)
    not_yet("cross_entropy: its one input is x; it is one operation with one rule");
  same("cross_entropy: the rule, for gy = 6,", loss.node->inputs[0].rule({1, 1, {6}}), scaled(minus(p, hot), 2),
       {{scaled(minus(p, hot), 6), "the division by the number of rows is missing"},
        {scaled(minus(p, hot), 1. / 3), "gy takes no part: multiply by it"},
        {minus(p, hot), "neither gy nor the division by the number of rows is there"},
        {scaled(p, 2), "1 at the right answer is not subtracted"},
        {scaled(minus(hot, p), 2), "the sign: a higher score of the right answer makes the loss smaller"}});
  const double far = cross_entropy(Tensor(Matrix{1, 2, {0, 1000}}), {1}).value().v[0];
  if (!(far < 1e-9)) not_yet("cross_entropy of a sure right answer is ", far, " instead of 0");
  const double wide = cross_entropy(Tensor(Matrix{1, 2, {0, 1000}}), {0}).value().v[0];
  if (!std::isfinite(wide))
    not_yet("cross_entropy of the scores 0 and 1000, where 0 is right, is ", wide,
            " instead of 1000: p_c is 0 there; ln p_c = x_c - ln sum_k e^(x_k), with the largest score subtracted");
  gradients("cross_entropy", [&] { return cross_entropy(x, answers); }, {x}, {"x"});
  draw(loss, folder + "/graph.dot");
  return "the whole rule is p - [j = c], divided by T";
}

}  // namespace check
