// Arithmetic on shapes.
#include "shape.h"

#include <cstddef>
#include <limits>
#include <ostream>

#include "shape_hints.h"

namespace xgrad {

std::int64_t Shape::dim(int axis) const { return (*this)[normalize_axis("dim", axis, rank())]; }

std::int64_t Shape::numel() const {
  for (const std::int64_t size : *this) {
    if (size < 0) fail<ValueError>("shape", "negative size ", size, " in ", *this);
  }
  // Sizes of 0 are left out of the product, so that strides and sums of sizes fit for empty arrays, too.
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max() / 16;  // in bytes, with a margin
  std::int64_t count = 1;
  bool empty = false;
  for (const std::int64_t size : *this) {
    empty |= size == 0;
    if (size > most / count) fail<LimitError>("shape", "the element count of ", *this, " overflows");
    count *= std::max<std::int64_t>(size, 1);
  }
  return empty ? 0 : count;
}

std::ostream& operator<<(std::ostream& out, const ShortList<std::int64_t>& list) { return out << to_string(list); }
std::ostream& operator<<(std::ostream& out, const ShortList<int>& list) { return out << to_string(list); }

int normalize_axis(std::string_view op, int axis, int rank) {
  if (axis < -rank || axis >= rank) fail<ValueError>(op, "axis ", axis, " is out of range for rank ", rank);
  return axis < 0 ? axis + rank : axis;
}

Axes normalize_axes(std::string_view op, const Axes& axes, int rank) {
  Axes result;
  for (const int axis : axes) result.push_back(normalize_axis(op, axis, rank));
  std::ranges::sort(result);
  if (std::ranges::adjacent_find(result) != result.end()) fail<ValueError>(op, "repeated axis in ", axes);
  return result;
}

Axes all_axes(int rank) {
  Axes axes;
  for (int i = 0; i < rank; ++i) axes.push_back(i);
  return axes;
}

namespace {

// The size at axis -i; 1 where the shape has no such axis.
std::int64_t size_from_end(const Shape& shape, int i) { return i <= shape.rank() ? shape[shape.rank() - i] : 1; }

// The last axis, counted from the end, where two shapes do not broadcast; 0 if they do.
int clash(const Shape& a, const Shape& b) {
  for (int i = 1; i <= std::min(a.rank(), b.rank()); ++i) {
    const std::int64_t m = size_from_end(a, i), n = size_from_end(b, i);
    if (m != n && m != 1 && n != 1) return -i;
  }
  return 0;
}

// For shapes that do not clash.
Shape broadcast(const Shape& a, const Shape& b) {
  const int rank = std::max(a.rank(), b.rank());
  Shape result = Shape::filled(rank, 1);
  for (int i = 1; i <= rank; ++i) {
    const std::int64_t m = size_from_end(a, i);
    result[rank - i] = m == 1 ? size_from_end(b, i) : m;
  }
  return result;
}

// The hint for two of several shapes, if all of them broadcast once it is followed.
std::string hint_for(const Shape& a, const Shape& b, std::span<const NamedShape> all) {
  const Shape& changed = a.rank() < b.rank() ? a : b;
  for (const NamedShape& p : all) {
    for (const NamedShape& q : all) {
      if (p.shape != changed && q.shape != changed && clash(p.shape, q.shape)) return {};
    }
  }
  return detail::broadcast_hint(a, b);
}

// For an argument that clashes with one of those before it.
[[noreturn]] void refuse(std::string_view op, const NamedShape& b, std::span<const NamedShape> all) {
  const NamedShape& a = *std::ranges::find_if(all, [&](const NamedShape& each) { return clash(each.shape, b.shape); });
  const int axis = clash(a.shape, b.shape);
  std::string list;
  for (const NamedShape& each : all) append(list, str(list.empty() ? "" : ", ", each.name, " ", each.shape));
  fail<ShapeError>(op, "cannot broadcast ", list, " at axis ", axis, ", where ", a.name, " has ",
                   size_from_end(a.shape, -axis), " and ", b.name, " has ", size_from_end(b.shape, -axis),
                   hint_for(a.shape, b.shape, all));
}

}  // namespace

Shape broadcast_shapes(std::string_view op, const Shape& a, const Shape& b, std::string_view of_factors) {
  if (a == b) return a;
  if (const int axis = clash(a, b)) {
    const bool factors = a.rank() >= 2 && b.rank() >= 2 && a.back() == b.dim(-2);
    fail<ShapeError>(op, "cannot broadcast ", a, " with ", b, " at axis ", axis, detail::broadcast_hint(a, b),
                     factors ? of_factors : std::string_view());
  }
  return broadcast(a, b);
}

Shape broadcast_shapes(std::string_view op, std::span<const NamedShape> arguments) {
  Shape result;
  for (const NamedShape& each : arguments) {
    if (clash(result, each.shape)) refuse(op, each, arguments);
    result = broadcast(result, each.shape);
  }
  return result;
}

bool broadcast_together(const Shape& a, const Shape& b) { return clash(a, b) == 0; }

bool broadcasts_to(const Shape& from, const Shape& to) {
  if (from.rank() > to.rank()) return false;
  for (int i = 1; i <= from.rank(); ++i) {
    const std::int64_t size = from[from.rank() - i];
    if (size != 1 && size != to[to.rank() - i]) return false;
  }
  return true;
}

ShortList<std::int64_t> strides_of(const Shape& shape) {
  auto strides = ShortList<std::int64_t>::filled(shape.rank(), 1);
  for (int i = shape.rank() - 2; i >= 0; --i) strides[i] = strides[i + 1] * shape[i + 1];
  return strides;
}

Shape position_of(std::int64_t i, const Shape& shape) {
  Shape position;
  for (const std::int64_t stride : strides_of(shape)) {
    position.push_back(i / stride);
    i %= stride;
  }
  return position;
}

ShortList<std::int64_t> broadcast_strides(const Shape& from, const Shape& to) {
  const auto own = strides_of(from);
  auto strides = ShortList<std::int64_t>::filled(to.rank(), 0);
  for (int i = 1; i <= from.rank(); ++i) {
    if (from[from.rank() - i] != 1) strides[to.rank() - i] = own[from.rank() - i];
  }
  return strides;
}

}  // namespace xgrad
