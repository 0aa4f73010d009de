// Attention, its loss and its embedding, for steps 9 and 10.
#pragma once

#include <algorithm>
#include <list>

#include "adam.h"

using Ids = std::vector<int>;

inline Matrix one_hot(const Ids& ids, int classes) {  // (T) -> (T, V)
  Matrix y = zeros(static_cast<int>(ids.size()), classes);
  for (int t = 0; t < y.rows; ++t) y.at(t, ids[static_cast<std::size_t>(t)]) = 1;
  return y;
}

// ln softmax of each row. Subtracting the maximum of the row avoids overflow in exp and does not change the result.
inline Tensor log_softmax(const Tensor& x) {
  Matrix largest = zeros(x.value().rows, 1);
  for (int i = 0; i < largest.rows; ++i) {
    largest.at(i, 0) = x.value().at(i, 0);
    for (int j = 1; j < x.value().cols; ++j) largest.at(i, 0) = std::max(largest.at(i, 0), x.value().at(i, j));
  }
  const Tensor z = x - largest;
  return z - log(sum_rows(exp(z)));
}
inline Tensor softmax(const Tensor& x) { return exp(log_softmax(x)); }

// The mean of -ln p over the rows of logits (T, V), where p is the probability of the right answer.
inline Tensor cross_entropy(const Tensor& logits, const Ids& answers) {
  return -1 * sum(log_softmax(logits) * one_hot(answers, logits.value().cols)) / static_cast<double>(answers.size());
}

// A mask to add to the scores: position t sees 0 ... t, and later positions get a score of -1e9.
inline Matrix causal(int steps) {
  Matrix mask = zeros(steps, steps);
  for (int t = 0; t < steps; ++t) {
    for (int s = t + 1; s < steps; ++s) mask.at(t, s) = -1e9;
  }
  return mask;
}

// Every position has a query q, a key k and a value v.
//   y = softmax(q k^T / sqrt(d)) v W_o
struct Head : Module {
  const Linear q, k, v, o;
  Head(const At& here, int dim, int d)
      : Module(here), q(at("q"), dim, d), k(at("k"), dim, d), v(at("v"), dim, d), o(at("o"), d, dim) {}

  Tensor weights(const Tensor& x) const {  // (T, T): the weight of position s for position t
    const Tensor scores = matmul(q(x), transpose(k(x))) / std::sqrt(q.weight.value().cols);
    return softmax(scores + causal(x.value().rows));
  }
  Tensor operator()(const Tensor& x) const { return o(matmul(weights(x), v(x))); }  // (T, C) -> (T, C)
};

// Several heads, whose results are added.
struct Attention : Module {
  std::list<Head> heads;
  Attention(const At& here, int dim, int count) : Module(here) {
    for (int h = 0; h < count; ++h) heads.emplace_back(at(std::to_string(h)), dim, dim / count);
  }
  Tensor operator()(const Tensor& x) const {
    Tensor y = 0;
    for (const Head& head : heads) y = y + head(x);
    return y;
  }
};

// A row of the table for each id.
struct Embedding : Module {
  const Tensor table;
  Embedding(const At& here, int count, int dim) : Module(here), table(param("table", uniform(count, dim, 1))) {}
  Tensor operator()(const Ids& ids) const { return matmul(one_hot(ids, table.value().rows), table); }  // (T) -> (T, C)
};

inline Ids first(int count) {  // 0, 1, ..., count - 1
  Ids ids;
  while (static_cast<int>(ids.size()) < count) ids.push_back(static_cast<int>(ids.size()));
  return ids;
}
