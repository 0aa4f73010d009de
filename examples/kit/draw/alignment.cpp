// Alignments: the greatest attention weights, as a list and as a picture.
#include <algorithm>
#include <cmath>
#include <functional>

#include <xgrad/core/base/error.h>
#include <xgrad/kit/draw/attention.h>
#include <xgrad/kit/program/format.h>
#include <xgrad/kit/program/table.h>
#include <xgrad/kit/unicode/unicode.h>
#include <xgrad/ops/reduce/reduce.h>

namespace xgrad::kit {
namespace {

using Tokens = std::vector<std::string>;

using Aligned = std::vector<std::vector<AlignedKey>>;

/// Sizes of the picture in pixels.
struct AlignmentSizes {
  double caption = 12, label = 13;
  double line = 26, between = 190, beside = 10, widest_label = 160, widest_stroke = 6;
};
constexpr AlignmentSizes sizes;

/// Whether some query may look at the key.
bool is_seen(const HeatMaps& maps, std::size_t key) {
  for (std::size_t i = key; i < maps.queries.size() * maps.keys.size(); i += maps.keys.size()) {
    if (!maps.is_masked(i)) return true;
  }
  return false;
}

/// The width of a caption and the labels below it.
double column_width(const std::string& caption, const Tokens& labels) {
  return std::max(text_width(caption, sizes.caption), std::min(sizes.widest_label, widest(labels, sizes.label)));
}

double middle_of(std::size_t row) { return sizes.line * (static_cast<double>(row) + 0.5); }

std::string point(double x, double y) { return fixed(x, 1) + " " + fixed(y, 1); }

}  // namespace

Aligned alignments(const Array& weights, const HeatMaps& maps, std::int64_t count) {
  constexpr const char* op = "alignments";
  if (count < 1) fail<ValueError>(op, "count must be at least 1, got ", count);
  const std::int64_t T = std::ssize(maps.queries), S = std::ssize(maps.keys);
  if (weights.rank() != 4 || weights.dim(2) != T || weights.dim(3) != S || weights.size() == 0) {
    fail<ShapeError>(op, "weights are (layers, H, T, S), got ", weights.shape(), " for ", T, " x ", S, " labels");
  }
  if (!maps.masked.empty() && std::ssize(maps.masked) != T * S) {
    fail<ShapeError>(op, "a mask of ", maps.masked.size(), " entries for ", T, " x ", S, " labels");
  }
  const Array means = mean(weights, {0, 1}).value();
  Aligned result;
  for (std::int64_t t = 0; t < T; ++t) {
    std::vector<AlignedKey>& keys = result.emplace_back();
    for (std::int64_t s = 0; s < S; ++s) {
      if (maps.is_masked(static_cast<std::size_t>(t * S + s))) continue;
      const double weight = means.at({t, s});
      if (!std::isfinite(weight)) fail<ValueError>(op, "a weight is not finite");
      if (weight > 0) keys.push_back({s, weight});
    }
    std::ranges::stable_sort(keys, std::greater(), &AlignedKey::weight);
    keys.resize(std::min(keys.size(), static_cast<std::size_t>(count)));
  }
  return result;
}

std::string alignment_text(const Array& weights, const HeatMaps& given, std::int64_t count) {
  const HeatMaps maps = with_visible_spaces(given);
  const Aligned aligned = alignments(weights, maps, count);
  constexpr int widest = 24;  // columns of a token
  std::size_t most = 1;
  for (const auto& keys : aligned) most = std::max(most, keys.size());
  std::vector<Field> head(1 + most, "");
  head[0] = fit_columns(maps.query_caption, 2 * widest);
  head[1] = "most weight on";
  Table table(head);
  for (std::size_t t = 0; t < aligned.size(); ++t) {
    std::vector<Field> cells{fit_columns(maps.queries[t], widest)};
    for (const auto& [key, weight] : aligned[t]) {
      cells.push_back(fit_columns(maps.keys[static_cast<std::size_t>(key)], widest) + " " + fixed(weight, 2));
    }
    cells.resize(1 + most, "");
    table.row(cells);
  }
  return table.text();
}

std::string alignment_svg(const Array& weights, const HeatMaps& given, std::int64_t count) {
  const HeatMaps maps = with_visible_spaces(given);
  const Aligned aligned = alignments(weights, maps, count);
  Tokens keys;
  std::vector<double> places(maps.keys.size());
  for (std::size_t s = 0; s < maps.keys.size(); ++s) {
    if (!is_seen(maps, s)) continue;
    places[s] = middle_of(keys.size());
    keys.push_back(maps.keys[s]);
  }
  const double from = Sheet::margin + column_width(maps.query_caption, maps.queries) + sizes.beside;
  const double to = from + sizes.between;
  const Sheet sheet(maps.title, to + sizes.beside + column_width(maps.key_caption, keys) - Sheet::margin);
  const double captions = sheet.top() + sizes.caption, top = captions + 10;
  const double rows = static_cast<double>(std::max(maps.queries.size(), keys.size()));
  Svg svg = sheet.svg(top + sizes.line * rows - sheet.top());

  svg.open("g", {{"font-size", sizes.caption}, {"fill", quiet_ink}});
  svg.text(from - sizes.beside, captions, maps.query_caption, {{"text-anchor", "end"}});
  svg.text(to + sizes.beside, captions, maps.key_caption);
  svg.close("g");
  svg.open("g", {{"font-size", sizes.label}});
  for (std::size_t t = 0; t < maps.queries.size(); ++t) {
    svg.text(from - sizes.beside, top + middle_of(t) + 4.5, fit_width(maps.queries[t], sizes.label, sizes.widest_label),
             {{"text-anchor", "end"}});
  }
  for (std::size_t i = 0; i < keys.size(); ++i) {
    svg.text(to + sizes.beside, top + middle_of(i) + 4.5, fit_width(keys[i], sizes.label, sizes.widest_label));
  }
  svg.close("g");

  const double middle = from + sizes.between / 2;
  svg.open("g", {{"fill", "none"}, {"stroke", series_inks[0]}, {"stroke-linecap", "round"}});
  for (std::size_t t = 0; t < aligned.size(); ++t) {
    const double begin = top + middle_of(t);
    for (const auto& [key, weight] : aligned[t]) {
      const auto s = static_cast<std::size_t>(key);
      const double end = top + places[s], share = std::min(1.0, weight);
      svg.path(str("M", point(from, begin), "C", point(middle, begin), " ", point(middle, end), " ", point(to, end)),
               {{"stroke-width", 0.5 + (sizes.widest_stroke - 0.5) * share}, {"stroke-opacity", 0.25 + 0.75 * share}},
               str(maps.queries[t], " → ", maps.keys[s], "  ", fixed(weight, 3)));
    }
  }
  svg.close("g");
  return svg.str();
}

}  // namespace xgrad::kit
