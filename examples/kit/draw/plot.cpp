// Axes, ticks, legend, lines.
#include <xgrad/kit/draw/plot.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include <xgrad/core/base/error.h>
#include <xgrad/kit/program/format.h>

namespace xgrad::kit {
namespace {

constexpr double margin = 20, title_size = 16, panel_title_size = 13, label_size = 12, tick_size = 11, legend_line = 20,
                 legend_mark = 22;
constexpr std::size_t most_hover_points = 500;  // more would lie closer than a pointer can tell

double round_step(double span, int count) {
  const double rough = span / count;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  const double lead = rough / power;
  return power * (lead < 1.5 ? 1 : lead < 3.5 ? 2 : lead < 7.5 ? 5 : 10);
}

/// The multiples of `step` in [low, high], the ends included whatever rounding did to them.
std::vector<double> multiples(double step, double low, double high) {
  std::vector<double> result;
  for (double k = std::ceil(low / step - 1e-6); k <= high / step + 1e-6; ++k) result.push_back(k * step);
  return result;
}

std::string superscript(int exponent) {
  static constexpr std::string_view digits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string text;
  for (const char c : std::to_string(exponent)) text += c == '-' ? "⁻" : digits[c - '0'];
  return text;
}

/// The range of numbers that an axis has to show.
struct Range {
  double low, high;
  bool whole;          // all of them
  bool powers_of_two;  // the least and the greatest
};

/// One axis: the numbers at its ends, its marks, and where on it a number lies.
struct Axis {
  Scale scale;
  double low, high;
  std::vector<double> ticks = {};
  std::vector<std::string> labels = {};

  /// 0 at the low end, 1 at the high end.
  double position(double value) const {
    if (scale == Scale::log) return (std::log(value) - std::log(low)) / (std::log(high) - std::log(low));
    return (value - low) / (high - low);
  }
};

Axis linear_axis(double low, double high, double step) {
  const std::vector<double> ticks = multiples(step, low, high);
  return {Scale::linear, low, high, ticks, tick_labels(ticks)};
}

/// The distance of about `count` ticks: whole between whole numbers.
double step_of(const Range& range, int count) {
  const double step = round_step(range.high - range.low, count);
  return range.whole ? std::max(1.0, step) : step;
}

/// lead x base^exponent: as decimals if they are few, else as a power.
std::string power_label(int lead, int base, int exponent, double value) {
  const int decimals = std::max(0, -exponent);
  if (value < 1e5 && decimals < 5) return fixed(value, decimals);
  const std::string power = number(base) + superscript(exponent);
  return lead == 1 ? power : number(lead) + "×" + power;
}

/// From the last round number below the data to the first above; round are 1, 2 and 5 times the powers of ten if the
/// range is short, the powers of ten, or some of them, if it is long, and the powers of two if the data begin and end
/// with such.
Axis log_axis(const Range& range) {
  const int base = range.powers_of_two ? 2 : 10;
  const double powers = (std::log10(range.high) - std::log10(range.low)) / std::log10(base);
  const std::vector<int> leads = base == 2 || powers > 2.5 ? std::vector{1} : std::vector{1, 2, 5};
  const int stride = 1 + static_cast<int>(powers / 8);
  Axis axis{Scale::log, range.low, range.high};
  const double first = std::log10(range.low) / std::log10(base);
  for (int exponent = stride * static_cast<int>(std::floor(first / stride));; exponent += stride) {
    for (const int lead : leads) {
      const double tick = lead * std::pow(base, exponent);
      if (tick <= range.low) axis.ticks.clear(), axis.labels.clear();
      axis.ticks.push_back(tick);
      axis.labels.push_back(power_label(lead, base, exponent, tick));
      if (tick < range.high) continue;
      axis.low = axis.ticks.front();
      axis.high = tick;
      return axis;
    }
  }
}

/// The same from the first to the last of the data, if there are two round numbers in between.
Axis cropped_log_axis(const Range& range) {
  const Axis whole = log_axis(range);
  Axis axis{Scale::log, range.low, range.high};
  for (std::size_t i = 0; i < whole.ticks.size(); ++i) {
    if (whole.ticks[i] < range.low || whole.ticks[i] > range.high) continue;
    axis.ticks.push_back(whole.ticks[i]);
    axis.labels.push_back(whole.labels[i]);
  }
  return axis.ticks.size() < 2 ? whole : axis;
}

Axis x_axis(const Range& range, Scale scale) {
  if (scale == Scale::log) return cropped_log_axis(range);
  return linear_axis(range.low, range.high, step_of(range, 8));
}

Axis y_axis(Range range, Scale scale) {
  if (scale == Scale::log) return log_axis(range);
  if (range.low > 0 && range.low < 0.4 * range.high) range.low = 0;  // heights can be compared when 0 is in sight
  const double step = step_of(range, 6);
  return linear_axis(std::floor(range.low / step + 1e-6) * step, std::ceil(range.high / step - 1e-6) * step, step);
}

bool can_show(double value, Scale scale) {
  return std::abs(value) <= 1e300 && (scale == Scale::linear || value >= 1e-300);
}

bool shows_point(const PlotPanel& panel, const Series& series, std::size_t i) {
  return can_show(series.x[i], panel.x_scale) && can_show(series.y[i], panel.y_scale);
}

bool is_whole(double value) { return std::floor(value) == value; }

bool is_power_of_two(double value) {
  int exponent = 0;
  return std::frexp(value, &exponent) == 0.5;
}

/// The least and greatest number of what can be shown, never the same.
Range range_of(const PlotPanel& panel, std::vector<double> Series::*values) {
  std::vector<double> shown;
  for (const Series& series : panel.series) {
    for (std::size_t i = 0; i < series.x.size(); ++i) {
      if (shows_point(panel, series, i)) shown.push_back((series.*values)[i]);
    }
  }
  if (shown.empty()) shown = {1};
  const auto [low, high] = std::ranges::minmax(shown);
  Range range{low, high, std::ranges::all_of(shown, is_whole), is_power_of_two(low) && is_power_of_two(high)};
  const double size = std::max(std::abs(low), std::abs(high));
  if (high - low > 1e-9 * size) return range;
  const double room = size == 0 ? 1 : size / 2;
  range.low = low - room;
  range.high = high + room;
  return range;
}

double widest(const std::vector<std::string>& texts, double size) {
  double width = 0;
  for (const std::string& text : texts) width = std::max(width, text_width(text, size));
  return width;
}

/// The named series in rows that fit into the width: where each entry begins, relative to the legend's top left corner.
struct LegendEntry {
  std::size_t series;
  double x, y;
};

std::vector<LegendEntry> legend_of(const std::vector<Series>& all, double width) {
  std::vector<LegendEntry> entries;
  double x = 0, y = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].name.empty()) continue;
    const double needed = legend_mark + 6 + text_width(all[i].name, label_size);
    if (x > 0 && x + needed > width) x = 0, y += legend_line;
    entries.push_back({i, x, y});
    x += needed + 18;
  }
  return entries;
}

