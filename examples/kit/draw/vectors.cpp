// Neighbours by cosines; axes by an eigenvalue decomposition.
#include <xgrad/kit/draw/vectors.h>

#include <algorithm>
#include <array>
#include <cmath>

#include <xgrad/core/base/error.h>
#include <xgrad/core/graph/record.h>
#include <xgrad/ops/ops.h>

namespace xgrad::kit {
namespace {

void check_table(const char* op, const Array& table) {
  if (table.rank() != 2) fail<ShapeError>(op, "a table of vectors is (N, d), got ", table.shape());
}

struct LabelBox {
  double left, top, right, bottom;
  bool meets(const LabelBox& other) const {
    return left < other.right && other.left < right && top < other.bottom && other.top < bottom;
  }
  bool lies_in(const LabelBox& other) const {
    return left >= other.left && right <= other.right && top >= other.top && bottom <= other.bottom;
  }
};

/// Where labels of some sizes stand beside their points: as near as possible without touching one another, other points
/// or the edge of the sheet, and to the right rather than elsewhere. Where nothing is free, they stand to the right.
struct Labels {
  LabelBox sheet;
  std::vector<LabelBox> taken = {};  // by points and labels

  LabelBox place(double x, double y, double width, double height) {
    const auto free = [&](const LabelBox& box) {
      return box.lies_in(sheet) && std::ranges::none_of(taken, [&](const LabelBox& other) { return box.meets(other); });
    };
    // Which point of the label is next to its point, from -1, its left or upper edge, to 1.
    constexpr std::array<std::array<double, 2>, 8> anchors{
        {{-1, 0}, {1, 0}, {0, 1}, {0, -1}, {-1, 1}, {-1, -1}, {1, 1}, {1, -1}}};
    for (const double away : {4.0, 12.0, 22.0, 34.0, 48.0, 64.0, 82.0, 102.0, 124.0}) {
      for (const auto& [ax, ay] : anchors) {
        const double middle = x - ax * (width / 2 + away), level = y - ay * (height / 2 + away);
        const LabelBox box{middle - width / 2, level - height / 2, middle + width / 2, level + height / 2};
        if (free(box)) return taken.emplace_back(box);
      }
    }
    return taken.emplace_back(LabelBox{x + 4, y - height / 2, x + 4 + width, y + height / 2});
  }
};

}  // namespace

std::vector<Neighbour> nearest_rows(const Array& table, std::int64_t row, std::size_t count) {
  check_table("nearest_rows", table);
  if (row < 0 || row >= table.dim(0)) fail<ValueError>("nearest_rows", "no row ", row, " in ", table.shape());
  const NoGrad off;
  const Tensor rows = Tensor(table), norms = sqrt(sum(square(rows), 1));
  const Array cosines = (matmul(rows, rows[row]) / (norms * norms[row])).value();  // not a number for rows of zeros
  std::vector<Neighbour> all;
  for (std::int64_t i = 0; i < cosines.size(); ++i) {
    if (i != row && !std::isnan(cosines.at({i}))) all.push_back({i, cosines.at({i})});
  }
  std::ranges::stable_sort(all, std::greater(), &Neighbour::cosine);
  all.resize(std::min(count, all.size()));
  return all;
}

Array principal_axes(const Array& table, std::int64_t axes) {
  constexpr const char* op = "principal_axes";
  check_table(op, table);
  const std::int64_t N = table.dim(0), d = table.dim(1);
  if (N == 0 || axes < 1 || axes > d) fail<ValueError>(op, "no ", axes, " axes of a table ", table.shape());
  const NoGrad off;
  const Tensor rows = Tensor(table) - mean(Tensor(table), 0);
  const Tensor directions = linalg::eigh(matmul(rows, rows, {.transpose_a = true})).eigenvectors;
  // Eigenvalues ascend: the greatest is the last.
  return matmul(rows, flip(directions, {1})[{_, slice(0, axes)}]).value();
}

std::string word_map_svg(const std::string& title, std::span<const std::string> words, const Array& places) {
  if (places.shape() != Shape{static_cast<std::int64_t>(words.size()), 2}) {
    fail<ShapeError>("word_map_svg", words.size(), " words need places (", words.size(), ", 2), got ", places.shape());
  }
  constexpr double width = 800, highest = 800, margin = 60, font = 13, dot = 2.5;
  const Sheet sheet(title, width - 2 * Sheet::margin);
  const double top = sheet.top();
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
  Svg svg = sheet.svg(height - top - Sheet::margin);
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
    const LabelBox box = labels.place(x, y, wide, font);
    const double near_x = std::clamp(x, box.left, box.right), near_y = std::clamp(y, box.top, box.bottom);
    if (std::hypot(near_x - x, near_y - y) > 8) svg.line(x, y, near_x, near_y, {{"stroke", frame_ink}});
    svg.circle(x, y, dot, {{"fill", series_inks[0]}});
    svg.text((box.left + box.right) / 2, box.bottom - 3, words[i], {{"font-size", font}, {"text-anchor", "middle"}});
  }
  return svg.str();
}

}  // namespace xgrad::kit
