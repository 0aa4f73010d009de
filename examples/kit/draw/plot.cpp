// Axes, ticks, legend, lines.
#include <xgrad/kit/draw/plot.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include <xgrad/core/base/error.h>
#include <xgrad/kit/draw/png.h>
#include <xgrad/kit/draw/ticks.h>
#include <xgrad/kit/program/format.h>

namespace xgrad::kit {
namespace {

constexpr double margin = Sheet::margin, title_size = Sheet::title_size, panel_title_size = 13, label_size = 12,
                 tick_size = 11, legend_line = 20, legend_mark = 22;
constexpr double between_ticks = 5;             // of the labels of an axis, from one to the next
constexpr std::size_t most_hover_points = 500;  // more would lie closer than a pointer can tell

double title_room(const std::string& title, double size, double width) {
  return title.empty() ? 0 : heading_height(title, size, width) + 5;
}

/// The range of numbers that an axis has to show.
struct Range {
  double low, high;
  bool whole;          // all of them
  bool powers_of_two;  // the least and the greatest
};

/// Whether it is wide enough to be divided.
bool is_divisible(double low, double high) {
  return high - low > 1e-9 * std::max({std::abs(low), std::abs(high), 1e-300});
}

/// One axis: the numbers at its ends, its marks, and where on it a number lies.
struct Axis {
  Scale scale;
  double low, high;
  std::vector<double> ticks = {};
  std::vector<std::string> labels = {};

  /// 0 at the low end, 1 at the high end; numbers far beyond them are clamped, as drawings cannot hold them.
  double position(double value) const {
    const double from_low = scale == Scale::log ? std::log(value) - std::log(low) : value - low;
    return std::clamp(from_low / length(), -100.0, 100.0);
  }

  /// In units, or in powers of e.
  double length() const { return scale == Scale::log ? std::log(high) - std::log(low) : high - low; }

  /// Whether the labels, each so many pixels long, have room along so many pixels.
  template <class Extent>
  bool has_room(double pixels, const Extent& extent) const {
    for (std::size_t i = 1; i < ticks.size(); ++i) {
      const double distance = (position(ticks[i]) - position(ticks[i - 1])) * pixels;
      if (distance < (extent(labels[i - 1]) + extent(labels[i])) / 2 + between_ticks) return false;
    }
    return true;
  }

