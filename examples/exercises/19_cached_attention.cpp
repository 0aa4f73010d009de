// Exercise 19: A key-value cache. Lesson 12, docs/learn/start/12_decoding.md
//
// While a model writes, each step has the query, key and value of one new position. The cache holds the keys and values
// of all positions so far; cache.keys.defined() is false before the first step. Append the new ones, then attend to
// all, the new position included:
//
//     y = softmax(q K^T / sqrt(d)) V
//
//     q, k, v (B, 1, d)      cache.keys, cache.values (B, t, d)      ->      (B, 1, d)
//
// Operations: concat({a, b}, axis), and scaled_dot_product_attention(q, keys, values), which is the formula.
#include "exercises.h"

using namespace xgrad;
using namespace xgrad::exercises;

Tensor cached_attention(const Tensor& q, const Tensor& k, const Tensor& v, Cache& cache) {
  return {};  // your lines
}
