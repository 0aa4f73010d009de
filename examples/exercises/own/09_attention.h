// Your own engine, 9 of 12: Attention. docs/learn/own_engine.md
//
// Each position of a sequence has a query, a key and a value. Position t takes a weighted mean of the values of the
// positions 0 ... t; the scores of later ones are as good as minus infinity (add -1e9).
//
//     Y = softmax(Q K^T / sqrt(d) + mask) V        Q, K, V (T, d)      ->      (T, d)
//
// A head maps x (T, C) to its Q, K and V of width d = C / heads, and the result back to width C. The results of the
// heads are added. Write causal, attention, operator() and collect of Head, and operator() of Attention.
#pragma once
#include "08_adam.h"

inline Matrix causal(int length) {  // (T, T): 0 where position t (row) sees position s (column), else -1e9
  //< return Matrix{length, length};
  Matrix mask{length, length};
  for (int t = 0; t < length; ++t) {
    for (int s = t + 1; s < length; ++s) mask.at(t, s) = -1e9;
  }
  return mask;
  //>
}

inline Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v) {
  //< return v;
  const Tensor scores = matmul(q, transpose(k)) / std::sqrt(q.value().cols);
  return matmul(softmax(scores + causal(q.value().rows)), v);
  //>
}

struct Head {
  Linear query, key, value, out;
  Head(int dim, int d, Random& random)
      : query(dim, d, random), key(dim, d, random), value(dim, d, random), out(d, dim, random) {}

  Tensor operator()(const Tensor& x) const {
    //< return x;
    return out(attention(query(x), key(x), value(x)));
    //>
  }
  void collect(Tensors& parameters) const {
    //< return;
    for (const Linear* part : {&query, &key, &value, &out}) part->collect(parameters);
    //>
  }
};

struct Attention {
  std::vector<Head> heads;
  Attention(int dim, int count, Random& random) {
    for (int h = 0; h < count; ++h) heads.emplace_back(dim, dim / count, random);
  }

  Tensor operator()(const Tensor& x) const {
    //< return x;
    Tensor y = heads[0](x);
    for (std::size_t h = 1; h < heads.size(); ++h) y = y + heads[h](x);
    return y;
    //>
  }
  void collect(Tensors& parameters) const {
    for (const Head& head : heads) head.collect(parameters);
  }
};