  void keep_first_tick() {
    ticks.resize(1);
    labels.resize(1);
  }
};

Axis linear_axis(double low, double high, double step) {
  const std::vector<double> ticks = multiples(step, low, high);
  return {Scale::linear, low, high, ticks, tick_labels(ticks)};
}

/// The distance of about `count` ticks: an integer between integers.
double step_of(const Range& range, int count) {
  const double step = round_step(range.high - range.low, count);
  return range.whole && range.high - range.low >= 1 ? std::max(1.0, step) : step;
}

/// lead x base^exponent.
struct LogTick {
  int lead, exponent;
  double value;
};

/// Decimals if few are enough for all, else powers for all.
std::vector<std::string> log_labels(const std::vector<LogTick>& ticks, int base) {
  const bool few = std::ranges::all_of(ticks, [](const LogTick& t) { return t.value < 1e5 && t.exponent > -5; });
  std::vector<std::string> labels;
  for (const auto& [lead, exponent, value] : ticks) {
    const std::string power = number(base) + superscript(exponent);
    labels.push_back(few ? fixed(value, std::max(0, -exponent)) : lead == 1 ? power : number(lead) + "×" + power);
  }
  return labels;
}

/// From the last round number below the data to the first above, and all in between; round are 1, 2 and 5 times the
/// powers of ten if the range is short, the powers of ten, or some of them, if it is long, and the powers of two if the
/// data begin and end with such. About `count` of them.
std::vector<LogTick> log_ticks(const Range& range, int base, int count) {
  const double powers = (std::log10(range.high) - std::log10(range.low)) / std::log10(base);
  const std::vector<int> leads = base == 2 || powers > 0.3125 * count ? std::vector{1} : std::vector{1, 2, 5};
  const int stride = 1 + static_cast<int>(powers / count);
  const double first = std::log10(range.low) / std::log10(base);
  std::vector<LogTick> ticks;
  for (int exponent = stride * static_cast<int>(std::floor(first / stride));; exponent += stride) {
    for (const int lead : leads) {
      const double tick = lead * std::pow(base, exponent);
      if (tick <= range.low) ticks.clear();
      ticks.push_back({lead, exponent, tick});
      if (tick >= range.high) return ticks;
    }
  }
}

/// A logarithmic axis: from the round number below the data to that above, or only from the first to the last of the
/// data, if there are two round numbers in between.
Axis log_axis(const Range& range, bool round_ends, int count) {
  const int base = range.powers_of_two ? 2 : 10;
  std::vector<LogTick> ticks = log_ticks(range, base, count);
  std::vector<LogTick> inside;
  for (const LogTick& tick : ticks) {
    if (tick.value >= range.low && tick.value <= range.high) inside.push_back(tick);
  }
  Axis axis{Scale::log, ticks.front().value, ticks.back().value};
  if (!round_ends && inside.size() >= 2) axis = {Scale::log, range.low, range.high}, ticks = inside;
  for (const LogTick& tick : ticks) axis.ticks.push_back(tick.value);
  axis.labels = log_labels(ticks, base);
  return axis;
}

/// An axis of about `count` ticks. With round ends it begins and ends at one of them, or at 0.
Axis axis_of(Range range, Scale scale, bool round_ends, int count) {
  if (scale == Scale::log) return log_axis(range, round_ends, count);
  if (!round_ends) return linear_axis(range.low, range.high, step_of(range, count));
  if (range.low > 0 && range.low < 0.4 * range.high) range.low = 0;  // heights can be compared when 0 is in sight
  const double step = step_of(range, count);
  return linear_axis(std::floor(range.low / step + 1e-6) * step, std::ceil(range.high / step - 1e-6) * step, step);
}

bool can_show(double value, Scale scale) {
  return std::abs(value) <= 1e300 && (scale == Scale::linear || value >= 1e-300);
}

bool can_show(const PlotPanel& panel, const Series& series, std::size_t i) {
  return can_show(series.x[i], panel.x_scale) && can_show(series.y[i], panel.y_scale);
}

bool within(double value, const std::optional<Limits>& limits) {
  return !limits || (value >= limits->low && value <= limits->high);
}

bool shows_point(const PlotPanel& panel, const Series& series, std::size_t i) {
  return can_show(panel, series, i) && within(series.x[i], panel.x_limits) && within(series.y[i], panel.y_limits);
}

bool is_whole(double value) { return std::floor(value) == value; }

bool is_power_of_two(double value) {
  int exponent = 0;
  return std::frexp(value, &exponent) == 0.5;
}

/// The limits of an axis, or the least and greatest number that can be shown, of y between the limits of x; never the
/// same.
Range range_of(const PlotPanel& panel, Values Series::*values, const std::optional<Limits>& limits) {
  std::vector<double> shown;
  for (const Series& series : panel.series) {
    for (std::size_t i = 0; i < series.x.size(); ++i) {
      if (!can_show(panel, series, i)) continue;
      if (values == &Series::y && !within(series.x[i], panel.x_limits)) continue;
      shown.push_back((series.*values)[i]);
    }
  }
  if (shown.empty()) shown = {1};
  auto [low, high] = std::ranges::minmax(shown);
  if (limits) low = limits->low, high = limits->high;
  Range range{low, high, std::ranges::all_of(shown, is_whole), is_power_of_two(low) && is_power_of_two(high)};
  if (limits || is_divisible(low, high)) return range;
  const double size = std::max(std::abs(low), std::abs(high)), room = size < 1e-300 ? 1 : size / 2;
  range.low = low - room;
  range.high = high + room;
  return range;
}

/// The named series in rows that fit into the width: where each entry begins, relative to the legend's top left corner.
struct LegendEntry {
  std::size_t series;
  double x, y;
  std::vector<std::string> lines;  // of its name
};

std::vector<LegendEntry> legend_of(const std::vector<Series>& all, double width) {
  std::vector<LegendEntry> entries;
  double x = 0, y = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].name.empty()) continue;
    const std::vector<std::string> lines = wrap_width(all[i].name, label_size, width - legend_mark - 6);
    const double needed = legend_mark + 6 + widest(lines, label_size);
    if (x > 0 && x + needed > width) x = 0, y += legend_line;
    entries.push_back({i, x, y, lines});
    x += needed + 18;
    y += static_cast<double>(lines.size() - 1) * line_height(label_size);  // such a name fills its row
  }
  return entries;
}

