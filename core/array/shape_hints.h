// What shapes that do not fit look like: the last clause of an error, where they show a usual mistake. Nothing where
// they do not.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "../base/config.h"

namespace xgrad::detail {

/// The sizes of a shape.
using Sizes = std::span<const std::int64_t>;

/// Of two shapes that cannot be broadcast: that one would fit with axes of size 1 in between, as when a reduction did
/// not keep its axis or an unsqueeze was forgotten, or with its last two axes exchanged.
std::string broadcast_hint(Sizes a, Sizes b);

/// Of two shapes that should be the same: that only axes of size 1 make the difference.
std::string same_shape_hint(Sizes a, Sizes b);

/// Of an input that should be a batch: that it is a single sample, whose sizes are `sample`, -1 for any.
std::string batch_axis_hint(Sizes got, Sizes sample);

}  // namespace xgrad::detail
