// Exercise 24: The region mask of shifted windows. Vision, docs/topics/vision.md
//
// A map of size x size tokens is rolled up and to the left by `shift` and cut into windows of M x M. Tokens that the
// roll brought together from opposite edges must not attend to each other. After the roll, a row r of the map belongs
// to
//
//     band 0 if r < size - M        band 1 if r < size - shift        band 2 otherwise
//
// and so does a column; both count after the roll, so you roll nothing. (Bands 1 and 2 share the last windows, but come
// from opposite edges.) The region of a token is 3 (band of its row) + (band of its column). The mask is true for two
// tokens of one window whose regions differ. Windows, and the tokens of a window, come row by row.
//
//     size, M, shift      ->      Mask (windows, M M, M M)
//
// One way: a std::vector<std::int64_t> of the regions row by row, index({size, size}, vector); reshape(a, shape),
// permute(a, axes) make the windows (windows, M M); a != b compares two Index with broadcasting, a[{_, _, new_axis}]
// has a new axis of size 1.
#include "exercises.h"

using namespace xgrad;

Mask region_mask(std::int64_t size, std::int64_t M, std::int64_t shift) {
  return {};  // your lines
}