double legend_height(const std::vector<LegendEntry>& entries) {
  if (entries.empty()) return 0;
  const double more = static_cast<double>(entries.back().lines.size() - 1) * line_height(label_size);
  return entries.back().y + more + legend_line + 4;
}

Ink ink_of(std::size_t series) { return series_inks[series % series_inks.size()]; }

std::string_view dashes_of(Series::Style style) { return style == Series::Style::dashed ? "6 5" : "none"; }

bool has_marks(Series::Style style) { return style == Series::Style::points || style == Series::Style::marked; }

void draw_legend(Svg& svg, const std::vector<Series>& all, const std::vector<LegendEntry>& entries, double left,
                 double top) {
  for (const LegendEntry& entry : entries) {
    const Series::Style style = all[entry.series].style;
    const Ink ink = ink_of(entry.series);
    const double x = left + entry.x, y = top + entry.y + 12, middle = y - 4;
    if (style == Series::Style::area) {
      svg.rect(x, middle - 6, legend_mark, 12, {{"fill", ink}, {"fill-opacity", 0.15}});
    } else if (style != Series::Style::points) {
      svg.line(x, middle, x + legend_mark, middle,
               {{"stroke", ink}, {"stroke-width", 2.5}, {"stroke-dasharray", dashes_of(style)}});
    }
    if (has_marks(style)) svg.circle(x + legend_mark / 2, middle, 3.5, {{"fill", ink}});
    svg.lines(x + legend_mark + 6, y, entry.lines, label_size);
  }
}

/// A part of the sheet.
struct Box {
  double left, top, width, height;
};

/// One panel: its box on a sheet, and the rectangle in it that the axes span.
class Drawing {
 public:
  /// In a box, with its title in this size and a legend of these entries.
  Drawing(const PlotPanel& panel, const Box& box, double font_size, const std::vector<LegendEntry>& entries)
      : panel_(panel), box_(box), font_size_(font_size), entries_(entries) {
    const Range x = range_of(panel, &Series::x, panel.x_limits), y = range_of(panel, &Series::y, panel.y_limits);
    // About so many ticks, or fewer where their labels are longer.
    int columns = 8, rows = panel.y_scale == Scale::log ? 8 : 6;
    while (true) {
      x_ = axis_of(x, panel.x_scale, false, std::max(2, columns));
      y_ = axis_of(y, panel.y_scale, !panel.y_limits, std::max(2, rows));  // limits are for linear axes
      if (columns == 1) x_.keep_first_tick();
      if (rows == 1) y_.keep_first_tick();
      place();
      const auto width = [](const std::string& label) { return text_width(label, tick_size); };
      const auto height = [](const std::string&) { return tick_size - between_ticks; };
      if (columns > 1 && !x_.has_room(right_ - left_, width)) {
        --columns;
      } else if (rows > 1 && !y_.has_room(bottom_ - top_, height)) {
        --rows;
      } else {
        return;
      }
    }
  }

  /// The size that the box needs.
  double width() const {
    double texts = std::min(bold_width(panel_.title, font_size_), box_.width - 2 * margin);
    for (const LegendEntry& entry : entries_) {
      texts = std::max(texts, entry.x + legend_mark + 6 + widest(entry.lines, label_size));
    }
    return std::max(box_.width - right_free_, texts + 2 * margin);
  }
  double height() const { return box_.height - bottom_free_; }

