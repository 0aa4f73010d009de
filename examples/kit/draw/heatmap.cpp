// Laying out a grid of matrices, and colouring them.
#include <xgrad/kit/draw/heatmap.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <string_view>

#include <xgrad/core/base/error.h>
#include <xgrad/kit/draw/plot.h>
#include <xgrad/kit/program/format.h>

namespace xgrad::kit {
namespace {

using Colour = std::array<double, 3>;

/// Colours on white and on dark ground, from the least to the greatest value.
struct Stops {
  std::span<const Colour> light, dark;
};

// Even steps of lightness, so that equal differences look equal; the first differs from the ground.
constexpr std::array<Colour, 6> faint_to_dark = {
    {{237, 242, 248}, {190, 214, 235}, {133, 180, 218}, {74, 139, 194}, {34, 94, 156}, {13, 46, 99}}};
constexpr std::array<Colour, 6> faint_to_bright = {
    {{27, 35, 46}, {25, 59, 97}, {34, 94, 156}, {74, 139, 194}, {142, 192, 230}, {224, 241, 253}}};
constexpr std::array<Colour, 5> blue_to_red = {
    {{33, 88, 150}, {139, 184, 218}, {244, 244, 244}, {236, 158, 122}, {172, 40, 46}}};
constexpr std::array<Colour, 5> bright_blue_to_red = {
    {{134, 192, 240}, {52, 104, 158}, {36, 42, 50}, {152, 66, 50}, {245, 144, 112}}};
constexpr Stops sequential{faint_to_dark, faint_to_bright}, diverging{blue_to_red, bright_blue_to_red};

constexpr double levels = 64;  // that are told apart

constexpr Ink hatch_ground{0xf5f5f4, 0x1b2129}, hatch{0xc8c5c0, 0x434c57};
constexpr double heatmap_title_size = 16, heatmap_panel_title_size = 12, caption_size = 12, heatmap_label_size = 11,
                 heatmap_tick_size = 10.5;
constexpr double heatmap_margin = 20, panel_gap = 26, widest_label = 110, bar_width = 14;
constexpr double slant = 0.7071;  // key labels stand at 45 degrees

std::uint32_t mixed(double share, std::span<const Colour> stops) {
  const double place = share * static_cast<double>(stops.size() - 1);
  const std::size_t stop = std::min(static_cast<std::size_t>(place), stops.size() - 2);
  std::uint32_t colour = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    const double part = std::lerp(stops[stop][i], stops[stop + 1][i], place - static_cast<double>(stop));
    colour = colour << 8 | static_cast<std::uint32_t>(std::lround(part));
  }
  return colour;
}

Ink colour_of(double share, const Stops& stops) {
  const double level = std::round(std::clamp(share, 0.0, 1.0) * levels) / levels;
  return {mixed(level, stops.light), mixed(level, stops.dark)};
}

/// The values that the colours stand for.
struct ColourScale {
  double low, high;
  const Stops& stops;

