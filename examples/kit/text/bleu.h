// BLEU: a measure of the quality of translations.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <xgrad/core/base/error.h>

namespace xgrad::kit {

/// BLEU of one predicted sentence and one reference, both as tokens, with n-grams of 1 to k tokens:
///
///   bleu = exp(min(0, 1 - len(reference) / len(prediction))) * prod_{n = 1..k} p_n^(1 / 2^n)
///
/// where p_n is the fraction of n-grams of the prediction that match one in the reference, which matches only once
/// (Papineni et al. 2002). The weights are from "Dive into Deep Learning", section 10.7: longer n-grams have a larger
/// effect, because p^(1/2^n) is nearer to 1. For a prediction of fewer than k tokens, k is its length. An empty
/// prediction gets 0. Throws ValueError if k < 1.
double bleu(std::span<const std::string> prediction, std::span<const std::string> reference, int k);

/// The largest BLEU over several references, one for each correct translation; 0 without references.
double best_bleu(std::span<const std::string> prediction, std::span<const std::vector<std::string>> references, int k);

}  // namespace xgrad::kit
