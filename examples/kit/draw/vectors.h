// Looking at vectors of words: neighbours, principal axes, a picture.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <xgrad/core/array/array.h>
#include <xgrad/kit/draw/svg.h>

namespace xgrad::kit {

/// A row of a table and how much it is like another: the cosine of the angle between them.
struct Neighbour {
  std::int64_t row = 0;
  double cosine = 0;
};
/// The `count` rows most like row `row` of a table (N, d), itself left out, the most like first. A row of zeros is like
/// none. Throws ShapeError unless the table has two axes, ValueError for a row that is not there.
std::vector<Neighbour> nearest_rows(const Array& table, std::int64_t row, std::size_t count);

/// Where the rows of a table (N, d) lie along its first `axes` principal axes, (N, axes): projections of the centred
/// rows on the eigenvectors of their covariance with the greatest eigenvalues. The sign of an axis is such that its
/// greatest component is positive. Throws ShapeError unless the table has two axes, ValueError unless it has rows and
/// 1 <= axes <= d.
Array principal_axes(const Array& table, std::int64_t axes);

/// The words at their places (N, 2) as SVG, in which distances are true; words that would lie on others stand a little
/// aside, with a line to their place. Throws ShapeError unless there is one place for each word.
std::string word_map_svg(const std::string& title, std::span<const std::string> words, const Array& places);

}  // namespace xgrad::kit
