// Products in blocks: the panels of the right factor are packed once for some rows of the left one after the other,
// and stay in the second-level cache meanwhile.
#include <algorithm>

#include "bfloat16.h"

namespace xgrad {
namespace {

// Rows of the left factor of this depth stay in the first-level cache while they meet a panel.
constexpr std::int64_t most_depth = 512;
// Panels of this many numbers of the right factor stay in the second-level cache, and some rows of the left one.
constexpr std::int64_t most_of_b = 1 << 17, most_rows = 128;

}  // namespace

void detail::bfloat_gemm(const Gemm& p, const Factor& a, const Factor& b, Real* c, std::int64_t c_stride) {
  const BfloatUnit& unit = *p.unit;
  const std::int64_t parts = (p.k + most_depth - 1) / most_depth;
  const std::int64_t most = whole_depth((p.k + parts - 1) / parts);
  const std::int64_t all_panels = (p.n + panel_columns - 1) / panel_columns;
  const std::int64_t panels = std::clamp<std::int64_t>(most_of_b / panel_size(most), 1, all_panels);
  const std::int64_t rows = std::min(p.m, most_rows);
  const BfloatRoom left(left_size(rows, most)), right(panels * panel_size(most));
  const BfloatWork work(unit);
  for (std::int64_t first = 0; first < all_panels; first += panels) {
    for (std::int64_t k = 0; k < p.k; k += most) {
      const std::int64_t depth = std::min(most, p.k - k);
      for (std::int64_t i = 0; i < p.m; i += rows) {
        const std::int64_t height = std::min(rows, p.m - i);
        unit.pack_left({a.data + (a.transposed ? k * a.stride + i : i * a.stride + k), a.stride, a.transposed}, height,
                       depth, left.data());
        for (std::int64_t panel = first; panel < std::min(first + panels, all_panels); ++panel) {
          const std::int64_t j = panel * panel_columns, columns = std::min(panel_columns, p.n - j);
          Bfloat16* const packed = right.data() + (panel - first) * panel_size(most);
          if (i == 0) {
            unit.pack_right({b.data + (b.transposed ? j * b.stride + k : k * b.stride + j), b.stride, b.transposed},
                            depth, columns, 1, packed);
          }
          unit.multiply({.a = left.data(),
                         .a_step = left_step(depth),
                         .b = packed,
                         .depth = depth,
                         .rows = height,
                         .columns = columns,
                         .c = c + i * c_stride + j,
                         .c_step = c_stride,
                         .scale = p.scale,
                         .keep = k == 0 ? p.keep : 1,
                         .bias = k == 0 && p.bias ? p.bias + j : nullptr});
        }
      }
    }
  }
}

}  // namespace xgrad