double legend_height(const std::vector<LegendEntry>& entries) {
  return entries.empty() ? 0 : entries.back().y + legend_line + 4;
}

std::string_view dashes(Series::Style style) { return style == Series::Style::dashed ? "6 5" : "none"; }

void draw_legend_entry(Svg& svg, const Series& series, Ink ink, double at_x, double at_y) {
  const double middle = at_y - 4;
  const bool dotted = series.style == Series::Style::points || series.style == Series::Style::marked;
  if (series.style == Series::Style::area) {
    svg.shape("rect", {{"x", at_x},
                       {"y", middle - 6},
                       {"width", legend_mark},
                       {"height", 12},
                       {"fill", ink},
                       {"fill-opacity", 0.15}});
  } else if (series.style != Series::Style::points) {
    svg.shape("line", {{"x1", at_x},
                       {"y1", middle},
                       {"x2", at_x + legend_mark},
                       {"y2", middle},
                       {"stroke", ink},
                       {"stroke-width", 2.5},
                       {"stroke-dasharray", dashes(series.style)}});
  }
  if (dotted) svg.shape("circle", {{"cx", at_x + legend_mark / 2}, {"cy", middle}, {"r", 3.5}, {"fill", ink}});
  svg.text(at_x + legend_mark + 6, at_y, series.name);
}

Ink ink_of(std::size_t series) { return series_inks[series % series_inks.size()]; }

void draw_legend(Svg& svg, const std::vector<Series>& series, const std::vector<LegendEntry>& entries, double left,
                 double top) {
  for (const LegendEntry& entry : entries) {
    draw_legend_entry(svg, series[entry.series], ink_of(entry.series), left + entry.x, top + entry.y + 12);
  }
}

/// A part of the sheet.
struct Box {
  double left, top, width, height;
};

