// Your own engine, 7 of 12: Softmax with cross-entropy, by hand. docs/learn/own_engine.md
//
// Each row of x holds scores, p = softmax(x) has p_j = e^(x_j) / sum_k e^(x_k). e^1000 is infinite: subtract from all
// scores of a row a number that changes no p_j. The loss of a row whose right answer is c is -ln p_c, finite also where
// p_c is too small for a double; L is the mean over the T rows.
//
//     probabilities   softmax of each row of a table
//     softmax         the same as an operation. A score moves all weights of its row:
//                     gx_j = p_j (gy_j - sum_k gy_k p_k)
//     cross_entropy   L, a number, as one operation with one rule. Derive it: it is short, and needs p and the answers
//                     only. x (T, V), answers: T numbers below V, as a std::vector<int>
#pragma once
#include "06_linear.h"

inline Matrix probabilities(const Matrix& x) {
  //< return x;
  Matrix p = x;
  for (int i = 0; i < x.rows; ++i) {
    double largest = x.at(i, 0), sum = 0;
    for (int j = 1; j < x.cols; ++j) largest = std::max(largest, x.at(i, j));
    for (int j = 0; j < x.cols; ++j) sum += p.at(i, j) = std::exp(x.at(i, j) - largest);
    for (int j = 0; j < x.cols; ++j) p.at(i, j) /= sum;
  }
  return p;
  //>
}

inline Tensor softmax(const Tensor& x) {
  //< return x;
  const Matrix p = probabilities(x.value());
  return record("softmax", p, {{x, [p](const Matrix& gy) {
                                  const Matrix both = times(gy, p),
                                               sums = repeat_to(sum_to(both, p.rows, 1), p.rows, p.cols);
                                  return map(both, times(sums, p), [](double a, double b) { return a - b; });
                                }}});
  //>
}

inline Tensor cross_entropy(const Tensor& x, const Ids& answers) {
  //< return x;
  const Matrix p = probabilities(x.value());
  double loss = 0;
  for (int i = 0; i < p.rows; ++i) {
    int best = 0;
    for (int j = 1; j < p.cols; ++j) best = p.at(i, j) > p.at(i, best) ? j : best;
    const double below = x.value().at(i, best) - x.value().at(i, answers[static_cast<std::size_t>(i)]);
    loss += (below - std::log(p.at(i, best))) / p.rows;
  }
  return record("cross_entropy", Matrix{1, 1, {loss}}, {{x, [p, answers](const Matrix& gy) {
                                                           Matrix gx = p;
                                                           for (int i = 0; i < p.rows; ++i)
                                                             gx.at(i, answers[static_cast<std::size_t>(i)]) -= 1;
                                                           return map(gx,
                                                                      [&](double g) { return g * gy.v[0] / p.rows; });
                                                         }}});
  //>
}
