// Axes, ticks, legend, lines.
#include <xgrad/kit/plot.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string_view>

#include <xgrad/core/error.h>
#include <xgrad/kit/format.h>
#include <xgrad/kit/svg.h>

namespace xgrad::kit {
namespace {

/// Okabe and Ito's colours, which colour-blind readers can tell apart; the pale ones last.
constexpr std::array<std::string_view, 7> palette = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                     "#4b5563", "#e69f00", "#56b4e9"};
constexpr std::string_view quiet = "#52606d", faint = "#e4e7eb";
constexpr double title_size = 16, label_size = 12, tick_size = 11, legend_line = 20, legend_mark = 22;
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

/// One axis: the numbers at its ends, its marks, and where on it a number lies.
struct Axis {
  Scale scale;
  double low, high;
  std::vector<double> ticks;
  std::vector<std::string> labels;

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

/// From the last round number below the data to the first above; round are 1, 2 and 5 times the powers of ten if the
/// range is short, and the powers of ten, or some of them, if it is long.
Axis log_axis(double low, double high) {
  const double decades = std::log10(high) - std::log10(low);
  const std::vector<int> leads = decades > 2.5 ? std::vector{1} : std::vector{1, 2, 5};
  const int stride = 1 + static_cast<int>(decades / 8);
  Axis axis{Scale::log, low, high, {}, {}};
  for (int exponent = stride * static_cast<int>(std::floor(std::log10(low) / stride));; exponent += stride) {
    for (const int lead : leads) {
      const double tick = lead * std::pow(10.0, exponent);
      if (tick <= low) axis.ticks.clear(), axis.labels.clear();
      axis.ticks.push_back(tick);
      const std::string power = "10" + superscript(exponent);
      axis.labels.push_back(exponent > -5 && exponent < 5 ? fixed(tick, std::max(0, -exponent))
                            : lead == 1                   ? power
                                                          : number(lead) + "×" + power);
      if (tick < high) continue;
      axis.low = axis.ticks.front();
      axis.high = tick;
      return axis;
    }
  }
}

bool can_show(double value, Scale scale) {
  return std::abs(value) <= 1e300 && (scale == Scale::linear || value >= 1e-300);
}

bool shows_point(const Series& series, std::size_t i, const PlotOptions& options) {
  return can_show(series.x[i], Scale::linear) && can_show(series.y[i], options.y_scale);
}

struct Range {
  double low, high;
};

/// The least and greatest number of what can be shown, never the same.
Range range_of(const std::vector<Series>& all, const PlotOptions& options, std::vector<double> Series::*values) {
  std::vector<double> shown;
  for (const Series& series : all) {
    for (std::size_t i = 0; i < series.x.size(); ++i) {
      if (shows_point(series, i, options)) shown.push_back((series.*values)[i]);
    }
  }
  if (shown.empty()) shown = {1};
  const auto [low, high] = std::minmax_element(shown.begin(), shown.end());
  const double size = std::max(std::abs(*low), std::abs(*high));
  if (*high - *low > 1e-9 * size) return {*low, *high};
  const double room = size == 0 ? 1 : size / 2;
  return {*low - room, *high + room};
}

Axis x_axis(Range range) { return linear_axis(range.low, range.high, round_step(range.high - range.low, 8)); }

Axis y_axis(Range range, Scale scale) {
  if (scale == Scale::log) return log_axis(range.low, range.high);
  if (range.low > 0 && range.low < 0.4 * range.high) range.low = 0;  // heights can be compared when 0 is in sight
  const double step = round_step(range.high - range.low, 6);
  return linear_axis(std::floor(range.low / step + 1e-6) * step, std::ceil(range.high / step - 1e-6) * step, step);
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

/// The picture while it is drawn: the sheet, and the rectangle on it that the axes span.
struct Plot {
  const PlotOptions& options;
  const Axis& x;
  const Axis& y;
  double left, top, right, bottom;
  Svg svg;

  double x_of(double value) const { return left + x.position(value) * (right - left); }
  double y_of(double value) const { return bottom - y.position(value) * (bottom - top); }

  void draw_axes() {
    for (std::size_t i = 0; i < y.ticks.size(); ++i) {
      const double at = y_of(y.ticks[i]);
      svg.shape("line", {{"x1", left}, {"y1", at}, {"x2", right}, {"y2", at}, {"stroke", faint}});
      svg.text(left - 8, at + 4, y.labels[i], {{"font-size", tick_size}, {"text-anchor", "end"}, {"fill", quiet}});
    }
    svg.shape("line", {{"x1", left}, {"y1", bottom}, {"x2", right}, {"y2", bottom}, {"stroke", quiet}});
    for (std::size_t i = 0; i < x.ticks.size(); ++i) {
      const double at = x_of(x.ticks[i]);
      svg.shape("line", {{"x1", at}, {"y1", bottom}, {"x2", at}, {"y2", bottom + 5}, {"stroke", quiet}});
      svg.text(at, bottom + 18, x.labels[i], {{"font-size", tick_size}, {"text-anchor", "middle"}, {"fill", quiet}});
    }
    svg.text(right, bottom + 36, options.x_label, {{"text-anchor", "end"}, {"fill", quiet}});
    svg.text(left - 8 - widest(y.labels, tick_size), top - 14, options.y_label, {{"fill", quiet}});
  }

  void draw_series(const Series& series, std::string_view colour) {
    if (series.style == Series::Style::points) {
      svg.open("g", {{"fill", colour}, {"fill-opacity", 0.75}});
      draw_points(series, 3.5);
      svg.close("g");
      return;
    }
    std::string path;
    bool pen_down = false;
    for (std::size_t i = 0; i < series.x.size(); ++i) {
      const bool shown = shows_point(series, i, options);
      if (shown) path += (pen_down ? "L" : "M") + fixed(x_of(series.x[i]), 1) + " " + fixed(y_of(series.y[i]), 1);
      pen_down = shown;
    }
    if (path.empty()) return;
    if (series.style == Series::Style::area) {
      svg.shape("path", {{"d", path + "Z"}, {"fill", colour}, {"fill-opacity", 0.15}});
      return;
    }
    svg.open("g", {{"fill", "none"}, {"stroke", colour}, {"stroke-linejoin", "round"}, {"stroke-linecap", "round"}});
    svg.shape("path", {{"d", path}, {"stroke-width", 2}, {"stroke-dasharray", dashes(series)}});
    svg.close("g");
    if (series.x.size() > most_hover_points) return;
    svg.open("g", {{"fill-opacity", 0}});
    draw_points(series, 6);
    svg.close("g");
  }

  void draw_points(const Series& series, double radius) {
    for (std::size_t i = 0; i < series.x.size(); ++i) {
      if (!shows_point(series, i, options)) continue;
      const std::string place = number(series.x[i]) + ": " + number(series.y[i]);
      svg.shape("circle", {{"cx", x_of(series.x[i])}, {"cy", y_of(series.y[i])}, {"r", radius}},
                series.name.empty() ? place : series.name + "  " + place);
    }
  }

  void draw_legend_entry(const Series& series, std::string_view colour, double at_x, double at_y) {
    const double middle = at_y - 4;
    if (series.style == Series::Style::points) {
      svg.shape("circle", {{"cx", at_x + legend_mark / 2}, {"cy", middle}, {"r", 3.5}, {"fill", colour}});
    } else if (series.style == Series::Style::area) {
      svg.shape("rect", {{"x", at_x},
                         {"y", middle - 6},
                         {"width", legend_mark},
                         {"height", 12},
                         {"fill", colour},
                         {"fill-opacity", 0.15}});
    } else {
      svg.shape("line", {{"x1", at_x},
                         {"y1", middle},
                         {"x2", at_x + legend_mark},
                         {"y2", middle},
                         {"stroke", colour},
                         {"stroke-width", 2.5},
                         {"stroke-dasharray", dashes(series)}});
    }
    svg.text(at_x + legend_mark + 6, at_y, series.name);
  }

  static std::string_view dashes(const Series& series) {
    return series.style == Series::Style::dashed ? "6 5" : "none";
  }
};

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

std::string line_plot(const std::vector<Series>& given, const PlotOptions& options) {
  std::vector<Series> series = given;
  for (Series& one : series) {
    if (one.x.empty()) {
      for (std::size_t i = 0; i < one.y.size(); ++i) one.x.push_back(static_cast<double>(i + 1));
    }
    if (one.x.size() == one.y.size()) continue;
    fail<ValueError>("line_plot", "series '", one.name, "' has ", one.x.size(), " x and ", one.y.size(), " y");
  }
  if (!(options.width >= 200 && options.height >= 150)) {
    fail<ValueError>("line_plot", "at least 200 x 150 pixels are needed");
  }

  const Axis x = x_axis(range_of(series, options, &Series::x));
  const Axis y = y_axis(range_of(series, options, &Series::y), options.y_scale);
  const double margin = 20;
  const auto entries = legend_of(series, options.width - 2 * margin);

  double top = margin;
  if (!options.title.empty()) top += title_size + 10;
  const double legend_top = top;
  if (!entries.empty()) top += entries.back().y + legend_line + 4;
  if (!options.y_label.empty()) top += 24;
  top += 6;
  const double left = margin + widest(y.labels, tick_size) + 8;
  const double right = options.width - margin - text_width(x.labels.back(), tick_size) / 2;
  const double bottom = options.height - margin - (options.x_label.empty() ? 12 : 28);

  Plot plot{options, x, y, left, top, right, bottom, Svg(options.width, options.height, options.title)};
  plot.svg.text(margin, margin + title_size - 3, fit_width(options.title, title_size, options.width - 2 * margin),
                {{"font-size", title_size}, {"font-weight", "bold"}});
  plot.draw_axes();
  for (std::size_t i = 0; i < series.size(); ++i) plot.draw_series(series[i], palette[i % palette.size()]);
  for (const LegendEntry& entry : entries) {
    plot.draw_legend_entry(series[entry.series], palette[entry.series % palette.size()], margin + entry.x,
                           legend_top + entry.y + 12);
  }
  return plot.svg.str();
}

}  // namespace xgrad::kit
