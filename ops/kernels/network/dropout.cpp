// A random word for every element, many at a time.
#include "dropout.h"

#include <array>
#include <span>

#include "../../../core/base/assert.h"
#include "../../../core/runtime/parallel.h"

namespace xgrad {

Array drop(const Array& x, double p, const RandomKey& key) {
  XGRAD_ASSERT(0 <= p && p < 1);
  constexpr std::int64_t block = 1 << 14;  // elements that one thread handles at a time
  Array y(x.shape());
  const Real* in = x.data();
  Real* out = y.mutable_data();
  const std::uint32_t threshold = dropout_threshold(p);
  const Real scale = static_cast<Real>(1 / (1 - p));
  parallel_for(y.size(), block, [&](std::int64_t begin, std::int64_t end) {
    std::array<std::uint32_t, 1024> words;
    for (std::int64_t i = begin; i < end; i += words.size()) {
      const auto count = static_cast<std::size_t>(std::min<std::int64_t>(words.size(), end - i));
      random_words(key, static_cast<std::uint64_t>(i), std::span(words).first(count));
      for (std::size_t j = 0; j < count; ++j) {
        const Real scaled = in[static_cast<std::size_t>(i) + j] * scale;
        out[static_cast<std::size_t>(i) + j] = words[j] >= threshold ? scaled : 0;
      }
    }
  });
  return y;
}

}  // namespace xgrad
