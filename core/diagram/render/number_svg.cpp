// Drawing the numbers of a run.
#include "number_svg.h"

#include <algorithm>
#include <cmath>

#include "../../base/text.h"
#include "../view/labels.h"

namespace xgrad::detail {
namespace {

std::string px(double value) { return str(std::round(value * 10) / 10 + 0.0); }

std::string cells(const NumbersSummary& summary, const NumberPicture& picture, double left, double top) {
  const double width = picture.cell_width, height = picture.cell_height;
  double most = 0;
  for (const Real number : summary.numbers) {
    if (std::isfinite(number)) most = std::max(most, std::abs(double(number)));
  }
  std::string svg = str("<g class=\"cells\"><rect class=\"ground\" x=\"", px(left), "\" y=\"", px(top), "\" width=\"",
                        px(picture.width()), "\" height=\"", px(picture.height()), "\"/>");
  for (int i = 0; i < picture.rows * picture.columns; ++i) {
    const auto number = static_cast<double>(summary.numbers[static_cast<std::size_t>(i)]);
    const double x = left + i % picture.columns * width, y = top + i / picture.columns * height;
    const bool finite = std::isfinite(number);
    append(svg, str("<rect class=\"",
                    !finite      ? "bad"
                    : number < 0 ? "minus"
                                 : "plus",
                    "\" x=\"", px(x), "\" y=\"", px(y), "\" width=\"", px(width), "\" height=\"", px(height), '"'));
    if (finite)
      append(svg, str(" fill-opacity=\"", most > 0 ? std::round(90 * std::abs(number) / most) / 100 : 0, '"'));
    append(svg, "/>");
    if (!picture.has_digits && finite) continue;
    const std::string text = cell_text(number, picture.decimals);
    append(svg, str("<text x=\"", px(x + width / 2), "\" y=\"", px(y + height / 2 + 3.2), "\">", text, "</text>"));
  }
  return svg + "</g>";
}

// The outline of the bars, and a line at 0 if it is among them.
std::string bars(const NumbersSummary& summary, const NumberPicture& picture, double left, double top) {
  const double bottom = top + picture.height(), most = static_cast<double>(std::ranges::max(summary.histogram));
  std::string svg = str("<path class=\"bars\" d=\"M", px(left), ',', px(bottom));
  for (std::size_t i = 0; i < summary.histogram.size(); ++i) {
    const auto count = static_cast<double>(summary.histogram[i]);
    const double height = count > 0 ? std::max(picture.height() * count / most, 1.0) : 0;
    append(svg, str('V', px(bottom - height), 'H', px(left + static_cast<double>(i + 1) * picture.cell_width)));
  }
  append(svg,
         str('V', px(bottom), "Z\"/><path class=\"axis\" d=\"M", px(left), ',', px(bottom), 'h', px(picture.width())));
  if (summary.least < 0 && summary.greatest > 0) {
    const double zero = left - picture.width() * summary.least / (summary.greatest - summary.least);
    append(svg, str('M', px(zero), ',', px(top), 'V', px(bottom + 2)));
  }
  return svg + "\"/>";
}

}  // namespace

std::string numbers_in_svg(const NumbersSummary& summary, const GraphPoint& middle) {
  const NumberPicture picture = picture_of(summary);
  const double left = middle.x - picture.width() / 2, top = middle.y - picture.height() / 2;
  return picture.kind == NumberPicture::cells ? cells(summary, picture, left, top) : bars(summary, picture, left, top);
}

}  // namespace xgrad::detail
