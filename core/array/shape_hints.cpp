// Common mistakes. A hint says what would fit, but only if that was very likely meant: sizes of 1 fit everywhere and
// prove nothing.
#include "shape_hints.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "../base/text.h"

namespace xgrad::detail {
namespace {

using Shapes = std::vector<std::vector<std::int64_t>>;

// All shapes of the rank of `large` that broadcast with it and are `small` with axes of size 1 in between: each axis of
// `small` whose size is not 1 meets an axis of the same size.
Shapes with_axes_between(Sizes small, Sizes large) {
  Shapes found;
  for (std::uint32_t places = 0; places < 1u << large.size(); ++places) {
    if (static_cast<std::size_t>(std::popcount(places)) != small.size()) continue;
    std::vector<std::int64_t> shape(large.size(), 1);
    bool fits = true;
    for (std::size_t axis = 0, next = 0; axis < large.size(); ++axis) {
      if (!(places >> axis & 1)) continue;
      shape[axis] = small[next++];
      fits = fits && (shape[axis] == 1 || shape[axis] == large[axis]);
    }
    if (fits && std::ranges::find(found, shape) == found.end()) found.push_back(std::move(shape));
  }
  return found;
}

bool last_two_exchanged(Sizes a, Sizes b) {
  const std::size_t rank = a.size();
  if (rank != b.size() || rank < 2) return false;
  return std::ranges::equal(a.first(rank - 2), b.first(rank - 2)) && a[rank - 2] == b[rank - 1] &&
         a[rank - 1] == b[rank - 2] && a[rank - 1] > 1 && a[rank - 2] > 1;
}

std::vector<std::int64_t> without_ones(Sizes shape) {
  std::vector<std::int64_t> sizes;
  std::ranges::copy_if(shape, std::back_inserter(sizes), [](std::int64_t size) { return size != 1; });
  return sizes;
}

// "[3] would fit as [1, 3, 1]", for at most two shapes.
std::string placement_hint(Sizes small, Sizes large) {
  const Shapes fitting = with_axes_between(small, large);
  if (fitting.empty() || fitting.size() > 2) return {};
  return str("; ", small, " would fit as ", fitting[0], fitting.size() > 1 ? str(" or ", fitting[1]) : std::string());
}

}  // namespace

std::string broadcast_hint(Sizes a, Sizes b) {
  if (last_two_exchanged(a, b)) return str("; ", b, " would fit transposed");
  const Sizes small = a.size() < b.size() ? a : b, large = a.size() < b.size() ? b : a;
  if (small.size() == large.size() || without_ones(small).empty()) return {};
  const std::string hint = placement_hint(small, large);
  return hint.empty() ? hint : hint + ": unsqueeze it, or reduce with {.keepdim = true}";
}

std::string mask_hint(Sizes mask, Sizes masked) {
  if (mask.size() >= masked.size() || without_ones(mask).empty()) return {};
  if (mask.size() == 2 && masked.size() == 4 && mask[0] == masked[0] && mask[1] == masked[3]) {
    const std::vector<std::int64_t> keys{mask[0], 1, 1, mask[1]};
    return str("; for the keys of each sequence it would fit as ", keys);
  }
  return placement_hint(mask, masked);
}

std::string same_shape_hint(Sizes a, Sizes b) {
  if (a.size() == b.size() || without_ones(a) != without_ones(b)) return {};
  return str("; they differ in axes of size 1 only: squeeze or unsqueeze one of them");
}

std::string batch_axis_hint(Sizes got, Sizes sample) {
  const auto fits = [](std::int64_t size, std::int64_t wanted) { return wanted == -1 || size == wanted; };
  if (!std::ranges::equal(got, sample, fits)) return {};
  std::vector<std::int64_t> batch{1};
  batch.insert(batch.end(), got.begin(), got.end());
  return str("; is the batch axis missing? ", batch, " would fit");
}

std::string volume_hint(Sizes got) { return got.size() == 5 ? "; volumes are not offered" : ""; }

}  // namespace xgrad::detail
