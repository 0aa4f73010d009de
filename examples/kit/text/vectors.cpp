// Plain loops in double: tables of words are small.
#include <xgrad/kit/text/vectors.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include <xgrad/core/base/error.h>

namespace xgrad::kit {
namespace {

using Vector = std::vector<double>;

double dot(const Vector& a, const Vector& b) { return std::inner_product(a.begin(), a.end(), b.begin(), 0.0); }

std::vector<Vector> rows_of(const char* op, const Array& table) {
  if (table.rank() != 2) fail<ShapeError>(op, "a table of vectors is (N, d), got ", table.shape());
  std::vector<Vector> rows;
  const std::int64_t d = table.dim(1);
  for (std::int64_t i = 0; i < table.dim(0); ++i) rows.emplace_back(table.data() + i * d, table.data() + (i + 1) * d);
  return rows;
}

void scale(Vector& v, double factor) {
  for (double& x : v) x *= factor;
}

void add(Vector& to, const Vector& v, double factor) {
  for (std::size_t i = 0; i < v.size(); ++i) to[i] += factor * v[i];
}

struct Box {
  double left, top, right, bottom;
  bool meets(const Box& other) const {
    return left < other.right && other.left < right && top < other.bottom && other.top < bottom;
  }
  bool lies_in(const Box& other) const {
    return left >= other.left && right <= other.right && top >= other.top && bottom <= other.bottom;
  }
};

/// Where labels of some sizes stand beside their points: as near as possible without touching one another, other points
/// or the edge of the sheet, and to the right rather than elsewhere. Where nothing is free, they stand to the right.
struct Labels {
  Box sheet;
  std::vector<Box> taken = {};  // by points and labels

  Box place(double x, double y, double width, double height) {
    const auto free = [&](const Box& box) {
      return box.lies_in(sheet) && std::ranges::none_of(taken, [&](const Box& other) { return box.meets(other); });
    };
    // Which point of the label is next to its point, from -1, its left or upper edge, to 1.
    constexpr std::array<std::array<double, 2>, 8> anchors{
        {{-1, 0}, {1, 0}, {0, 1}, {0, -1}, {-1, 1}, {-1, -1}, {1, 1}, {1, -1}}};
    for (const double away : {4.0, 12.0, 22.0, 34.0, 48.0, 64.0, 82.0, 102.0, 124.0}) {
      for (const auto& [ax, ay] : anchors) {
        const double middle = x - ax * (width / 2 + away), level = y - ay * (height / 2 + away);
        const Box box{middle - width / 2, level - height / 2, middle + width / 2, level + height / 2};
        if (free(box)) return taken.emplace_back(box);
      }
    }
    return taken.emplace_back(Box{x + 4, y - height / 2, x + 4 + width, y + height / 2});
  }
};

}  // namespace

std::vector<Neighbour> nearest_rows(const Array& table, std::int64_t row, std::size_t count) {
  const std::vector<Vector> rows = rows_of("nearest_rows", table);
  if (row < 0 || row >= std::ssize(rows)) fail<ValueError>("nearest_rows", "no row ", row, " in ", table.shape());
  const Vector& from = rows[static_cast<std::size_t>(row)];
  std::vector<Neighbour> all;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double norms = std::sqrt(dot(from, from) * dot(rows[i], rows[i]));
    if (static_cast<std::int64_t>(i) == row || norms == 0) continue;
    all.push_back({static_cast<std::int64_t>(i), dot(from, rows[i]) / norms});
  }
  std::ranges::stable_sort(all, std::greater(), &Neighbour::cosine);
  all.resize(std::min(count, all.size()));
  return all;
}

