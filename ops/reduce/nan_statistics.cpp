// Sorted lines have their NaN at the end: positions are counted among the elements before them.
#include "nan_statistics.h"

#include <algorithm>

#include "../arrange/index.h"
#include "../arrange/shape.h"
#include "../arrange/sort.h"
#include "../elementwise/arithmetic.h"
#include "../elementwise/compare.h"
#include "../private/axis.h"

namespace xgrad {

using detail::QuantileShares;

namespace {

// x as lines (count, length) along an axis, or one line of all.
struct SortedLines {
  Tensor x;
  int axis = 0;
  bool of_all = false;
  Sorted sorted{};
  std::vector<std::int64_t> numbers{};  // of each line, how many are not NaN

  SortedLines(const char* op, const Tensor& given, std::optional<int> along) : of_all(!along || given.rank() == 0) {
    if (along) axis = normalize_axis_or_scalar(op, *along, given.rank());
    const Tensor moved = of_all ? reshape(given, {1, given.size()}) : movedim(given, axis, -1);
    const std::int64_t length = moved.shape().back();
    x = reshape(moved, {length == 0 ? 0 : moved.size() / length, length});
    detail::check_choice(op, given, length);
    sorted = sort(x);
    for (std::int64_t line = 0; line < x.dim(0); ++line) {
      const Real* const from = x.value().data() + line * length;
      numbers.push_back(std::count_if(from, from + length, [](Real v) { return v == v; }));
      if (numbers.back() == 0) fail<ValueError>(op, "no number other than NaN in shape ", given.shape());
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

// The sorted position of the median of each line.
Index middles(const SortedLines& lines) {
  Index places(Shape{lines.x.dim(0), 1});
  std::ranges::transform(lines.numbers, places.mutable_data(), [](std::int64_t n) { return (n - 1) / 2; });
  return places;
}

}  // namespace

Tensor nanmedian(const Tensor& x) {
  detail::check_choice("nanmedian", x, x.size());
  const Mask numbers = x == x;
  if (!any(numbers)) fail<ValueError>("nanmedian", "no number other than NaN in shape ", x.shape());
  return median(masked_select(x, numbers));
}

ValuesAndIndices nanmedian(const Tensor& x, int axis, const KeepdimOptions& options) {
  const SortedLines lines("nanmedian", x, axis);
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
  const SortedLines lines("nanquantile", x, options.axis);
  const detail::QuantilePlaces places = q.places(lines.numbers, options.interpolation);
  const auto chosen = [&](const Index& at) { return transpose(gather(lines.sorted.values, 1, transpose(at))); };
  const Tensor y = detail::part_of_way(chosen(places.lower), chosen(places.upper), places.share);
  Shape to = lines.reduced(x.shape(), options.keepdim);
  to.insert(0, q.size());
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