  Ink colour(double value) const { return colour_of((value - low) / (high - low), stops); }
};

bool is_masked(const HeatMaps& maps, std::size_t i) { return !maps.masked.empty() && maps.masked[i]; }

void check(const HeatMaps& maps) {
  const auto refuse = [](const std::string& why) { fail<ValueError>("heat_map_svg", why); };
  if (maps.panels.empty() || maps.columns == 0) refuse("there is nothing to show");
  if (maps.queries.empty() || maps.keys.empty()) refuse("queries and keys need labels");
  const std::size_t size = maps.queries.size() * maps.keys.size();
  const std::string expected = number(maps.queries.size()) + " x " + number(maps.keys.size()) + " labels";
  if (!maps.masked.empty() && maps.masked.size() != size) {
    refuse("a mask of " + number(maps.masked.size()) + " entries for " + expected);
  }
  for (const HeatMapPanel& panel : maps.panels) {
    if (panel.values.size() != size) refuse(number(panel.values.size()) + " values for " + expected);
    for (std::size_t i = 0; i < size; ++i) {
      if (!is_masked(maps, i) && !std::isfinite(panel.values[i])) refuse("a value is not finite");
    }
  }
}

ColourScale scale_of(const HeatMaps& maps) {
  double least = 0, greatest = 0;
  for (const HeatMapPanel& panel : maps.panels) {
    for (std::size_t i = 0; i < panel.values.size(); ++i) {
      if (is_masked(maps, i)) continue;
      least = std::min(least, panel.values[i]);
      greatest = std::max(greatest, panel.values[i]);
    }
  }
  double end = std::max(greatest, -least);
  if (!(end > 1e-300 && end < 1e300)) end = 1;
  const std::vector<double> ticks = nice_ticks(0, end, 5);
  const double step = ticks[1] - ticks[0];
  end = std::ceil(end / step - 1e-6) * step;  // the bar ends at a round number
  if (least < 0) return {-end, end, diverging};
  return {0, end, sequential};
}

double widest(const std::vector<std::string>& labels) {
  double width = 0;
  for (const std::string& label : labels) width = std::max(width, text_width(label, heatmap_label_size));
  return std::min(width, widest_label);
}

/// Where everything is. Labels stand at the left and at the bottom of the grid only, as all panels share them.
class Figure {
 public:
  explicit Figure(const HeatMaps& maps)
      : maps_(maps), scale_(scale_of(maps)), rows_(maps.queries.size()), columns_(maps.keys.size()) {
    grid_columns_ = std::min(maps.columns, maps.panels.size());
    grid_rows_ = (maps.panels.size() + grid_columns_ - 1) / grid_columns_;
    const std::size_t longest = std::max(rows_, columns_);
    const double smallest = longest <= 24 ? 15 : 4;  // below 15 pixels not every entry can have its label
    cell_ = std::clamp(std::floor(900.0 / static_cast<double>(grid_columns_ * longest)), smallest, 32.0);
    panel_width_ = cell_ * static_cast<double>(columns_);
    panel_height_ = cell_ * static_cast<double>(rows_);

    const double key_labels = widest(maps.keys) * slant;
    left_ = heatmap_margin + caption_size + 10 + std::max(widest(maps.queries), key_labels - cell_ / 2) + 8;
    top_ = heatmap_margin + (maps.title.empty() ? 0 : heatmap_title_size + 14) + heatmap_panel_title_size + 8;
    right_ = left_ + static_cast<double>(grid_columns_) * (panel_width_ + panel_gap) - panel_gap;
    bottom_ = top_ + static_cast<double>(grid_rows_) * row_height() - row_height() + panel_height_;
    width_ = right_ + 24 + bar_width + 8 +
             std::max(widest(tick_labels(bar_ticks())), text_width("masked", heatmap_tick_size)) + heatmap_margin;
    width_ = std::max(width_, std::min(2 * heatmap_margin + bold_width(maps.title, heatmap_title_size), 640.0));
    const double below_bar = top_ + bar_height() + 14 + bar_width;
    height_ = std::max(bottom_ + 14 + key_labels + heatmap_label_size + 8 + caption_size, below_bar) + heatmap_margin;
  }

  std::string drawn() {
    Svg svg(width_, height_, maps_.title, maps_.theme);
    draw_hatching(svg);
    svg.heading(heatmap_margin, heatmap_margin + heatmap_title_size - 3, maps_.title, heatmap_title_size,
                width_ - 2 * heatmap_margin);
    for (std::size_t i = 0; i < maps_.panels.size(); ++i) {
      draw_panel(svg, maps_.panels[i], left_ + static_cast<double>(i % grid_columns_) * (panel_width_ + panel_gap),
                 top_ + static_cast<double>(i / grid_columns_) * row_height());
    }
    draw_labels(svg);
    draw_bar(svg);
    return svg.str();
  }

 private:
  double row_height() const { return panel_height_ + panel_gap + heatmap_panel_title_size; }

  /// How many entries apart labels must be so as not to touch.
  std::size_t label_stride() const { return static_cast<std::size_t>(std::ceil((heatmap_label_size + 2) / cell_)); }

  std::vector<double> bar_ticks() const { return nice_ticks(scale_.low, scale_.high, 5); }

  /// The bar is as high as the grid, as long as its ticks have room and it does not look lost.
  double bar_height() const { return std::clamp(bottom_ - top_, 100.0, 260.0); }

  static void draw_hatching(Svg& svg) {
    svg.open("defs", {});
    svg.open("pattern", {{"id", "masked"},
                         {"width", 5},
                         {"height", 5},
                         {"patternUnits", "userSpaceOnUse"},
                         {"patternTransform", "rotate(45)"}});
    svg.shape("rect", {{"width", 5}, {"height", 5}, {"fill", hatch_ground}});
    svg.shape("rect", {{"width", 1.5}, {"height", 5}, {"fill", hatch}});
    svg.close("pattern");
    svg.close("defs");
  }

