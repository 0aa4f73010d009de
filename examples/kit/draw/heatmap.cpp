// Laying out a grid of matrices, and colouring them.
#include <xgrad/kit/draw/heatmap.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <span>
#include <string_view>

#include <xgrad/core/base/error.h>
#include <xgrad/kit/draw/ticks.h>
#include <xgrad/kit/program/format.h>

namespace xgrad::kit {
namespace {

// Colours from the least to the greatest value, in even steps of lightness, so that equal differences look equal; the
// first differs from the ground.
constexpr std::array<Ink, 6> sequential = {{{0xedf2f8, 0x1b232e}, {0xbed6eb, 0x193b61}, {0x85b4da, 0x225e9c},
                                            {0x4a8bc2, 0x4a8bc2}, {0x225e9c, 0x8ec0e6}, {0x0d2e63, 0xe0f1fd}}};
constexpr std::array<Ink, 5> diverging = {{{0x215896, 0x86c0f0}, {0x8bb8da, 0x34689e}, {0xf4f4f4, 0x242a32},
                                           {0xec9e7a, 0x984232}, {0xac282e, 0xf59070}}};

constexpr double levels = 64;  // that are told apart

constexpr Ink masked_ink{0xc8c5c0, 0x434c57};
constexpr double heatmap_panel_title_size = 12, caption_size = 12, heatmap_label_size = 11, heatmap_tick_size = 10.5;
constexpr double widest_sheet = 800, heatmap_margin = Sheet::margin, panel_gap = 26, widest_label = 110,
                 least_caption = 60;
constexpr double least_pointed_at = 6;  // pixels that a cell has at least for a pointer to find it
constexpr double bar_width = 14, least_bar = 100, bar_distance = 900;
constexpr double slant = 0.7071;  // key labels stand at 45 degrees

/// The values that the colours stand for.
struct ColourScale {
  double low, high;
  std::span<const Ink> stops;

