// Word vectors: nearest neighbours, principal axes, and a map of words.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <xgrad/core/array/array.h>
#include <xgrad/kit/draw/svg.h>

namespace xgrad::kit {

/// A row of a table and its cosine similarity to another row.
struct Neighbour {
  std::int64_t row = 0;
  double cosine = 0;
};
/// The `count` rows with the largest cosine similarity to row `row` of a table (N, d), in descending order. The row
/// itself and rows of zeros are omitted. Throws ShapeError unless the table has two axes, and ValueError if there is no
/// such row.
std::vector<Neighbour> nearest_rows(const Array& table, std::int64_t row, std::size_t count);

/// The projection of the rows of a table (N, d) on its first `axes` principal axes, (N, axes): the centred rows times
/// the eigenvectors of their covariance with the largest eigenvalues. The sign of an axis is chosen such that its
/// largest component is positive. Throws ShapeError unless the table has two axes, and ValueError unless it has rows
/// and 1 <= axes <= d.
Array principal_axes(const Array& table, std::int64_t axes);

/// A map of words as SVG, with equal scales on both axes. Words are at their positions `places` (N, 2); overlapping
/// words are moved aside, with a line to their position. Throws ShapeError unless there is one position for each word.
std::string word_map_svg(const std::string& title, std::span<const std::string> words, const Array& places);

}  // namespace xgrad::kit
