// Sorted lines have their NaN at the end: places are counted among what stands before them.
#include "nan_statistics.h"

#include <algorithm>

#include "../arrange/index.h"
#include "../arrange/shape.h"
#include "../arrange/sort.h"
#include "../elementwise/arithmetic.h"
#include "../elementwise/compare.h"
#include "../private/axis.h"

namespace xgrad {

using detail::QuantilePlace;
using detail::QuantileShares;

namespace {

// x as lines (count, length) along an axis, or one line of all.
struct Lines {
  Tensor x;
  int axis = 0;
  bool of_all = false;
  Sorted sorted{};
  std::vector<std::int64_t> numbers{};  // of each line, how many are not NaN

  Lines(const char* op, const Tensor& given, std::optional<int> along) : of_all(!along || given.rank() == 0) {
    if (along) axis = normalize_axis_or_scalar(op, *along, given.rank());
    const Tensor moved = of_all ? reshape(given, {1, given.size()}) : movedim(given, axis, -1);
    const std::int64_t length = moved.shape().back();
    x = reshape(moved, {length == 0 ? 0 : moved.size() / length, length});
    if (length == 0) fail<ValueError>(op, "nothing to choose from in shape ", given.shape());
    sorted = sort(x);
    for (std::int64_t line = 0; line < x.dim(0); ++line) {
      const Real* const from = x.value().data() + line * length;
      numbers.push_back(std::count_if(from, from + length, [](Real v) { return v == v; }));
      if (numbers.back() == 0) fail<ValueError>(op, "no number in shape ", given.shape(), " but NaN");
    }
  }

  // The shape of the result for each line.
  Shape reduced(const Shape& shape, bool keepdim) const {
    Shape to;
    for (int i = 0; i < shape.rank(); ++i) {
      if (!of_all && i != axis) {
        to.push_back(shape[i]);
      } else if (keepdim) {
        to.push_back(1);
      }
    }
    return to;
  }
};

// Of each line the place of its median in order.
Index middles(const Lines& lines) {
  Index places(Shape{lines.x.dim(0), 1});
  std::ranges::transform(lines.numbers, places.mutable_data(), [](std::int64_t n) { return (n - 1) / 2; });
  return places;
}

}  // namespace

Tensor nanmedian(const Tensor& x) {
  if (x.size() == 0) fail<ValueError>("nanmedian", "nothing to choose from in shape ", x.shape());
  const Mask numbers = x == x;
  if (!any(numbers)) fail<ValueError>("nanmedian", "no number in shape ", x.shape(), " but NaN");
  return median(masked_select(x, numbers));
}

ValuesAndIndices nanmedian(const Tensor& x, int axis, const KeepdimOptions& options) {
  const Lines lines("nanmedian", x, axis);
  const Index places = middles(lines);
  const Shape to = lines.reduced(x.shape(), options.keepdim);
  Index indices(to);
  const std::int64_t length = lines.x.dim(1);
  for (std::int64_t line = 0; line < places.size(); ++line) {
    indices.mutable_data()[line] = lines.sorted.indices.data()[line * length + places.data()[line]];
  }
  return {reshape(gather(lines.x, 1, indices.reshaped(places.shape())), to), indices};
}

namespace {

Tensor nanquantiles(const Tensor& x, const QuantileShares& q, const QuantileOptions& options) {
  const Lines lines("nanquantile", x, options.axis);
  const std::int64_t count = lines.x.dim(0), shares = q.size();
  Index lower(Shape{shares, count}), upper(Shape{shares, count});
  Array between(Shape{shares, count});
  for (std::int64_t i = 0; i < shares; ++i) {
    for (std::int64_t line = 0; line < count; ++line) {
      const std::int64_t n = lines.numbers[static_cast<std::size_t>(line)], at = i * count + line;
      const QuantilePlace place = q.place(i, n, options.interpolation);
      lower.mutable_data()[at] = place.lower;
      upper.mutable_data()[at] = place.upper;
      between.mutable_data()[at] = static_cast<Real>(place.share);
    }
  }
  const auto chosen = [&](const Index& places) { return transpose(gather(lines.sorted.values, 1, transpose(places))); };
  const Tensor share = between, low = chosen(lower);
  // As a sum of shares: a difference of two infinities would be NaN. A share of 0 takes nothing, not 0 times infinity.
  const Tensor y = where(share == 0, low, low * (1 - share) + chosen(upper) * share);
  Shape to = lines.reduced(x.shape(), options.keepdim);
  to.insert(0, shares);
  return reshape(y, to);
}

}  // namespace

Tensor nanquantile(const Tensor& x, double q, const QuantileOptions& options) {
  return squeeze(nanquantiles(x, QuantileShares("nanquantile", q), options), {0});
}

Tensor nanquantile(const Tensor& x, const Tensor& q, const QuantileOptions& options) {
  return nanquantiles(x, QuantileShares("nanquantile", q), options);
}

Tensor nanquantile(const Tensor& x, double q, int axis, const QuantileAxisOptions& options) {
  return nanquantile(x, q, detail::along(axis, options));
}
Tensor nanquantile(const Tensor& x, const Tensor& q, int axis, const QuantileAxisOptions& options) {
  return nanquantile(x, q, detail::along(axis, options));
}

}  // namespace xgrad
