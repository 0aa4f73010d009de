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

/// A named series of points, one for each y. A point that is not finite, or not positive on a logarithmic axis, is
/// omitted and interrupts the line.
struct Series {
  enum class Style {
    line,
    dashed,
    marked,  ///< a line with a dot at each point
    points,
    area  ///< the area that the points enclose, in a pale colour
  };

  std::string name = {};
  Values x = {};  ///< 1, 2, 3, ... if empty
  Values y = {};
  Style style = Style::line;
};

/// The scale of an axis. If both axes are logarithmic, y = a x^b is a straight line of slope b.
enum class Scale { linear, log };

/// The first and the last value on an axis.
struct Limits {
  double low = 0, high = 1;
};

struct PlotOptions {
  std::string title = {};
  std::string x_label = {};
  std::string y_label = {};
  Scale x_scale = Scale::linear;
  Scale y_scale = Scale::linear;
  std::optional<Limits> x_limits = {};  ///< for linear axes; by default the range of all series
  std::optional<Limits> y_limits = {};
  bool equal_aspect = false;  ///< whether a unit is equally long on both axes, so that circles are round
  Array picture = {};         ///< an image behind the series, from limit to limit, in the form that png() takes
  double width = 720;         ///< in pixels; the maximum width if equal_aspect
  double height = 420;
};

/// A line plot of all series as SVG, with a legend if a series has a name, and the values of each point in tooltips.
/// Ticks are round numbers, and integers if all values are (epochs). On a logarithmic axis whose range starts and ends
/// with powers of two (sizes), ticks are powers of two. There are seven colours; the eighth series has the first colour
/// again. If a later series with the same x covers a series, the covered one is drawn wider, so that both are visible.
/// Throws ValueError
/// - if a series has different numbers of x and y,
/// - if limits are not two finite numbers in order, or belong to a logarithmic axis,
/// - if an image has no limits, or an equal aspect is requested for different scales,
/// - if the plot would be smaller than 200 x 150 pixels.
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
  std::size_t columns = 2;  ///< number of panels in one row
  double width = 400;       ///< width of a panel in pixels
  double height = 320;
};

/// A figure of several plots in rows, each with its own axes. Series that all panels have in common, by name and style,
/// appear in one legend. Throws ValueError in the cases of line_plot, and if there are no panels or columns.
std::string panel_plot(const std::vector<PlotPanel>& panels, const PanelPlotOptions& options = {});

/// An image for PlotOptions::picture that shows the class of each point. `classes` is (H, W), with row 0 at the bottom.
/// A point of class i has the pale colour of series i. Throws ShapeError for another shape, and ValueError for a
/// negative number.
Array regions(const Index& classes);

}  // namespace xgrad::kit
