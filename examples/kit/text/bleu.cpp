// N-gram matching with each reference n-gram used once.
#include <xgrad/kit/text/bleu.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>

#include <xgrad/core/base/error.h>

namespace xgrad::kit {
namespace {

using Words = std::span<const std::string>;

/// How many of the prediction's n-grams find one of their own in the reference.
int matching_ngrams(Words prediction, Words reference, std::size_t n) {
  std::map<std::vector<std::string>, int> unused;
  const auto ngram = [n](Words tokens, std::size_t i) {
    return std::vector<std::string>(tokens.begin() + i, tokens.begin() + i + n);
  };
  for (std::size_t i = 0; i + n <= reference.size(); ++i) ++unused[ngram(reference, i)];
  int matches = 0;
  for (std::size_t i = 0; i + n <= prediction.size(); ++i) {
    const auto found = unused.find(ngram(prediction, i));
    if (found != unused.end() && found->second > 0) --found->second, ++matches;
  }
  return matches;
}

}  // namespace

double bleu(Words prediction, Words reference, int k) {
  if (k < 1) fail<ValueError>("bleu", "k must be at least 1, got ", k);
  if (prediction.empty()) return 0;
  const double length = static_cast<double>(prediction.size());
  double score = std::exp(std::min(0.0, 1 - static_cast<double>(reference.size()) / length));
  for (std::size_t n = 1; n <= std::min(static_cast<std::size_t>(k), prediction.size()); ++n) {
    const double precision = matching_ngrams(prediction, reference, n) / (length - static_cast<double>(n) + 1);
    score *= std::pow(precision, std::pow(0.5, static_cast<double>(n)));
  }
  return score;
}

double best_bleu(Words prediction, std::span<const std::vector<std::string>> references, int k) {
  double best = 0;
  for (const auto& reference : references) best = std::max(best, bleu(prediction, reference, k));
  return best;
}

}  // namespace xgrad::kit