  void draw(Svg& svg) const {
    svg.heading(box_.left + margin, box_.top + margin + font_size_ - 3, panel_.title, font_size_,
                box_.width - 2 * margin);
    if (panel_.picture.size() > 0) svg.image(left_, top_, right_ - left_, bottom_ - top_, png_address(panel_.picture));
    draw_axes(svg);
    for (std::size_t i = 0; i < panel_.series.size(); ++i) draw_series(svg, i);
    draw_legend(svg, panel_.series, entries_, box_.left + margin, legend_top_);
  }

 private:
  /// Finds where the axes are.
  void place() {
    const double inner = box_.width - 2 * margin, line = line_height(label_size);
    x_label_ = wrap_width(panel_.x_label, label_size, inner);
    y_label_ = wrap_width(panel_.y_label, label_size, inner);
    legend_top_ = box_.top + margin + title_room(panel_.title, font_size_, inner);
    y_label_top_ = legend_top_ + legend_height(entries_) + 16;
    top_ = y_label_top_ - 10 + (y_label_.empty() ? 0 : 24 + line * static_cast<double>(y_label_.size() - 1));
    left_ = box_.left + margin + widest(y_.labels, tick_size) + 8;
    right_ = box_.left + box_.width - margin - text_width(x_.labels.back(), tick_size) / 2;
    bottom_ = box_.top + box_.height - margin - 12 -
              (x_label_.empty() ? 0 : 16 + line * static_cast<double>(x_label_.size() - 1));
    if (panel_.equal_aspect) {
      const double unit = std::min((right_ - left_) / x_.length(), (bottom_ - top_) / y_.length());
      right_free_ = right_ - left_ - unit * x_.length();
      bottom_free_ = bottom_ - top_ - unit * y_.length();
      right_ -= right_free_;
      bottom_ -= bottom_free_;
    }
  }

  double x_of(double value) const { return left_ + x_.position(value) * (right_ - left_); }
  double y_of(double value) const { return bottom_ - y_.position(value) * (bottom_ - top_); }

  void draw_axes(Svg& svg) const {
    for (std::size_t i = 0; i < y_.ticks.size(); ++i) {
      const double at = y_of(y_.ticks[i]);
      svg.line(left_, at, right_, at, {{"stroke", grid_ink}});
      svg.text(left_ - 8, at + 4, y_.labels[i],
                {{"font-size", tick_size}, {"text-anchor", "end"}, {"fill", quiet_ink}});
    }
    svg.line(left_, bottom_, right_, bottom_, {{"stroke", quiet_ink}});
    for (std::size_t i = 0; i < x_.ticks.size(); ++i) {
      const double at = x_of(x_.ticks[i]);
      if (x_.scale == Scale::log) svg.line(at, top_, at, bottom_, {{"stroke", grid_ink}});
      svg.line(at, bottom_, at, bottom_ + 5, {{"stroke", quiet_ink}});
      svg.text(at, bottom_ + 18, x_.labels[i],
                {{"font-size", tick_size}, {"text-anchor", "middle"}, {"fill", quiet_ink}});
    }
    svg.lines(right_, bottom_ + 36, x_label_, label_size, {{"text-anchor", "end"}, {"fill", quiet_ink}});
    svg.lines(left_ - 8 - widest(y_.labels, tick_size), y_label_top_, y_label_, label_size, {{"fill", quiet_ink}});
  }

  /// Whether `over` covers all of `under` that is shown.
  bool covers(const Series& over, const Series& under) const {
    if (over.style == Series::Style::area || over.x != under.x) return false;
    for (std::size_t i = 0; i < over.x.size(); ++i) {
      if (!shows_point(panel_, under, i)) continue;
      if (!shows_point(panel_, over, i) || std::abs(y_of(over.y[i]) - y_of(under.y[i])) > 1.5) return false;
    }
    return true;
  }

