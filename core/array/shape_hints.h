// Hints about shapes that do not fit: the last clause of an error, or nothing if the shapes show no common mistake.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "../base/config.h"

namespace xgrad::detail {

/// The sizes of a shape.
using Sizes = std::span<const std::int64_t>;

/// For two shapes that cannot be broadcast: says that one would fit with axes of size 1 in between, as when a reduction
/// did not keep its axis or an unsqueeze was forgotten, or with its last two axes exchanged.
std::string broadcast_hint(Sizes a, Sizes b);

/// The same for a mask, or for what is added to scores, as a mask of the keys, (B, S), for scores (B, H, T, S).
std::string mask_hint(Sizes mask, Sizes masked);

/// For two shapes that should be equal: says that they differ only by axes of size 1.
std::string same_shape_hint(Sizes a, Sizes b);

/// For an input that should be a batch: says that it is a single sample, whose sizes are `sample`, -1 for any.
std::string batch_axis_hint(Sizes got, Sizes sample);

/// For an input of five axes where sequences or pictures are expected: says that volumes are not offered.
std::string volume_hint(Sizes got);

}  // namespace xgrad::detail
