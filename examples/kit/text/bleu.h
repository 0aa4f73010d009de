// How good a translation is: BLEU.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <xgrad/core/base/error.h>

namespace xgrad::kit {

/// BLEU of one predicted sentence against one reference, both as tokens, counting n-grams of 1 to k tokens:
///
///   bleu = exp(min(0, 1 - len(reference) / len(prediction))) * prod_{n = 1..k} p_n^(1 / 2^n)
///
/// where p_n is the share of the prediction's n-grams that the reference has too, each used once (Papineni et al. 2002
/// with the weights of "Dive into Deep Learning", section 10.7). Longer n-grams weigh more: p^(1/2^n) is nearer to 1.
/// A prediction of fewer than k tokens is judged by the n-grams that it has: k is capped at its length. An empty
/// prediction gets 0. Throws ValueError if k < 1.
double bleu(std::span<const std::string> prediction, std::span<const std::string> reference, int k);

/// The best BLEU over several references, as sentences have several translations; 0 without references.
double best_bleu(std::span<const std::string> prediction, std::span<const std::vector<std::string>> references, int k);

}  // namespace xgrad::kit
