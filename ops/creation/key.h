// Keys of random draws as attributes of operations. Private.
#pragma once

#include "../../core/array/random.h"

namespace xgrad {

/// The seed and the number of the draw, for attribute().
inline Shape seed_and_draw(const RandomKey& key) {
  const std::uint64_t seed = key.seed, draw = key.draw;
  return {static_cast<std::int64_t>(seed), static_cast<std::int64_t>(draw)};
}

}  // namespace xgrad
