// An array as lines along the axes that an operation reduces or normalises over.
#pragma once

#include <algorithm>

#include "../../../core/array/array.h"
#include "../../../core/runtime/parallel.h"

namespace xgrad {

/// An array seen as (outer, count, inner), of which each (o, :, i) is a line.
struct Lines {
  Array numbers;  ///< shares memory with the array, if its axes are adjacent
  std::int64_t outer = 1, count = 1, inner = 1;
  Axes order = {};  ///< the permutation that made the axes adjacent, else empty
};

/// The lines of x along `axes`, which ascend. Axes that are not adjacent, and those before a last axis that is shorter
/// than a register, are moved to the end, in a copy.
Lines lines_of(const Array& x, const Axes& axes);

/// An array in the order of the numbers of `lines`, brought back to the order of `shape`, their original shape.
Array out_of_lines(const Array& numbers, const Lines& lines, const Shape& shape);

/// Lines side by side that one thread takes at a time.
inline constexpr std::int64_t lines_side_by_side = 64;

/// In parallel: row(line) for contiguous lines, else block(line, at, n) for n lines side by side, of which the first begins at
/// offset `at`.
template <class Row, class Block>
void for_lines(const Lines& lines, const Row& row, const Block& block) {
  constexpr std::int64_t numbers_at_a_time = 1 << 14;
  const std::int64_t count = std::max<std::int64_t>(lines.count, 1);
  if (lines.inner == 1) {
    return parallel_for(lines.outer, std::max<std::int64_t>(1, numbers_at_a_time / count),
                        [&](std::int64_t begin, std::int64_t end) {
                          for (std::int64_t line = begin; line < end; ++line) row(line);
                        });
  }
  const std::int64_t blocks = (lines.inner + lines_side_by_side - 1) / lines_side_by_side;
  const std::int64_t grain = std::max<std::int64_t>(1, numbers_at_a_time / (count * lines_side_by_side));
  parallel_for(lines.outer * blocks, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t o = i / blocks, j = i % blocks * lines_side_by_side;
      block(o * lines.inner + j, o * lines.count * lines.inner + j, std::min(lines_side_by_side, lines.inner - j));
    }
  });
}

}  // namespace xgrad
