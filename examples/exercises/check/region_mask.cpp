#include <array>

#include "check.h"

namespace xgrad::exercises {

void check::region_mask(Mask (*answer)(std::int64_t, std::int64_t, std::int64_t)) {
  for (const std::array<std::int64_t, 3>& sizes : {std::array<std::int64_t, 3>{4, 2, 1}, {6, 3, 1}}) {
    const std::int64_t size = sizes[0], M = sizes[1], shift = sizes[2];
    const Mask masked = answer(size, M, shift);
    written(masked.size() > 0,
            "a function band(r) for rows and columns, then two loops that push back 3 * band(row) + band(column)");
    const std::int64_t across = size / M, tokens = M * M;
    has_shape("the mask", masked.shape(), {across * across, tokens, tokens}, "(windows, M M, M M)");
    const auto band = [&](std::int64_t r) { return r < size - M ? 0 : r < size - shift ? 1 : 2; };
    // Windows that were cut without a permutation.
    std::vector<std::int64_t> regions;
    for (std::int64_t i = 0; i < size * size; ++i) regions.push_back(3 * band(i / size) + band(i % size));
    const Index cut = index({across * across, tokens}, regions);
    not_this(to_real(masked), to_real(cut[{_, _, new_axis}] != cut[{_, new_axis}]), "window 0 has the first ", tokens,
             " tokens of row 0 instead of a square of ", M, " x ", M,
             ": reshape alone cuts no windows, so make (size / M, M, size / M, M) and permute the axes");
    for (std::int64_t i = 0; i < masked.size(); ++i) {
      const Shape at = position_of(i, masked.shape());
      // Row and column of a token of the window.
      const auto row = [&](std::int64_t token) { return at[0] / across * M + token / M; };
      const auto column = [&](std::int64_t token) { return at[0] % across * M + token % M; };
      const bool right = band(row(at[1])) != band(row(at[2])) || band(column(at[1])) != band(column(at[2]));
      if (masked.begin()[i] == right) continue;
      const auto tokens_of = str("with size ", size, ", M ", M, " and shift ", shift, " tokens ", at[1], " and ", at[2],
                                 " of window ", at[0]);
      const auto places = str(" (rows ", row(at[1]), " and ", row(at[2]), ", columns ", column(at[1]), " and ",
                              column(at[2]), " of the rolled map)");
      if (right)
        not_yet(tokens_of, places,
                " see each other, although the roll brought them together from opposite edges: their regions differ");
      not_yet(tokens_of, places, " are masked, although they are of one region: true means that the regions differ");
    }
  }
}

}  // namespace xgrad::exercises