  void draw_series(Svg& svg, std::size_t place) const {
    const Series& series = panel_.series[place];
    const Ink ink = ink_of(place);
    const auto covered = static_cast<double>(
        std::count_if(panel_.series.begin() + static_cast<std::ptrdiff_t>(place) + 1, panel_.series.end(),
                      [&](const Series& later) { return covers(later, series); }));
    if (series.style == Series::Style::points) {
      svg.open("g", {{"fill", ink}, {"fill-opacity", 0.75}});
      draw_points(svg, series, 3.5 + 2 * covered);
      return svg.close("g");
    }
    const std::string path = path_of(series);
    if (path.empty()) return;
    const bool limited = panel_.x_limits || panel_.y_limits;
    if (limited) {  // shows nothing beyond its edges
      svg.open("svg", {{"x", left_},
                        {"y", top_},
                        {"width", right_ - left_},
                        {"height", bottom_ - top_},
                        {"viewBox", str(fixed(left_, 2), " ", fixed(top_, 2), " ", fixed(right_ - left_, 2), " ",
                                        fixed(bottom_ - top_, 2))}});
    }
    if (series.style == Series::Style::area) {
      svg.path(path + "Z", {{"fill", ink}, {"fill-opacity", 0.15}});
    } else {
      svg.path(path, {{"fill", "none"},
                       {"stroke", ink},
                       {"stroke-linejoin", "round"},
                       {"stroke-linecap", "round"},
                       {"stroke-width", 2 + 4 * covered},
                       {"stroke-dasharray", dashes_of(series.style)}});
    }
    if (limited) svg.close("svg");
    if (series.style == Series::Style::marked) {  // the invisible stroke is a wider target for the pointer
      svg.open("g", {{"fill", ink}, {"stroke", ink}, {"stroke-width", 6}, {"stroke-opacity", 0}});
      draw_points(svg, series, 3.5 + 2 * covered);
      svg.close("g");
    } else if (series.style != Series::Style::area && series.x.size() <= most_hover_points) {
      svg.open("g", {{"fill-opacity", 0}});
      draw_points(svg, series, 6);
      svg.close("g");
    }
  }

  std::string path_of(const Series& series) const {
    std::string path;
    bool pen_down = false;
    for (std::size_t i = 0; i < series.x.size(); ++i) {
      const bool shown = can_show(panel_, series, i);
      if (shown) path += (pen_down ? "L" : "M") + fixed(x_of(series.x[i]), 1) + " " + fixed(y_of(series.y[i]), 1);
      pen_down = shown;
    }
    return path;
  }

  void draw_points(Svg& svg, const Series& series, double radius) const {
    for (std::size_t i = 0; i < series.x.size(); ++i) {
      if (!shows_point(panel_, series, i)) continue;
      const std::string place = number(series.x[i]) + ": " + number(series.y[i]);
      svg.circle(x_of(series.x[i]), y_of(series.y[i]), radius, {},
                  series.name.empty() ? place : series.name + "  " + place);
    }
  }

  const PlotPanel& panel_;
  const Box box_;
  const double font_size_;
  const std::vector<LegendEntry>& entries_;
  Axis x_, y_;
  std::vector<std::string> x_label_, y_label_;
  double left_, top_, right_, bottom_, legend_top_, y_label_top_, right_free_ = 0, bottom_free_ = 0;
};

void check_limits(const char* op, const std::optional<Limits>& limits, Scale scale) {
  if (!limits) return;
  if (scale == Scale::log) fail<ValueError>(op, "limits are for linear axes");
  const auto [low, high] = *limits;
  const bool possible = can_show(low, scale) && can_show(high, scale) && is_divisible(low, high);
  if (!possible) fail<ValueError>(op, "no axis from ", number(low), " to ", number(high));
}

/// The panel with an x for each y. Refuses panels that cannot be drawn.
PlotPanel checked(const char* op, PlotPanel panel, double width, double height) {
  for (Series& one : panel.series) {
    if (one.x.empty()) {
      for (std::size_t i = 0; i < one.y.size(); ++i) one.x.push_back(static_cast<double>(i + 1));
    }
    if (one.x.size() == one.y.size()) continue;
    fail<ValueError>(op, "series '", one.name, "' has ", one.x.size(), " x and ", one.y.size(), " y");
  }
  check_limits(op, panel.x_limits, panel.x_scale);
  check_limits(op, panel.y_limits, panel.y_scale);
  if (panel.equal_aspect && panel.x_scale != panel.y_scale) {
    fail<ValueError>(op, "axes of different scales have no equal aspect");
  }
  if (panel.picture.size() > 0 && !(panel.x_limits && panel.y_limits)) fail<ValueError>(op, "a picture needs limits");
  if (!(width >= 200 && height >= 150)) fail<ValueError>(op, "at least 200 x 150 pixels are needed");
  return panel;
}

