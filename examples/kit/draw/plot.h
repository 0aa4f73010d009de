// Line plots as SVG: loss curves, fitted functions, comparisons.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <xgrad/core/array/array.h>
#include <xgrad/core/base/error.h>
#include <xgrad/kit/draw/svg.h>
#include <xgrad/kit/draw/values.h>

namespace xgrad::kit {

/// A named row of points, one for each y. A point that is not finite, or not positive on a logarithmic axis, is left
/// out and interrupts the line.
struct Series {
  enum class Style {
    line,
    dashed,
    marked,  ///< a line with a dot at each point
    points,
    area  ///< the surface that the points go round, pale
  };

  std::string name = {};
  Values x = {};  ///< 1, 2, 3, ... if empty
  Values y = {};
  Style style = Style::line;
};

/// How the numbers of an axis are spread. If both are logarithmic, y = a x^b is a straight line of slope b.
enum class Scale { linear, log };

/// The numbers at the ends of an axis.
struct Limits {
  double low = 0, high = 1;
};

struct PlotOptions {
  std::string title = {};
  std::string x_label = {};
  std::string y_label = {};
  Scale x_scale = Scale::linear;
  Scale y_scale = Scale::linear;
  std::optional<Limits> x_limits = {};  ///< of a linear axis; if not set, it shows all that the series have
  std::optional<Limits> y_limits = {};
  bool equal_aspect = false;  ///< a unit is as long on one axis as on the other, so that circles are round
  Array picture = {};         ///< under the axes from limit to limit, as png() takes it
  double width = 720;         ///< pixels; with an equal aspect the most of them
  double height = 420;
};

/// A picture with all series in it: axes with round numbers, whole ones where the series have no others (epochs), and
/// on a logarithmic axis powers of two where they begin and end with such (sizes); a legend if a series has a name, the
/// numbers of each point under the pointer. There are seven colours; the eighth series has that of the first again. A
/// series that a later one with the same x covers is drawn wider, so that both are seen. Throws ValueError if a series
/// has different counts of x and y, limits are not two finite numbers in order or of a logarithmic axis, a picture has
/// no limits, an equal aspect is asked of axes of different scales, or the plot would be smaller than 200 x 150 pixels.
std::string line_plot(const std::vector<Series>& series, const PlotOptions& options = {});

/// One plot of a figure: its series, title and axes.
struct PlotPanel {
  std::vector<Series> series = {};
  std::string title = {};
  std::string x_label = {};
  std::string y_label = {};
  Scale x_scale = Scale::linear;
  Scale y_scale = Scale::linear;
  std::optional<Limits> x_limits = {};
  std::optional<Limits> y_limits = {};
  bool equal_aspect = false;
  Array picture = {};
};

struct PanelPlotOptions {
  std::string title = {};
  std::size_t columns = 2;  ///< panels in one row
  double width = 400;       ///< of a panel, in pixels
  double height = 320;
};

/// A figure of plots, row after row, each with axes of its own. Series that every panel has, by names and styles, are
/// explained once for all. Throws ValueError as line_plot, and without panels or columns.
std::string panel_plot(const std::vector<PlotPanel>& panels, const PanelPlotOptions& options = {});

/// A picture for a plot of classes (H, W), of which the first row is the lowest: each in the pale colour of the series
/// of its number. Throws ShapeError for another shape, ValueError for a negative number.
Array regions(const Index& classes);

}  // namespace xgrad::kit