  Ink colour(double value) const { return colour_at((value - low) / (high - low)); }
  Ink colour_at(double share) const {
    return mixed(std::round(std::clamp(share, 0.0, 1.0) * levels) / levels, stops);
  }
  std::vector<double> ticks() const { return nice_ticks(low, high, 5); }
};

void check(const HeatMaps& maps) {
  const auto refuse = [](const auto&... why) { fail<ValueError>("heat_map_svg", why...); };
  if (maps.panels.empty() || maps.columns == 0) refuse("there is nothing to show");
  if (maps.queries.empty() || maps.keys.empty()) refuse("queries and keys need labels");
  const std::size_t size = maps.queries.size() * maps.keys.size();
  const std::string expected = str(maps.queries.size(), " x ", maps.keys.size(), " labels");
  if (!maps.masked.empty() && maps.masked.size() != size) {
    refuse("a mask of ", maps.masked.size(), " entries for ", expected);
  }
  constexpr double rounding = 1e-4;  // a softmax gives a little more than 1
  for (const HeatMapPanel& panel : maps.panels) {
    if (panel.values.size() != size) refuse(panel.values.size(), " values for ", expected);
    for (std::size_t i = 0; i < size; ++i) {
      if (maps.is_masked(i)) continue;
      const double value = panel.values[i];
      if (!std::isfinite(value)) refuse("a value is not finite");
      if (maps.scale == HeatScale::shares && !(value >= -rounding && value <= 1 + rounding)) {
        refuse("a share is from 0 to 1, got ", value);
      }
      if (maps.scale == HeatScale::yes_no && value != 0 && value != 1) refuse("yes is 1 and no 0, got ", value);
    }
  }
}

ColourScale scale_of(const HeatMaps& maps, std::span<const HeatMapPanel> panels) {
  if (maps.scale == HeatScale::shares || maps.scale == HeatScale::yes_no) return {0, 1, sequential};
  double least = 0, greatest = 0;
  for (const HeatMapPanel& panel : panels) {
    for (std::size_t i = 0; i < panel.values.size(); ++i) {
      if (maps.is_masked(i)) continue;
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

/// That of each panel, or one for all.
std::vector<ColourScale> scales_of(const HeatMaps& maps) {
  if (maps.scale != HeatScale::each) return {scale_of(maps, maps.panels)};
  std::vector<ColourScale> scales;
  for (const HeatMapPanel& panel : maps.panels) scales.push_back(scale_of(maps, {&panel, 1}));
  return scales;
}

double label_width(const std::vector<std::string>& labels) {
  return std::min(widest(labels, heatmap_label_size), widest_label);
}

/// Where everything is. Labels stand at the left and at the bottom of the grid only, as all panels share them.
class Figure {
 public:
  explicit Figure(const HeatMaps& maps)
      : maps_(maps), scales_(scales_of(maps)), rows_(maps.queries.size()), columns_(maps.keys.size()) {
    grid_columns_ = std::min(maps.columns, maps.panels.size());
    grid_rows_ = (maps.panels.size() + grid_columns_ - 1) / grid_columns_;
    bar_room_ = bar_width + 8 + text_width("masked", heatmap_tick_size);
    for (const ColourScale& scale : scales_) {
      bar_room_ = std::max(bar_room_, bar_width + 8 + label_width(tick_labels(scale.ticks())));
    }
    const std::size_t longest = std::max(rows_, columns_);
    const double smallest = longest <= 24 ? 13 : 4;  // below 13 pixels not every entry can have its label
    const double key_labels = label_width(maps.keys) * slant;
    const double labels =
        heatmap_margin + line_height(caption_size) + 14 + std::max(label_width(maps.queries), key_labels);
    const double bars = own_bars() ? static_cast<double>(grid_columns_) * (8 + bar_room_) : 24 + bar_room_;
    const double gaps = static_cast<double>(grid_columns_ - 1) * panel_gap + heatmap_margin;
    const double room = std::min(900 / static_cast<double>(longest),
                                 (widest_sheet - labels - bars - gaps) / static_cast<double>(columns_));
    cell_ = std::clamp(std::floor(room / static_cast<double>(grid_columns_)), smallest, 32.0);
    panel_width_ = cell_ * static_cast<double>(columns_);
    panel_height_ = cell_ * static_cast<double>(rows_);
    across_ = panel_width_ + panel_gap + (own_bars() ? 8 + bar_room_ : 0);
    for (const HeatMapPanel& panel : maps.panels) {
      panel_titles_.push_back(wrap_width(panel.title, heatmap_panel_title_size, across_ - 8));
      titles_height_ = std::max(titles_height_, lines_height(panel_titles_.back(), heatmap_panel_title_size));
    }
    down_ = std::max(panel_height_, own_bars() ? least_bar : 0) + titles_height_ + panel_gap - 4;

    const double grid_height = static_cast<double>(grid_rows_ - 1) * down_ + panel_height_;
    query_caption_ = wrap_width(maps.query_caption, caption_size, std::max(grid_height, least_caption));
    left_ = heatmap_margin + lines_height(query_caption_, caption_size) + 6 +
            std::max(label_width(maps.queries), key_labels - cell_ / 2) + 8;
    right_ = left_ + static_cast<double>(grid_columns_) * across_ - panel_gap;
    sheet_.emplace(maps.title, right_ + (own_bars() ? 0 : 24 + bar_room_) - heatmap_margin);
    key_caption_ = wrap_width(maps.key_caption, caption_size, sheet_->inner());
    top_ = sheet_->top() + titles_height_ + 4;
    bottom_ = top_ + grid_height;
    const double below_grid =
        bottom_ + 14 + key_labels + heatmap_label_size + 4 + lines_height(key_caption_, caption_size);
    const double below_bar = (own_bars() ? bottom_ - panel_height_ : top_) + bar_height() + 14 + bar_width;
    height_ = std::max({below_grid, below_bar, top_ + least_caption}) + heatmap_margin;
  }

  std::string drawn() {
    Svg svg = sheet_->svg(height_ - sheet_->top() - heatmap_margin);
    for (std::size_t i = 0; i < maps_.panels.size(); ++i) draw_panel(svg, i);
    draw_labels(svg);
    draw_bars(svg);
    return svg.str();
  }

 private:
  bool own_bars() const { return maps_.scale == HeatScale::each; }
  const ColourScale& scale(std::size_t panel) const { return scales_[own_bars() ? panel : 0]; }

  double panel_left(std::size_t panel) const { return left_ + static_cast<double>(panel % grid_columns_) * across_; }
  double panel_top(std::size_t panel) const { return top_ + static_cast<double>(panel / grid_columns_) * down_; }

  /// How many entries apart labels must be so as not to touch.
  std::size_t label_stride() const { return static_cast<std::size_t>(std::ceil((heatmap_label_size + 2) / cell_)); }

  /// A bar is as high as the panels beside it, as long as its ticks have room and it does not look lost.
  double bar_height() const { return std::clamp(own_bars() ? panel_height_ : bottom_ - top_, least_bar, 260.0); }

  std::string value_of(const HeatMapPanel& panel, std::size_t i) const {
    if (maps_.is_masked(i)) return "masked";
    if (maps_.scale == HeatScale::yes_no) return panel.values[i] == 1 ? "yes" : "no";
    return fixed(panel.values[i], 3);
  }

  void draw_panel(Svg& svg, std::size_t place) const {
    const HeatMapPanel& panel = maps_.panels[place];
    const double x = panel_left(place), y = panel_top(place);
    svg.lines(x, y - titles_height_ + 8, panel_titles_[place], heatmap_panel_title_size, {{"fill", quiet_ink}});
    const double gap = cell_ >= 10 ? 1 : 0;
    svg.open("g", {{"shape-rendering", "crispEdges"}});
    const auto ink = [&](std::size_t i) { return maps_.is_masked(i) ? masked_ink : scale(place).colour(panel.values[i]); };
    for (std::size_t i = 0, together = 1; i < panel.values.size(); i += together) {
      const std::size_t row = i / columns_, column = i % columns_;
      // What is too small to be pointed at says nothing, and neighbours of one colour are drawn together.
      const bool says = cell_ >= least_pointed_at;
      together = 1;
      while (!says && column + together < columns_ && ink(i + together) == ink(i)) ++together;
      svg.rect(x + static_cast<double>(column) * cell_, y + static_cast<double>(row) * cell_,
               static_cast<double>(together) * cell_ - gap, cell_ - gap, {{"fill", ink(i)}},
               says ? maps_.queries[row] + " → " + maps_.keys[column] + "  " + value_of(panel, i) : "");
    }
    svg.close("g");
    svg.rect(x - 1.5, y - 1.5, panel_width_ + 3 - gap, panel_height_ + 3 - gap,
             {{"fill", "none"}, {"stroke", frame_ink}});
  }

  void draw_labels(Svg& svg) const {
    svg.open("g", {{"font-size", heatmap_label_size}, {"text-anchor", "end"}});
    for (std::size_t grid_row = 0; grid_row < grid_rows_; ++grid_row) {
      const double y = panel_top(grid_row * grid_columns_);
      for (std::size_t row = 0; row < rows_; row += label_stride()) {
        svg.text(left_ - 8, y + (static_cast<double>(row) + 0.5) * cell_ + 3.5,
                 fit_width(maps_.queries[row], heatmap_label_size, widest_label));
      }
    }
    for (std::size_t grid_column = 0; grid_column < grid_columns_; ++grid_column) {
      // The lowest panel of this column: the last row of the grid may be shorter than the others.
      const std::size_t below = (maps_.panels.size() - 1 - grid_column) / grid_columns_;
      const double x = panel_left(grid_column), y = panel_top(below * grid_columns_) + panel_height_ + 14;
      for (std::size_t column = 0; column < columns_; column += label_stride()) {
        const double at = x + (static_cast<double>(column) + 0.5) * cell_ + 3;
        svg.text(at, y, fit_width(maps_.keys[column], heatmap_label_size, widest_label), {turned(-45, at, y)});
      }
    }
    svg.close("g");

    const double key_width = text_width(key_caption_.empty() ? "" : key_caption_[0], caption_size),
                 caption_line = line_height(caption_size);
    svg.lines(std::max((left_ + right_) / 2, heatmap_margin + key_width / 2),
              height_ - heatmap_margin - lines_height(key_caption_, caption_size) + caption_line, key_caption_,
              caption_size, {{"text-anchor", "middle"}, {"fill", quiet_ink}});
    const double x = heatmap_margin + caption_size - 2, y = (top_ + std::max(bottom_, top_ + least_caption)) / 2;
    svg.lines(x, y, query_caption_, caption_size, {{"text-anchor", "middle"}, {"fill", quiet_ink}, turned(-90, x, y)});
  }

  static Attribute turned(double degrees, double x, double y) {
    return {"transform", "rotate(" + fixed(degrees, 0) + " " + fixed(x, 1) + " " + fixed(y, 1) + ")"};
  }

  /// One beside each panel, or one for all, and again where the figure goes on so far that the last is out of sight.
  void draw_bars(Svg& svg) const {
    double next = 0;
    for (std::size_t i = 0; i < maps_.panels.size(); ++i) {
      const double y = panel_top(i);
      if (own_bars()) draw_bar(svg, scale(i), panel_left(i) + panel_width_ + 10, y);
      if (own_bars() || y < next) continue;
      draw_bar(svg, scale(i), right_ + 24, y);
      next = y + bar_distance;
    }
  }

  void draw_bar(Svg& svg, const ColourScale& scale, double x, double y) const {
    const auto label = [&](double at, const std::string& text) {
      svg.text(x + bar_width + 8, at, text, {{"font-size", heatmap_tick_size}, {"fill", quiet_ink}});
    };
    const auto key = [&](double at, Ink colour, const std::string& text) {
      svg.rect(x, at, bar_width, bar_width, {{"fill", colour}, {"stroke", frame_ink}});
      label(at + 11, text);
    };
    double below = y;
    if (maps_.scale == HeatScale::yes_no) {
      for (const bool yes : {true, false}) {
        key(below, scale.colour(yes), yes ? "yes" : "no");
        below += bar_width + 6;
      }
    } else {
      constexpr int strips = 60;
      const double height = bar_height(), strip = height / strips;
      for (int i = 0; i < strips; ++i) {
        // Each strip reaches under the next one, so that no line of background shows between them.
        svg.rect(x, y + i * strip, bar_width, std::min(2 * strip, height - i * strip),
                 {{"fill", scale.colour_at(1 - (i + 0.5) / strips)}});
      }
      const std::vector<double> ticks = scale.ticks();
      const std::vector<std::string> labels = tick_labels(ticks);
      for (std::size_t i = 0; i < ticks.size(); ++i) {
        label(y + height * (scale.high - ticks[i]) / (scale.high - scale.low) + 3.5, labels[i]);
      }
      below = y + height + 14;
    }
    const bool has_mask = std::find(maps_.masked.begin(), maps_.masked.end(), true) != maps_.masked.end();
    if (has_mask) key(below, masked_ink, "masked");
  }

  const HeatMaps& maps_;
  std::vector<ColourScale> scales_;
  std::size_t rows_, columns_, grid_rows_, grid_columns_;
  double cell_, panel_width_, panel_height_;
  double bar_room_, across_, down_;  // from panel to panel
  std::vector<std::vector<std::string>> panel_titles_;
  std::vector<std::string> query_caption_, key_caption_;
  double titles_height_ = 0;
  double left_, top_, right_, bottom_;  // of the grid
  std::optional<Sheet> sheet_;
  double height_;  // of all of it
};

}  // namespace

HeatMaps with_visible_spaces(HeatMaps maps) {
  constexpr std::string_view spaces = " \t\n";
  for (std::vector<std::string>* labels : {&maps.queries, &maps.keys}) {
    for (std::string& label : *labels) {
      const std::size_t begin = label.find_first_not_of(spaces), end = label.find_last_not_of(spaces);
      std::string visible;
      for (std::size_t i = 0; i < label.size(); ++i) {
        const bool is_inside = begin <= i && i <= end && begin != label.npos;
        visible += is_inside ? label.substr(i, 1) : label[i] == ' ' ? "␣" : label[i] == '\t' ? "⇥" : "↵";
      }
      label = std::move(visible);
    }
  }
  return maps;
}

std::string heat_map_svg(const HeatMaps& maps) {
  check(maps);
  const HeatMaps shown = with_visible_spaces(maps);
  return Figure(shown).drawn();
}

}  // namespace xgrad::kit
