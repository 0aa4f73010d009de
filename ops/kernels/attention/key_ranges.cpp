// The ranges of keys that a mask leaves to queries, in plain numbers.
#include <algorithm>

#include "attention_sizes.h"

namespace xgrad {

std::int64_t KeyRanges::begin(std::int64_t t) const { return band ? std::clamp<std::int64_t>(t - before, 0, S) : 0; }

std::int64_t KeyRanges::end(std::int64_t b, std::int64_t t) const {
  std::int64_t end = S;
  if (causal) end = std::min(end, t + 1);
  if (band) end = std::min(end, t + after + 1);
  if (lengths) end = std::min(end, lengths[length_per_query ? b * T + t : b]);
  return end;
}

std::int64_t KeyRanges::end(std::int64_t B) const {
  std::int64_t last = 0;
  for (std::int64_t b = 0; b < B; ++b) {
    for (std::int64_t t = 0; t < T && last < S; ++t) last = std::max(last, end(b, t));
  }
  return last;
}

std::int64_t KeyRanges::most_keys(std::int64_t count) const {
  return band ? std::min(S, std::max<std::int64_t>(0, count + before + after)) : S;
}

}  // namespace xgrad
