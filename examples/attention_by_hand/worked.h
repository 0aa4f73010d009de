// Attention with numbers that a reader can check on paper.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include <xgrad/xgrad.h>

namespace attention_by_hand {

using namespace xgrad;
using Words = std::vector<std::string>;

// ---- Five things on a table ----

inline const Words things{"newspaper", "paper", "cup", "notebook", "book"};
/// A key for each thing: how much it stands out, and how much there is to read.
inline Tensor keys_of_things() { return tensor({{0, 1}, {0, 0}, {3, 0}, {0, 1}, {0.5, 3}}); }  // (5, 2)
/// Two queries: one asks what stands out, the other what there is to read.
inline Tensor queries_for_things() { return tensor({{1, 0}, {0, 1}}); }  // (2, 2)
inline Tensor weights_of_things() {
  return softmax(matmul(queries_for_things(), keys_of_things(), {.transpose_b = true}));  // (2, 5)
}

// ---- Tom chase Jerry ----

inline const Words source{"Tom", "chase", "Jerry"}, target{"Tom", "poursuit", "Jerry"};
/// A row for each target word: its weights of the source words.
inline Tensor alignment() { return variable({{0.6, 0.2, 0.2}, {0.2, 0.7, 0.1}, {0.3, 0.2, 0.5}}, "alpha"); }
/// The encoder's code of each source word.
inline Tensor codes() { return variable({{1, 0}, {0, 1}, {1, 1}}, "h"); }
inline Tensor contexts() { return matmul(alignment(), codes()).named("c"); }  // (3, 2)

// ---- <bos> I have a cat ----

inline const Words sentence{"<bos>", "I", "have", "a", "cat"};
/// A key names what a word is: a start, a subject, a verb, an object. A query names what the word looks for.
inline Tensor queries() {
  return variable({{2, 0, 1, 0}, {1, 1, 2, 1}, {0, 2, 1, 2}, {0, 0, 1, 3}, {1, 0, 2, 1}}, "Q");  // (5, 4)
}
inline Tensor keys() {
  return variable({{2, 0, 0, 0}, {0, 2, 0, 1}, {0, 0, 2, 0}, {0, 0, 0, 1}, {0, 1, 0, 2}}, "K");  // (5, 4)
}
/// Points of a plane: <bos> in the middle of a square, the other words at its corners.
inline Tensor values() { return variable({{2, 2}, {0, 4}, {4, 4}, {4, 0}, {0, 0}}, "V"); }  // (5, 2)

/// The five matrices of masked attention.
struct Matrices {
  Tensor mask, scores, masked, weights, result;
};
/// q, k (T, d), v (T, e); the mask (T, T) is added to the scores.
inline Matrices attend(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask) {
  const Tensor scores = (matmul(q, k, {.transpose_b = true}) / std::sqrt(Real(q.dim(1)))).named("scores");
  const Tensor masked = (scores + mask).named("masked");
  const Tensor weights = softmax(masked).named("weights");
  return {mask, scores, masked, weights, matmul(weights, v).named("y")};
}
/// 0 where query t may attend to key s, which is where s <= t; else -infinity.
inline Tensor causal_mask(std::int64_t T) {
  return Tensor(masked_fill(zeros({T, T}), nn::causal_mask(T), -infinity).value()).named("mask");
}

/// The weights of a causal mask that is applied in three ways.
struct Maskings {
  Tensor before;        ///< scores become -infinity, then the softmax
  Tensor after;         ///< the softmax, then weights become 0
  Tensor renormalised;  ///< the same, then each row divided by its sum
};
inline Maskings three_maskings(const Tensor& scores) {
  const std::int64_t T = scores.dim(0);
  const Tensor after = masked_fill(softmax(scores), nn::causal_mask(T), 0);
  return {softmax(scores + causal_mask(T)), after, after / sum(after, -1, {.keepdim = true})};
}

/// The result at the first of `words` words after <bos>, (2).
inline Tensor first_result(std::int64_t words, bool causal) {
  const auto prefix = [&](const Tensor& rows) { return rows[{slice(1, 1 + words)}]; };
  const Tensor mask = causal ? causal_mask(words) : zeros({words, words});
  return attend(prefix(queries()), prefix(keys()), prefix(values()), mask).result[{0}];
}

// ---- Equal keys ----

/// Two queries, ten equal keys, of which 2 and 6 are valid, and the values 0 ... 39.
struct EqualKeys {
  Tensor keys = ones({2, 10, 2});
  Tensor values = broadcast_to(reshape(to_real(arange(40)), {1, 10, 4}), {2, 10, 4});
  AttentionMask valid = nn::padding(index({2, 6}));
};

}  // namespace attention_by_hand
