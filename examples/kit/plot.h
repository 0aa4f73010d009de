// Line plots as SVG: loss curves, fitted functions, comparisons.
#pragma once

#include <string>
#include <vector>

#include <xgrad/core/error.h>

namespace xgrad::kit {

/// A named row of points, one for each y. A point that is not finite, or not positive on a logarithmic axis, is left
/// out and interrupts the line.
struct Series {
  enum class Style {
    line,
    dashed,
    points,
    area  ///< the surface that the points go round, pale
  };

  std::string name = {};
  std::vector<double> x = {};  ///< 1, 2, 3, ... if empty
  std::vector<double> y = {};
  Style style = Style::line;
};

/// How the numbers of an axis are spread.
enum class Scale { linear, log };

struct PlotOptions {
  std::string title = {};
  std::string x_label = {};
  std::string y_label = {};
  Scale y_scale = Scale::linear;
  double width = 720;  ///< pixels
  double height = 420;
};

/// A picture with all series in it: axes with round numbers, a legend if a series has a name, the numbers of each point
/// under the pointer. Throws ValueError if a series has different counts of x and y, or the picture would be
/// smaller than 200 x 150 pixels.
std::string line_plot(const std::vector<Series>& series, const PlotOptions& options = {});

/// Round numbers (1, 2 or 5 times a power of ten apart) within [low, high], about `count` of them. Throws
/// ValueError unless low < high, both finite, and count >= 1.
std::vector<double> nice_ticks(double low, double high, int count);

/// Labels of evenly spaced ticks, all with as many decimals as their distance needs; thousands and millions as k and M
/// where the distance allows it: 0.5 1.0 1.5, or 0 20k 40k.
std::vector<std::string> tick_labels(const std::vector<double>& ticks);

}  // namespace xgrad::kit