Array principal_axes(const Array& table, std::int64_t axes) {
  std::vector<Vector> rows = rows_of("principal_axes", table);
  const std::int64_t d = table.dim(1);
  if (rows.empty() || axes < 1 || axes > d) {
    fail<ValueError>("principal_axes", "no ", axes, " axes of a table ", table.shape());
  }
  Vector mean(static_cast<std::size_t>(d));
  for (const Vector& row : rows) add(mean, row, 1 / static_cast<double>(rows.size()));
  for (Vector& row : rows) add(row, mean, -1);

  Array places(Shape{static_cast<std::int64_t>(rows.size()), axes});
  for (std::int64_t axis = 0; axis < axes; ++axis) {
    Vector w(static_cast<std::size_t>(d));
    for (std::size_t i = 0; i < w.size(); ++i) w[i] = 1 + 0.1 * std::sin(static_cast<double>(i));
    for (int iteration = 0; iteration < 300; ++iteration) {  // w <- X'X w / |X'X w|
      Vector next(w.size());
      for (const Vector& row : rows) add(next, row, dot(row, w));
      const double norm = std::sqrt(dot(next, next));
      if (norm == 0) break;
      scale(next, 1 / norm);
      w = next;
    }
    scale(w, 1 / std::sqrt(dot(w, w)));
    const double greatest = *std::ranges::max_element(w, {}, [](double x) { return std::abs(x); });
    if (greatest < 0) scale(w, -1);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const double along = dot(rows[i], w);
      places.mutable_data()[static_cast<std::int64_t>(i) * axes + axis] = static_cast<Real>(along);
      add(rows[i], w, -along);  // the next axis is at a right angle to this one
    }
  }
  return places;
}

std::string word_map_svg(const std::string& title, std::span<const std::string> words, const Array& places,
                         Theme theme) {
  if (places.shape() != Shape{static_cast<std::int64_t>(words.size()), 2}) {
    fail<ShapeError>("word_map_svg", words.size(), " words need places (", words.size(), ", 2), got ", places.shape());
  }
  constexpr double width = 900, highest = 900, margin = 60, font = 13, dot = 2.5;
  const double top = 24 + heading_height(title, 17, width - 48);
  struct Range {
    double low = 1e300, high = -1e300;
    double size() const { return std::max(high - low, 1e-9); }
  };
  std::array<Range, 2> ranges;
  for (std::int64_t i = 0; i < places.size(); ++i) {
    Range& range = ranges[static_cast<std::size_t>(i % 2)];
    range.low = std::min<double>(range.low, places.data()[i]);
    range.high = std::max<double>(range.high, places.data()[i]);
  }
  const auto [across, up] = ranges;
  const double unit = std::min((width - 2 * margin) / across.size(), (highest - top - margin) / up.size());
  const double height = words.empty() ? top + margin : top + unit * up.size() + margin;
  Svg svg(width, height, title, theme);
  svg.heading(24, 34, title, 17, width - 48);
  std::vector<std::array<double, 2>> points;
  Labels labels{{8, top - 16, width - 8, height - 8}};
  for (std::int64_t i = 0; i < places.dim(0); ++i) {
    const double x = width / 2 + unit * (places.at({i, 0}) - (across.low + across.high) / 2);
    const double y = height - margin / 2 - 10 - unit * (places.at({i, 1}) - up.low);
    points.push_back({x, y});
    labels.taken.push_back({x - dot, y - dot, x + dot, y + dot});
  }
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto [x, y] = points[i];
    const double wide = 0.85 * text_width(words[i], font);  // fonts are narrower than the estimate
    const Box box = labels.place(x, y, wide, font);
    const double near_x = std::clamp(x, box.left, box.right), near_y = std::clamp(y, box.top, box.bottom);
    if (std::hypot(near_x - x, near_y - y) > 8) svg.line(x, y, near_x, near_y, {{"stroke", frame_ink}});
    svg.circle(x, y, dot, {{"fill", series_inks[0]}});
    svg.text((box.left + box.right) / 2, box.bottom - 3, words[i], {{"font-size", font}, {"text-anchor", "middle"}});
  }
  return svg.str();
}

}  // namespace xgrad::kit