bool same_legend(const PlotPanel& a, const PlotPanel& b) {
  return std::ranges::equal(a.series, b.series, [](const Series& one, const Series& other) {
    return one.name == other.name && one.style == other.style;
  });
}

}  // namespace

std::string line_plot(const std::vector<Series>& series, const PlotOptions& options) {
  const PlotPanel panel = checked("line_plot",
                                  {.series = series,
                                   .title = options.title,
                                   .x_label = options.x_label,
                                   .y_label = options.y_label,
                                   .x_scale = options.x_scale,
                                   .y_scale = options.y_scale,
                                   .x_limits = options.x_limits,
                                   .y_limits = options.y_limits,
                                   .equal_aspect = options.equal_aspect,
                                   .picture = options.picture},
                                  options.width, options.height);
  const std::vector<LegendEntry> entries = legend_of(series, options.width - 2 * margin);
  const Drawing drawing(panel, {0, 0, options.width, options.height}, title_size, entries);
  Svg svg(drawing.width(), drawing.height(), options.title);
  drawing.draw(svg);
  return svg.str();
}

std::string panel_plot(const std::vector<PlotPanel>& given, const PanelPlotOptions& options) {
  constexpr const char* op = "panel_plot";
  if (given.empty() || options.columns == 0) fail<ValueError>(op, "no panels, or no columns");
  std::vector<PlotPanel> panels;
  for (const PlotPanel& panel : given) panels.push_back(checked(op, panel, options.width, options.height));

  const std::size_t columns = std::min(options.columns, panels.size());
  const std::size_t rows = (panels.size() + columns - 1) / columns;
  const double width = static_cast<double>(columns) * options.width;
  const bool alike = std::ranges::all_of(panels, [&](const PlotPanel& p) { return same_legend(p, panels[0]); });
  const auto shared = alike ? legend_of(panels[0].series, width - 2 * margin) : std::vector<LegendEntry>{};
  const Sheet sheet(options.title, width - 2 * margin);
  const double legend_top = sheet.top();
  const double head = options.title.empty() && shared.empty() ? 0 : legend_top + legend_height(shared) - margin / 2;
  // Panels have margins of their own.
  Svg svg = sheet.svg(head + static_cast<double>(rows) * options.height - sheet.top() - margin);
  draw_legend(svg, panels[0].series, shared, margin, legend_top);
  for (std::size_t i = 0; i < panels.size(); ++i) {
    const Box box{static_cast<double>(i % columns) * options.width,
                  head + static_cast<double>(i / columns) * options.height, options.width, options.height};
    const auto entries = alike ? std::vector<LegendEntry>{} : legend_of(panels[i].series, box.width - 2 * margin);
    Drawing(panels[i], box, panel_title_size, entries).draw(svg);
  }
  return svg.str();
}

Array regions(const Index& classes) {
  const Shape& shape = classes.shape();
  if (shape.rank() != 2 || classes.size() == 0) fail<ShapeError>("regions", "needs classes (H, W), got ", shape);
  std::vector<std::uint32_t> colours;
  for (std::int64_t row = classes.dim(0) - 1; row >= 0; --row) {
    for (std::int64_t column = 0; column < classes.dim(1); ++column) {
      const std::int64_t number = classes.at({row, column});
      if (number < 0) fail<ValueError>("regions", "no series has the number ", number);
      colours.push_back(ink_of(static_cast<std::size_t>(number)).light);
    }
  }
  return coloured(colours, classes.dim(0), 0.3);
}

}  // namespace xgrad::kit
