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
  constexpr double width = 900, height = 640, margin = 60, top = 60, font = 13;
  struct Range {
    double low = 0, high = 1;
    double share(double x) const { return (x - low) / (high - low); }
  };
  const auto range = [&](int axis) {
    Range r{1e300, -1e300};
    for (std::int64_t i = 0; i < places.dim(0); ++i) {
      r.low = std::min<double>(r.low, places.at({i, axis}));
      r.high = std::max<double>(r.high, places.at({i, axis}));
    }
    return r.low < r.high ? r : Range{r.low - 0.5, r.low + 0.5};
  };
  const Range across = range(0), up = range(1);
  Svg svg(width, height, title, theme);
  svg.heading(24, 34, title, 17, width - 48);
  struct Box {
    double left, right, base;
    bool meets(const Box& other) const {
      return left < other.right && other.left < right && std::abs(base - other.base) < font;
    }
  };
  std::vector<Box> taken;
  for (std::int64_t i = 0; i < places.dim(0); ++i) {
    const double x = margin + across.share(places.at({i, 0})) * (width - 2 * margin);
    const double y = height - margin - up.share(places.at({i, 1})) * (height - top - 2 * margin + 30);
    const std::string& word = words[static_cast<std::size_t>(i)];
    const double wide = 0.85 * text_width(word, font);  // fonts are narrower than the estimate
    const auto free = [&](const Box& box) {
      return std::ranges::none_of(taken, [&](const Box& other) { return box.meets(other); });
    };
    // To the right of the point if nothing is there, else to the left, above or below.
    const std::array<Box, 4> sides{{{x + 5, x + 5 + wide, y + 4},
                                    {x - 5 - wide, x - 5, y + 4},
                                    {x - wide / 2, x + wide / 2, y - 6},
                                    {x - wide / 2, x + wide / 2, y + 15}}};
    const auto found = std::ranges::find_if(sides, free);
    const Box& box = found == sides.end() ? sides[0] : *found;
    taken.push_back(box);
    svg.shape("circle", {{"cx", x}, {"cy", y}, {"r", 2.5}, {"fill", series_inks[0]}});
    svg.text((box.left + box.right) / 2, box.base, word, {{"font-size", font}, {"text-anchor", "middle"}});
  }
  return svg.str();
}

}  // namespace xgrad::kit
