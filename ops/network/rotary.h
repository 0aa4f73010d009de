// Rotary positions: queries and keys rotated by an angle that grows with their position.
#pragma once

#include <optional>

#include "../../core/graph/tensor.h"

namespace xgrad {

/// The pairs of a head's d columns that are rotated together.
enum class RotaryLayout {
  halves,       ///< j and j + d/2, as in the files of Llama and GPT-NeoX
  interleaved,  ///< 2j and 2j + 1, as in the paper and the files of GPT-J
};

/// Llama 3.1's extension to positions beyond the training ("The Llama 3 Herd of Models", 2024). A pair that makes fewer
/// than `low` turns over `context` positions rotates `factor` times as slowly. A pair with more than `high` turns
/// rotates as before. In between the speed grows linearly from 1 / factor to 1.
struct RotaryScaling {
  double factor = 8;
  double low = 1;
  double high = 4;
  std::int64_t context = 8192;  ///< the context length of the original training, in positions
};

struct RotaryOptions {
  std::int64_t heads = 1;  ///< H, the number of heads, concatenated in the last axis
  std::int64_t first = 0;  ///< the position of the first row
  RotaryLayout layout = RotaryLayout::halves;
  double theta = 10000;
  std::optional<RotaryScaling> scaling = {};
};
/// Rotates each pair of columns of row t by the angle (first + t) theta^(-2j/d), where j = 0 ... d/2 - 1 is the number
/// of the pair (Su et al., "RoFormer", 2021):
///
///     y_a = x_a cos - x_b sin,      y_b = x_a sin + x_b cos
///
/// The inner product of a query and a key then depends on their distance only.
/// x (..., T, H d) -> (..., T, H d). Throws ShapeError for fewer than two axes. Throws ValueError for heads below 1, a
/// width that is not H times an even d, a `first` outside [0, 2^40], or a theta below 1 or not finite; and for a
/// scaling with a factor below 1 or not finite, a context below 1, or unless 0 < low < high < infinity.
Tensor rotary(const Tensor& x, const RotaryOptions& options = {});

namespace plain {
/// Unfused rotary positions, which run under Plain.
Tensor rotary(const Tensor& x, const RotaryOptions& options = {});
}  // namespace plain

}  // namespace xgrad