/// One panel while it is drawn: the sheet, and the rectangle on it that the axes span.
class Drawing {
 public:
  /// In a box, with its title in this size and a legend of these entries.
  Drawing(Svg& svg, const PlotPanel& panel, const Box& box, double title_size, const std::vector<LegendEntry>& entries)
      : svg_(svg),
        panel_(panel),
        x_(x_axis(range_of(panel, &Series::x), panel.x_scale)),
        y_(y_axis(range_of(panel, &Series::y), panel.y_scale)) {
    const double legend_top = box.top + margin + (panel.title.empty() ? 0 : title_size + 10);
    top_ = legend_top + legend_height(entries) + (panel.y_label.empty() ? 0 : 24) + 6;
    left_ = box.left + margin + widest(y_.labels, tick_size) + 8;
    right_ = box.left + box.width - margin - text_width(x_.labels.back(), tick_size) / 2;
    bottom_ = box.top + box.height - margin - (panel.x_label.empty() ? 12 : 28);
    svg.heading(box.left + margin, box.top + margin + title_size - 3, panel.title, title_size, box.width - 2 * margin);
    draw_axes();
    for (std::size_t i = 0; i < panel.series.size(); ++i) draw_series(panel.series[i], ink_of(i));
    draw_legend(svg, panel.series, entries, box.left + margin, legend_top);
  }

 private:
  double x_of(double value) const { return left_ + x_.position(value) * (right_ - left_); }
  double y_of(double value) const { return bottom_ - y_.position(value) * (bottom_ - top_); }

  void draw_axes() {
    for (std::size_t i = 0; i < y_.ticks.size(); ++i) {
      const double at = y_of(y_.ticks[i]);
      svg_.shape("line", {{"x1", left_}, {"y1", at}, {"x2", right_}, {"y2", at}, {"stroke", grid_ink}});
      svg_.text(left_ - 8, at + 4, y_.labels[i],
                {{"font-size", tick_size}, {"text-anchor", "end"}, {"fill", quiet_ink}});
    }
    svg_.shape("line", {{"x1", left_}, {"y1", bottom_}, {"x2", right_}, {"y2", bottom_}, {"stroke", quiet_ink}});
    for (std::size_t i = 0; i < x_.ticks.size(); ++i) {
      const double at = x_of(x_.ticks[i]);
      if (x_.scale == Scale::log) {
        svg_.shape("line", {{"x1", at}, {"y1", top_}, {"x2", at}, {"y2", bottom_}, {"stroke", grid_ink}});
      }
      svg_.shape("line", {{"x1", at}, {"y1", bottom_}, {"x2", at}, {"y2", bottom_ + 5}, {"stroke", quiet_ink}});
      svg_.text(at, bottom_ + 18, x_.labels[i],
                {{"font-size", tick_size}, {"text-anchor", "middle"}, {"fill", quiet_ink}});
    }
    svg_.text(right_, bottom_ + 36, panel_.x_label, {{"text-anchor", "end"}, {"fill", quiet_ink}});
    svg_.text(left_ - 8 - widest(y_.labels, tick_size), top_ - 14, panel_.y_label, {{"fill", quiet_ink}});
  }

  void draw_series(const Series& series, Ink ink) {
    if (series.style == Series::Style::points) {
      svg_.open("g", {{"fill", ink}, {"fill-opacity", 0.75}});
      draw_points(series, 3.5);
      svg_.close("g");
      return;
    }
    std::string path;
    bool pen_down = false;
    for (std::size_t i = 0; i < series.x.size(); ++i) {
      const bool shown = shows_point(panel_, series, i);
      if (shown) path += (pen_down ? "L" : "M") + fixed(x_of(series.x[i]), 1) + " " + fixed(y_of(series.y[i]), 1);
      pen_down = shown;
    }
    if (path.empty()) return;
    if (series.style == Series::Style::area) {
      svg_.shape("path", {{"d", path + "Z"}, {"fill", ink}, {"fill-opacity", 0.15}});
      return;
    }
    svg_.open("g", {{"fill", "none"}, {"stroke", ink}, {"stroke-linejoin", "round"}, {"stroke-linecap", "round"}});
    svg_.shape("path", {{"d", path}, {"stroke-width", 2}, {"stroke-dasharray", dashes(series.style)}});
    svg_.close("g");
    if (series.style == Series::Style::marked) {  // the unseen stroke widens what the pointer has to meet
      svg_.open("g", {{"fill", ink}, {"stroke", ink}, {"stroke-width", 6}, {"stroke-opacity", 0}});
      draw_points(series, 3.5);
    } else {
      if (series.x.size() > most_hover_points) return;
      svg_.open("g", {{"fill-opacity", 0}});
      draw_points(series, 6);
    }
    svg_.close("g");
  }