  void draw_panel(Svg& svg, const HeatMapPanel& panel, double x, double y) const {
    svg.text(x, y - 8, fit_width(panel.title, heatmap_panel_title_size, panel_width_ + panel_gap - 8),
             {{"font-size", heatmap_panel_title_size}, {"fill", quiet_ink}});
    const double gap = cell_ >= 10 ? 1 : 0;
    svg.open("g", {{"shape-rendering", "crispEdges"}});
    for (std::size_t i = 0; i < panel.values.size(); ++i) {
      const std::size_t row = i / columns_, column = i % columns_;
      const double value = panel.values[i];
      const bool masked = is_masked(maps_, i);
      svg.shape("rect",
                {{"x", x + static_cast<double>(column) * cell_},
                 {"y", y + static_cast<double>(row) * cell_},
                 {"width", cell_ - gap},
                 {"height", cell_ - gap},
                 masked ? Attribute{"fill", "url(#masked)"} : Attribute{"fill", scale_.colour(value)}},
                maps_.queries[row] + " → " + maps_.keys[column] + "  " + (masked ? "masked" : fixed(value, 3)));
    }
    svg.close("g");
    svg.shape("rect", {{"x", x - 1.5},
                       {"y", y - 1.5},
                       {"width", panel_width_ + 3 - gap},
                       {"height", panel_height_ + 3 - gap},
                       {"fill", "none"},
                       {"stroke", frame_ink}});
  }

  void draw_labels(Svg& svg) const {
    svg.open("g", {{"font-size", heatmap_label_size}, {"text-anchor", "end"}});
    for (std::size_t grid_row = 0; grid_row < grid_rows_; ++grid_row) {
      const double y = top_ + static_cast<double>(grid_row) * row_height();
      for (std::size_t row = 0; row < rows_; row += label_stride()) {
        svg.text(left_ - 8, y + (static_cast<double>(row) + 0.5) * cell_ + 3.5,
                 fit_width(maps_.queries[row], heatmap_label_size, widest_label));
      }
    }
    for (std::size_t grid_column = 0; grid_column < grid_columns_; ++grid_column) {
      // The lowest panel of this column: the last row of the grid may be shorter than the others.
      const std::size_t below = (maps_.panels.size() - 1 - grid_column) / grid_columns_;
      const double x = left_ + static_cast<double>(grid_column) * (panel_width_ + panel_gap);
      const double y = top_ + static_cast<double>(below) * row_height() + panel_height_ + 14;
      for (std::size_t column = 0; column < columns_; column += label_stride()) {
        const double at = x + (static_cast<double>(column) + 0.5) * cell_ + 3;
        svg.text(at, y, fit_width(maps_.keys[column], heatmap_label_size, widest_label),
                 {{"transform", "rotate(-45 " + fixed(at, 1) + " " + fixed(y, 1) + ")"}});
      }
    }
    svg.close("g");

    svg.open("g", {{"font-size", caption_size}, {"text-anchor", "middle"}, {"fill", quiet_ink}});
    svg.text((left_ + right_) / 2, height_ - heatmap_margin, maps_.key_caption);
    const double x = heatmap_margin + caption_size - 2, y = (top_ + bottom_) / 2;
    svg.text(x, y, maps_.query_caption, {{"transform", "rotate(-90 " + fixed(x, 1) + " " + fixed(y, 1) + ")"}});
    svg.close("g");
  }

  void draw_bar(Svg& svg) const {
    constexpr int strips = 60;
    const double x = right_ + 24, height = bar_height(), strip = height / strips;
    const auto y_of = [&](double value) { return top_ + height * (scale_.high - value) / (scale_.high - scale_.low); };
    for (int i = 0; i < strips; ++i) {
      // Each strip reaches under the next one, so that no line of background shows between them.
      svg.shape("rect", {{"x", x},
                         {"y", top_ + i * strip},
                         {"width", bar_width},
                         {"height", std::min(2 * strip, height - i * strip)},
                         {"fill", colour_of(1 - (i + 0.5) / strips, scale_.stops)}});
    }
    const std::vector<double> ticks = bar_ticks();
    const std::vector<std::string> labels = tick_labels(ticks);
    for (std::size_t i = 0; i < ticks.size(); ++i) {
      svg.text(x + bar_width + 8, y_of(ticks[i]) + 3.5, labels[i],
               {{"font-size", heatmap_tick_size}, {"fill", quiet_ink}});
    }
    if (std::find(maps_.masked.begin(), maps_.masked.end(), true) == maps_.masked.end()) return;
    const double y = top_ + height + 14;
    svg.shape("rect", {{"x", x},
                       {"y", y},
                       {"width", bar_width},
                       {"height", bar_width},
                       {"fill", "url(#masked)"},
                       {"stroke", frame_ink}});
    svg.text(x + bar_width + 8, y + 11, "masked", {{"font-size", heatmap_tick_size}, {"fill", quiet_ink}});
  }

  const HeatMaps& maps_;
  ColourScale scale_;
  std::size_t rows_, columns_, grid_rows_, grid_columns_;
  double cell_, panel_width_, panel_height_;
  double left_, top_, right_, bottom_;  // of the grid
  double width_, height_;               // of the sheet
};

}  // namespace

std::string heat_map_svg(const HeatMaps& maps) {
  check(maps);
  return Figure(maps).drawn();
}

}  // namespace xgrad::kit
