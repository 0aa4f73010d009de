// Exercise 18: A step of beam search. Lesson 12, docs/learn/start/12_decoding.md
//
// k beginnings have the scores scores_i, sums of ln p. The model gives ln p of each of the V next tokens after each
// beginning. The k V continuations compete for k places:
//
//     candidate (i, v): scores_i + log_p_iv        keep the k greatest, the greatest first
//
//     scores (k)      log_p (k, V)      ->      {parents (k), tokens (k), scores (k)}
//
// parents, tokens and scores are i, v and the score of each kept candidate.
//
// Operations: +, reshape(x, {-1}), which makes a list of a table, and topk(list, k), which has .values and .indices of
// its k greatest elements, the greatest first. A loop over the indices and std::vector<std::int64_t> make an Index:
// index(vector); element j of an Index is ids.at({j}).
#include "exercises.h"

using namespace xgrad;
using namespace xgrad::exercises;

Beams beam_step(const Tensor& scores, const Tensor& log_p) {
  return {};  // your lines: {parents, tokens, scores}
}