  void draw_points(const Series& series, double radius) {
    for (std::size_t i = 0; i < series.x.size(); ++i) {
      if (!shows_point(panel_, series, i)) continue;
      const std::string place = number(series.x[i]) + ": " + number(series.y[i]);
      svg_.shape("circle", {{"cx", x_of(series.x[i])}, {"cy", y_of(series.y[i])}, {"r", radius}},
                 series.name.empty() ? place : series.name + "  " + place);
    }
  }

  Svg& svg_;
  const PlotPanel& panel_;
  const Axis x_, y_;
  double left_, top_, right_, bottom_;
};

/// The panel with an x for each y. Refuses what cannot be drawn.
PlotPanel checked(const char* op, PlotPanel panel, double width, double height) {
  for (Series& one : panel.series) {
    if (one.x.empty()) {
      for (std::size_t i = 0; i < one.y.size(); ++i) one.x.push_back(static_cast<double>(i + 1));
    }
    if (one.x.size() == one.y.size()) continue;
    fail<ValueError>(op, "series '", one.name, "' has ", one.x.size(), " x and ", one.y.size(), " y");
  }
  if (!(width >= 200 && height >= 150)) fail<ValueError>(op, "at least 200 x 150 pixels are needed");
  return panel;
}

bool same_legend(const PlotPanel& a, const PlotPanel& b) {
  return std::ranges::equal(a.series, b.series, [](const Series& one, const Series& other) {
    return one.name == other.name && one.style == other.style;
  });
}

}  // namespace

std::vector<double> nice_ticks(double low, double high, int count) {
  if (!(std::isfinite(low) && std::isfinite(high) && low < high && count >= 1)) {
    fail<ValueError>("nice_ticks", "no range from ", number(low), " to ", number(high), " in ", count, " parts");
  }
  return multiples(round_step(high - low, count), low, high);
}

std::vector<std::string> tick_labels(const std::vector<double>& ticks) {
  const double step = ticks.size() > 1 ? ticks[1] - ticks[0] : 1;
  const double unit = step >= 1e6 ? 1e6 : step >= 1e3 ? 1e3 : 1;
  const char* suffix = step >= 1e6 ? "M" : step >= 1e3 ? "k" : "";
  const int decimals = std::clamp(static_cast<int>(-std::floor(std::log10(step / unit) + 1e-6)), 0, 100);
  std::vector<std::string> labels;
  for (const double tick : ticks) labels.push_back(fixed(tick / unit, decimals) + (tick == 0 ? "" : suffix));
  return labels;
}

std::string line_plot(const std::vector<Series>& series, const PlotOptions& options) {
  const PlotPanel panel = checked("line_plot",
                                  {.series = series,
                                   .title = options.title,
                                   .x_label = options.x_label,
                                   .y_label = options.y_label,
                                   .x_scale = options.x_scale,
                                   .y_scale = options.y_scale},
                                  options.width, options.height);
  Svg svg(options.width, options.height, options.title, options.theme);
  const std::vector<LegendEntry> entries = legend_of(series, options.width - 2 * margin);
  Drawing(svg, panel, {0, 0, options.width, options.height}, title_size, entries);
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
  const double legend_top = margin + (options.title.empty() ? 0 : title_size + 10);
  const double head = options.title.empty() && shared.empty() ? 0 : legend_top + legend_height(shared) - margin / 2;

  Svg svg(width, head + static_cast<double>(rows) * options.height, options.title, options.theme);
  svg.heading(margin, margin + title_size - 3, options.title, title_size, width - 2 * margin);
  draw_legend(svg, panels[0].series, shared, margin, legend_top);
  for (std::size_t i = 0; i < panels.size(); ++i) {
    const Box box{static_cast<double>(i % columns) * options.width,
                  head + static_cast<double>(i / columns) * options.height, options.width, options.height};
    const auto entries = alike ? std::vector<LegendEntry>{} : legend_of(panels[i].series, box.width - 2 * margin);
    Drawing(svg, panels[i], box, panel_title_size, entries);
  }
  return svg.str();
}

}  // namespace xgrad::kit
