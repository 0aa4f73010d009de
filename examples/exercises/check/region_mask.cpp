#include <algorithm>
#include <array>

#include "check.h"

namespace xgrad::exercises {

void check::region_mask(Mask (*answer)(std::int64_t, std::int64_t, std::int64_t)) {
  for (const std::array<std::int64_t, 3>& sizes : {std::array<std::int64_t, 3>{4, 2, 1}, {6, 3, 2}}) {
    const std::int64_t size = sizes[0], M = sizes[1], shift = sizes[2];
    const Mask masked = answer(size, M, shift);
    written(masked.size() > 0,
            "a function band(r) for rows and columns, then two loops that push back 3 * band(row) + band(column)");
    const std::int64_t across = size / M, tokens = M * M;
    has_shape("the mask", masked.shape(), {across * across, tokens, tokens}, "(windows, M M, M M)");
    const auto band = [&](std::int64_t r) { return r < size - M ? 0 : r < size - shift ? 1 : 2; };
    // The mask of other bands, or of another order of the axes.
    const auto with = [&](const auto& band, const Axes& axes, std::int64_t factor = 3, bool turned = false) {
      std::vector<std::int64_t> regions;
      for (std::int64_t i = 0; i < size * size; ++i) regions.push_back(factor * band(i / size) + band(i % size));
      const Shape parts = turned ? Shape{M, across, M, across} : Shape{across, M, across, M};
      const Index cut = permute(reshape(index(regions), parts), axes);
      const Index windows = reshape(cut, {across * across, tokens});
      return to_real(windows[{_, _, new_axis}] != windows[{_, new_axis}]);
    };
    const auto wide = [&](std::int64_t r) { return r <= size - M ? 0 : r <= size - shift ? 1 : 2; };
    const auto late = [&](std::int64_t r) { return r < size - M ? 0 : r < size - M + shift ? 1 : 2; };
    const Tensor found = to_real(masked), right = with(band, {0, 2, 1, 3});
    const Index wrong = flatnonzero(found != right);
    if (wrong.size() == 0) continue;
    not_this(found, with(band, {0, 1, 2, 3}), "window 0 has the first ", tokens,
             " tokens of row 0 instead of a square of ", M, " x ", M,
             ": reshape alone cuts no windows, so make (size / M, M, size / M, M) and permute the axes");
    not_this(found, with(wide, {0, 2, 1, 3}), "row ", size - M, " is in band 0 instead of 1: the bounds are <, not <=");
    not_this(found, with(late, {0, 2, 1, 3}), "row ", size - shift,
             " is in band 1 instead of 2: the second bound is size - shift");
    not_this(found, with(band, {2, 0, 1, 3}),
             "the windows, or the tokens of a window, come column by column: both come row by row");
    not_this(found, with(band, {0, 2, 1, 3}, 1),
             "different regions have one number, as bands 0 + 1 and 1 + 0: the band of the row counts 3 times");
    not_this(found, 1 - right, "the mask is the other way round: true means that regions differ");
    for (std::array order{0, 1, 2, 3}; std::ranges::next_permutation(order).found;) {
      for (const bool turned : {false, true})
        not_this(found, with(band, Axes{order[0], order[1], order[2], order[3]}, 3, turned),
                 "the regions are right, the windows are not: reshape the map to (size / M, M, size / M, M), and "
                 "permute by {0, 2, 1, 3}");
    }
    const std::int64_t first = *wrong.begin();
    const Shape at = position_of(first, masked.shape());
    // Row and column of a token of the window.
    const auto row = [&](std::int64_t token) { return at[0] / across * M + token / M; };
    const auto column = [&](std::int64_t token) { return at[0] % across * M + token % M; };
    const auto tokens_of = str("with size ", size, ", M ", M, " and shift ", shift, " tokens ", at[1], " and ", at[2],
                               " of window ", at[0]);
    const auto places = str(" (rows ", row(at[1]), " and ", row(at[2]), ", columns ", column(at[1]), " and ",
                            column(at[2]), " of the rolled map)");
    if (right.value().begin()[first] == 1)
      not_yet(tokens_of, places,
              " see each other, although the roll brought them together from opposite edges: their regions differ");
    not_yet(tokens_of, places, " are masked, although they are of one region");
  }
  right_because() = "only windows at the lower and the right edge hide anything: the others have one region";
}

}  // namespace xgrad::exercises
