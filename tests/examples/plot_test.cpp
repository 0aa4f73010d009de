// Line plots: ticks, drawings, errors.
#include <doctest/doctest.h>

#include <cmath>
#include <functional>

#include <xgrad/kit/draw/plot.h>
#include <xgrad/kit/draw/ticks.h>

#include "support.h"

namespace xgrad::kit::testing {
namespace {

const double nan = std::nan("");

std::vector<std::string> ticks(double low, double high, int about) { return tick_labels(nice_ticks(low, high, about)); }

std::vector<double> of_circles(const std::string& name, const std::string& svg) {
  return attributes(svg, "circle", name);
}

/// The plot of one series without a name.
std::string plot_of(const std::vector<double>& x, const std::vector<double>& y, const PlotOptions& options = {}) {
  return line_plot({{"", x, y}}, options);
}

/// The pieces of the first line of a picture.
std::size_t pieces(const std::string& svg) {
  const std::size_t path = svg.find(" d=\"");
  return count_of("M", svg.substr(path, svg.find('"', path + 4) - path));
}

/// A text that an axis has at a tick.
struct TickLabel {
  double x, y;
  std::string text;
};
/// The labels of the x axes (text-anchor "middle") or the y axes ("end") of a plot.
std::vector<TickLabel> tick_labels_of(const std::string& svg, const std::string& anchor) {
  std::vector<TickLabel> labels;
  for (std::size_t at = svg.find("<text"); at != svg.npos; at = svg.find("<text", at + 1)) {
    const std::size_t end = svg.find('>', at);
    const std::string tag = svg.substr(at, end + 1 - at);
    if (tag.find(str("font-size=\"11\" text-anchor=\"", anchor, "\"")) == tag.npos) continue;
    labels.push_back({attributes(tag, "text", "x")[0], attributes(tag, "text", "y")[0],
                      svg.substr(end + 1, svg.find('<', end) - end - 1)});
  }
  return labels;
}

/// Checks that there are labels at ticks, and that none touches the next.
void check_room_for_labels(const std::string& svg) {
  for (const std::string anchor : {"middle", "end"}) {
    const std::vector<TickLabel> labels = tick_labels_of(svg, anchor);
    CHECK(!labels.empty());
    for (std::size_t i = 1; i < labels.size(); ++i) {
      const TickLabel &one = labels[i - 1], &next = labels[i];
      const double width = (text_width(one.text, 11) + text_width(next.text, 11)) / 2;
      const bool apart = anchor == "middle" ? next.x - one.x > width + 4 : one.y - next.y >= 11;
      CHECK_MESSAGE(apart, one.text, " at ", one.x, ", ", one.y, " and ", next.text, " at ", next.x, ", ", next.y);
    }
  }
}

}  // namespace

TEST_CASE("ticks are round numbers inside the range") {
  using Labels = std::vector<std::string>;
  CHECK(ticks(0, 1, 5) == Labels{"0.0", "0.2", "0.4", "0.6", "0.8", "1.0"});
  CHECK(ticks(-1, 1, 4) == Labels{"-1.0", "-0.5", "0.0", "0.5", "1.0"});
  CHECK(ticks(1, 200, 5) == Labels{"50", "100", "150", "200"});
  CHECK(ticks(0, 30000, 3) == Labels{"0", "10k", "20k", "30k"});
  CHECK(ticks(0, 4e6, 4) == Labels{"0", "1M", "2M", "3M", "4M"});
  CHECK(ticks(0.0302, 0.0308, 3) == Labels{"0.0302", "0.0304", "0.0306", "0.0308"});
  // Numbers as a person would write them.
  CHECK(ticks(0, 3e12, 3) == Labels{"0", "1T", "2T", "3T"});
  CHECK(ticks(0, 4e9, 4) == Labels{"0", "1G", "2G", "3G", "4G"});
  CHECK(ticks(0, 1.5e6, 3) == Labels{"0.0", "0.5M", "1.0M", "1.5M"});
  CHECK(ticks(0, 2000, 4) == Labels{"0", "500", "1000", "1500", "2000"});
  CHECK(ticks(12000, 12500, 5).front() == "12.0k");
  CHECK(ticks(0, 2e20, 2) == Labels{"0", "1×10²⁰", "2×10²⁰"});
  CHECK(ticks(0, 4e-7, 2) == Labels{"0", "2×10⁻⁷", "4×10⁻⁷"});
  CHECK(ticks(0, 4e-4, 2) == Labels{"0.0000", "0.0002", "0.0004"});
  std::vector<double> one{7, 7000};
  one.pop_back();
  CHECK(tick_labels(one) == Labels{"7"});
  CHECK_THROWS_AS(nice_ticks(1, 1, 5), ValueError);
  CHECK_THROWS_AS(nice_ticks(0, nan, 5), ValueError);
  CHECK_THROWS_AS(nice_ticks(0, 1, 0), ValueError);
}

TEST_CASE("a range of a few doubles has ticks at those, and one without doubles between its ticks is refused") {
  const double next = std::nextafter(1.0, 2.0);
  CHECK(nice_ticks(1, next, 6) == std::vector<double>{1, next});
  CHECK(nice_ticks(1e17, 1e17 + 16, 5) == std::vector<double>{1e17, 1e17 + 16});
  CHECK(nice_ticks(-1e17 - 16, -1e17, 5) == std::vector<double>{-1e17 - 16, -1e17});
  CHECK(nice_ticks(0x1p53, 0x1p53 + 4, 4) == std::vector<double>{0x1p53, 0x1p53 + 2, 0x1p53 + 4});
  const double most = std::numeric_limits<double>::max(), least = std::numeric_limits<double>::denorm_min();
  CHECK_REFUSED(ValueError, nice_ticks(-most, most, 5), "nice_ticks", "no numbers are so far apart as 5 from");
  CHECK_REFUSED(ValueError, nice_ticks(0, least, 5), "nice_ticks", "no numbers are so far apart as 5 from 0");
}

TEST_CASE("an axis has as many labels as fit beside each other") {
  const std::vector<Series> deciles{{.name = "a", .x = {-1.3, 1.3}, .y = {0, 1}}};
  check_room_for_labels(line_plot(deciles, {.width = 260, .height = 260}));
  CHECK(tick_labels_of(line_plot(deciles, {.width = 260, .height = 260}), "middle").size() == 5);
  CHECK(tick_labels_of(line_plot(deciles), "middle").size() == 13);  // all of them where there is room
  const std::vector<double> ends{0, 1, 1.1, 7, 13, 1e3, 54321, 1e6, 1e12, 3e-9};
  for (const double low : ends) {
    for (const double high : ends) {
      if (low >= high) continue;
      const std::vector<Series> series{{"", {low, high}, {-low, high}}};
      for (const double width : {200.0, 300.0, 720.0}) {
        const double height = width == 300 ? 150 : 420;
        check_room_for_labels(line_plot(series, {.width = width, .height = height}));
        check_room_for_labels(line_plot(series, {.equal_aspect = true, .width = width, .height = height}));
        check_room_for_labels(
            line_plot({{"", {low + 1e-9, high}, {low + 1e-9, high}}},
                      {.x_scale = Scale::log, .y_scale = Scale::log, .width = width, .height = height}));
      }
    }
  }
  for (const double ratio : {0.001, 0.1, 1.0, 10.0, 1000.0}) {
    check_room_for_labels(line_plot({{"", {300, 2000}, {0, 1700 * ratio}}}, {.equal_aspect = true}));
  }
}

TEST_CASE("points that cannot be shown interrupt the line") {
  CHECK(pieces(plot_of({1, 2, 3, 4, 5}, {1, 2, nan, 2, 1})) == 2);
  const std::string log = plot_of({1, 2, 3}, {1, 0, 100}, {.y_scale = Scale::log});
  check_svg(log, 2, {"<circle"});
  check_svg(log, 0, {"nan", "inf"});
  const std::string across = plot_of({1, 10, 0, 100, -3, 1000}, {1, 2, 3, 4, 5, 6}, {.x_scale = Scale::log});
  CHECK(pieces(across) == 3);
  check_svg(across, 4, {"<circle"});
  check_svg(across, 0, {"nan", "inf"});
}

TEST_CASE("a logarithmic axis has round numbers: y spans them, x has those in the data's range") {
  const std::string few = plot_of({1, 2}, {0.031, 0.3}, {.y_scale = Scale::log});
  check_labels(few, 1, {"0.02", "0.05", "0.1", "0.2", "0.5"});
  check_labels(few, 0, {"0.01"});
  const std::string many = plot_of({1, 2}, {1e-12, 1}, {.y_scale = Scale::log});
  check_labels(many, 1, {"10⁻¹²", "10⁻²", "10⁰"});  // as all of them: not 0.01 beside 10⁻¹²

  const std::string svg = plot_of({3, 30}, {0.15, 0.16}, {.x_scale = Scale::log});
  check_labels(svg, 1, {"5", "10", "20"});
  check_labels(svg, 0, {"1", "2", "50", "100"});
  const std::string decades = plot_of({0.001, 2e6}, {0.15, 0.16}, {.x_scale = Scale::log});
  check_labels(decades, 1, {"10⁻²", "10⁰", "10²", "10⁴", "10⁶"});
  check_labels(decades, 0, {"10¹"});  // nine powers of ten: every second has room
  const std::string ends = plot_of({1e-5, 1}, {1, 1e5}, {.x_scale = Scale::log, .y_scale = Scale::log});
  check_labels(ends, 1, {"10⁻⁵", "10⁵"});  // of which decimals would be long
  check_labels(ends, 2, {"10⁰"});
  check_labels(plot_of({3, 11}, {0.15, 0.16}, {.x_scale = Scale::log}), 0, {"2", "20"});  // 5 and 10 are enough
  const std::string narrow = plot_of({32, 33}, {0.15, 0.16}, {.x_scale = Scale::log});
  check_labels(narrow, 1, {"20", "50"});  // no two round numbers in between: those around it
}

TEST_CASE("what begins and ends with powers of two has such as ticks") {
  const std::string svg = plot_of({16, 32, 192, 256}, {0.15, 0.16, 0.17, 0.18}, {.x_scale = Scale::log});
  check_labels(svg, 1, {"16", "32", "64", "128", "256"});
  check_labels(svg, 0, {"20", "100"});
  const std::string small = plot_of({0.125, 1}, {3, 5}, {.x_scale = Scale::log});
  check_labels(small, 1, {"0.125", "0.5", "1"});
  check_labels(small, 0, {"0.250"});
  const std::string large = plot_of({1, 1 << 20}, {0.15, 0.16}, {.x_scale = Scale::log});
  check_labels(large, 1, {"2⁰", "2³", "2⁹", "2¹⁵", "2¹⁸"});
  check_labels(plot_of({16, 48}, {0.15, 0.16}, {.x_scale = Scale::log}), 0, {"16"});
}

TEST_CASE("ticks are whole where the numbers are") {
  const std::string epochs = plot_of({1, 2, 3}, {0.15, 0.16, 0.17});
  check_labels(epochs, 1, {"1", "2", "3"});
  check_labels(epochs, 0, {"1.0", "1.5", "2.0", "2.5"});
  check_labels(plot_of({1, 2.1, 3}, {5, 6, 7}), 0, {"2.5"});
  check_labels(plot_of({1, 1.9, 2}, {5, 6, 7}), 1, {"1.2"});
  const std::string counts = plot_of({0.1, 0.2}, {2, 3});
  check_labels(counts, 1, {"2"});
  check_labels(counts, 0, {"2.2"});
  check_labels(plot_of({7}, {0.15}), 1, {"7"});
  check_labels(plot_of({6}, {0}), 1, {"3", "9", "-1"});  // a half less and more, and a unit around 0
}

TEST_CASE("panels have one legend if they show the same series") {
  const PlotPanel loss{.series = {{"plain", {1, 2, 3}, {0.15, 0.16, 0.17}}, {"residual", {1, 2, 3}, {0.16, 0.18, 0.19}}}};
  PlotPanel other = loss;
  other.series[0].y = {100, 1000, 1e4};
  check_labels(panel_plot({loss, other, loss}), 1, {"plain", "residual"});
  other.series[1].name = "another";
  check_labels(panel_plot({loss, other}), 2, {"plain"});
  other.series = loss.series;
  other.series[1].style = Series::Style::marked;
  check_labels(panel_plot({loss, other}), 2, {"plain"});
  // One panel without a title of the figure is a plot.
  const std::string alone = panel_plot({loss}, {.width = 720, .height = 420});
  CHECK(of_circles("cx", alone) == of_circles("cx", line_plot(loss.series)));
}

TEST_CASE("a legend takes another row only where its names do not fit between the margins") {
  using Of = std::function<std::string(const std::vector<Series>&)>;
  const auto panels = [](std::size_t count, const std::vector<Series>& series) {
    return std::vector<PlotPanel>(count, {.series = series});
  };
  const Of plot = [](const auto& series) { return line_plot(series, {.width = 300}); };
  const Of panel = [&](const auto& series) { return panel_plot(panels(1, series), {.width = 300}); };
  const Of shared = [&](const auto& series) { return panel_plot(panels(2, series), {.columns = 2, .width = 300}); };
  const Of own = [&](const auto& series) {
    std::vector<PlotPanel> both = panels(2, series);
    both[1].series.pop_back();
    return panel_plot(both, {.columns = 2, .width = 300});
  };
  for (const auto& [svg_of, width] : {std::pair(plot, 300), {panel, 300}, {shared, 600}, {own, 300}}) {
    double end = 0, begin = 0;  // of the longest row, and where it begins
    for (std::size_t n = 1; n < 400; ++n) {
      const std::vector<std::string> names{"plain", std::string(n, 'i')};
      const std::string svg = svg_of({{names[0], {1, 2}, {1, 2}}, {names[1], {1, 2}, {1, 2}}});
      std::vector<double> x, y;
      for (const std::string& name : names) {
        const std::size_t tag = svg.rfind("<text", svg.find(">" + name + "</text>"));
        x.push_back(attributes(svg.substr(tag), "text", "x")[0]);
        y.push_back(attributes(svg.substr(tag), "text", "y")[0]);
      }
      if (y[1] > y[0]) break;
      end = x[1] + text_width(names[1], 12);
      begin = x[0] - 28;  // the line before the name
    }
    CHECK(begin == 20);
    CHECK(end < width - 20 + 0.01);  // rounded to hundredths
    CHECK(end > width - 20 - text_width("i", 12) - 0.01);
  }
}

TEST_CASE("an axis has the limits that it is given") {
  const std::vector<Series> series{{"", {0, 1, 2, 3, 4}, {0.5, 10, 1000, 10, 0.5}, Series::Style::marked}};
  check_svg(line_plot(series, {.y_limits = Limits{0, 20}}), 4, {"<circle"});  // of 1000 there is no point
  const std::string near = line_plot(series, {.x_limits = Limits{0, 1}});
  check_labels(near, 0, {"1000"});  // heights are those of what is in sight
  check_labels(near, 1, {"10"});
  CHECK(plot_of({0, 1}, {0, 1e300}, {.y_limits = Limits{0, 1}}).size() < 10'000);
  check_labels(plot_of({0, 1}, {0, 1}, {.x_limits = Limits{0.1, 0.9}}), 1, {"0.5"});  // without an integer
}

TEST_CASE("units are as long on one axis as on the other if that is asked for") {
  const std::vector<Series> square{{"", {0, 3, 3, 0}, {0, 0, 2, 2}, Series::Style::marked}};
  for (const double width : {300.0, 900.0}) {
    const std::string svg = line_plot(square, {.equal_aspect = true, .width = width, .height = 420});
    const std::vector<double> x = of_circles("cx", svg), y = of_circles("cy", svg);
    REQUIRE(x.size() == 4);
    CHECK((x[1] - x[0]) / 3 == doctest::Approx((y[1] - y[2]) / 2).epsilon(1e-3));
    CHECK(x[1] < width);
  }
  const std::vector<Series> line{{"", {1, 10, 100}, {1, 10, 100}, Series::Style::marked}};
  const std::string log = line_plot(line, {.x_scale = Scale::log, .y_scale = Scale::log, .equal_aspect = true});
  const std::vector<double> x = of_circles("cx", log), y = of_circles("cy", log);
  CHECK(x[2] - x[0] == doctest::Approx(y[0] - y[2]).epsilon(1e-3));
}

TEST_CASE("with equal units the sheet is as wide and as high as the axes and the texts need") {
  const std::vector<double> tall = attributes(line_plot({{"", {0, 1}, {0, 5}}}, {.equal_aspect = true}), "svg", "width"),
                            wide = attributes(line_plot({{"", {0, 9}, {0, 1}}}, {.equal_aspect = true}), "svg", "height");
  CHECK(tall[0] < 200);
  CHECK(wide[0] < 200);
  const std::string title = "a title that is wider than the axes";
  const std::string svg = line_plot({{"", {0, 1}, {0, 5}}}, {.title = title, .equal_aspect = true});
  CHECK(attributes(svg, "svg", "width")[0] == doctest::Approx(bold_width(title, 16) + 40));
}

TEST_CASE("regions have the colours of series, which come round") {
  CHECK(equal(regions(Index({1, 1}, {8})), regions(Index({1, 1}, {1}))));
  CHECK_REFUSED(ShapeError, regions(Index({2}, {0, 1})), "regions", "classes (H, W), got [2]");
  CHECK_REFUSED(ShapeError, regions(Index(Shape{0, 2})), "regions", "[0, 2]");
  CHECK_REFUSED(ValueError, regions(Index({1, 1}, {-1})), "regions", "no series has the number -1");
}

TEST_CASE("of two lines that lie on each other both are seen") {
  const std::vector<double> x{1, 2, 3};
  const auto check_widths = [&](const std::vector<double>& second, std::size_t thick, std::size_t thin) {
    const std::string svg = line_plot({{"below", x, {1, 2, 3}}, {"above", x, second}});
    check_svg(svg, thick, {"stroke-width=\"6\""});
    check_svg(svg, thin, {"stroke-width=\"2\""});
  };
  check_widths({1, 2, 3}, 1, 1);
  check_widths({1, 2, 3.001}, 1, 1);
  check_widths({1, 2, 2.5}, 0, 2);
  check_widths({1.5, 2, 3}, 0, 2);
}

TEST_CASE("no title, name or label of a plot is cut") {
  const std::string longest = "a very long name that does not fit into a single line of this plot at all";
  PlotOptions options{.title = longest, .x_label = longest, .y_label = longest, .width = 260, .height = 420};
  const std::string svg = line_plot({{longest, {1, 2}, {1, 2}}}, options);
  check_svg(svg, 0, {"…"});
  check_svg(svg, 4, {"all</text>"});
}

TEST_CASE("extreme data still makes a picture") {
  const double huge = std::numeric_limits<double>::infinity();
  const std::vector<std::vector<Series>> cases = {{},
                                                  {{"", {}, {}}},
                                                  {{"", {1}, {2}}},
                                                  {{"", {1, 2}, {0, 0}}},
                                                  {{"", {1, 2}, {-3, -3}}},
                                                  {{"", {1, 2}, {huge, nan}}},
                                                  {{"", {0, 1e300}, {-1e300, 1e300}}},
                                                  {{"", {1, 2}, {1e-300, 1e300}}},
                                                  {{"", {1e-300, 1e300}, {1e-300, 1e300}}},
                                                  {{"", {1e-300, 1e-300}, {1e300, 1e300}}},
                                                  {{"", {0x1p-900, 0x1p900}, {0x1p-900, 0x1p900}}},
                                                  {{"", {1, 2}, {1, 1 + 1e-16}}},
                                                  {{"", {0, 5e-324}, {0, 5e-324}}}};
  for (const auto& series : cases) {
    for (const Scale scale : {Scale::linear, Scale::log}) {
      for (const Scale across : {Scale::linear, Scale::log}) {
        const std::string svg = line_plot(series, {.x_scale = across, .y_scale = scale});
        check_svg(svg, 0, {"=\"nan", "=\"inf"});
        CHECK(svg.size() < 20'000);
      }
    }
  }
}

TEST_CASE("up to 500 points of a line tell their numbers under the pointer") {
  std::vector<double> many(500, 1.0);
  CHECK(of_circles("r", line_plot({{.y = many}})).size() == 500);
  many.push_back(1);
  CHECK(of_circles("r", line_plot({{.y = many}})).empty());
}

TEST_CASE("without x, points are numbered from 1 on") {
  CHECK(line_plot({{.name = "loss", .y = {3, 2, 1}}}) == line_plot({{"loss", {1, 2, 3}, {3, 2, 1}}}));
}

TEST_CASE("series, panels, limits and sizes that make no sense are refused") {
  const std::vector<Series> one{{"", {1, 2}, {1, 2}}}, uneven{{"loss", {1, 2}, {1}}};
  CHECK_REFUSED(ValueError, line_plot(uneven), "line_plot", "series 'loss' has 2 x and 1 y");
  CHECK_REFUSED(ValueError, panel_plot({{}, {.series = uneven}}), "panel_plot", "series 'loss' has 2 x and 1 y");
  CHECK_REFUSED(ValueError, panel_plot({}), "panel_plot", "no panels, or no columns");
  CHECK_REFUSED(ValueError, panel_plot({{}}, {.columns = 0}), "panel_plot", "no panels, or no columns");
  CHECK_REFUSED(ValueError, panel_plot({{}}, {.height = 149}), "panel_plot", "at least 200 x 150 pixels are needed");
  CHECK_THROWS_AS(line_plot({}, {.width = 10}), ValueError);
  for (const Limits& wrong :
       {Limits{1, 1}, Limits{2, 1}, Limits{nan, 1}, Limits{0, nan}, Limits{0, 1e301}, Limits{0, 5e-324}}) {
    CHECK_THROWS_AS(line_plot(one, {.x_limits = wrong}), ValueError);
    CHECK_THROWS_AS(panel_plot({{.series = one, .y_limits = wrong}}), ValueError);
  }
  CHECK_REFUSED(ValueError, line_plot(one, {.x_scale = Scale::log, .x_limits = Limits{1, 2}}), "line_plot",
                "limits are for linear axes");
  CHECK_REFUSED(ValueError, line_plot({}, {.picture = Array(Shape{1, 2, 4}, 0)}), "line_plot", "a picture needs limits");
  CHECK_REFUSED(ValueError, line_plot(one, {.x_scale = Scale::log, .equal_aspect = true}), "line_plot",
                "axes of different scales have no equal aspect");
}

}  // namespace xgrad::kit::testing
