// Dropout: the choice of elements is a function of the key and their position alone.
#pragma once

#include <algorithm>
#include <cstdint>

#include "../../../core/array/array.h"
#include "../../../core/array/random.h"

namespace xgrad {

/// The seed and the number of the draw, for attribute().
inline Shape seed_and_draw(const RandomKey& key) {
  const std::uint64_t seed = key.seed, draw = key.draw;
  return {static_cast<std::int64_t>(seed), static_cast<std::int64_t>(draw)};
}

/// Random words below this drop an element, with probability p.
inline std::uint32_t dropout_threshold(double p) {
  return static_cast<std::uint32_t>(std::min(p * 0x1p32, 0x1p32 - 1));
}

/// x / (1 - p), or 0 with probability p, which is not 1.
Array drop(const Array& x, double p, const RandomKey& key);

}  // namespace xgrad
