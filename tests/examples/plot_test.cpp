// Line plots: ticks, drawings, errors.
#include <doctest/doctest.h>

#include <cmath>
#include <set>
#include <sstream>

#include <xgrad/kit/draw/plot.h>

#include "support.h"

using namespace xgrad::kit;
using xgrad::kit::testing::count_of;
using xgrad::kit::testing::hostile;
using xgrad::kit::testing::xml_error;

namespace {

/// The values of an attribute of all circles, in order.
std::vector<double> of_circles(std::string_view name, std::string_view svg) {
  const std::string before = " " + std::string(name) + "=\"";
  std::vector<double> values;
  for (std::size_t at = svg.find("<circle"); at != svg.npos; at = svg.find("<circle", at + 1)) {
    values.push_back(std::stod(std::string(svg.substr(svg.find(before, at) + before.size(), 20))));
  }
  return values;
}

/// How often a text stands on the sheet.
std::size_t labels(const std::string& text, const std::string& svg) { return count_of(">" + text + "</text>", svg); }

}  // namespace

TEST_CASE("ticks are round numbers inside the range") {
  CHECK(tick_labels(nice_ticks(0, 1, 5)) == std::vector<std::string>{"0.0", "0.2", "0.4", "0.6", "0.8", "1.0"});
  CHECK(tick_labels(nice_ticks(-1, 1, 4)) == std::vector<std::string>{"-1.0", "-0.5", "0.0", "0.5", "1.0"});
  CHECK(tick_labels(nice_ticks(1, 200, 5)) == std::vector<std::string>{"50", "100", "150", "200"});
  CHECK(tick_labels(nice_ticks(0, 30000, 3)) == std::vector<std::string>{"0", "10k", "20k", "30k"});
  CHECK(tick_labels(nice_ticks(0, 4e6, 4)) == std::vector<std::string>{"0", "1M", "2M", "3M", "4M"});
  CHECK(tick_labels(nice_ticks(0.0302, 0.0308, 3)) == std::vector<std::string>{"0.0302", "0.0304", "0.0306", "0.0308"});
  // Numbers as a person would write them.
  CHECK(tick_labels(nice_ticks(0, 3e12, 3)) == std::vector<std::string>{"0", "1T", "2T", "3T"});
  CHECK(tick_labels(nice_ticks(0, 4e9, 4)) == std::vector<std::string>{"0", "1G", "2G", "3G", "4G"});
  CHECK(tick_labels(nice_ticks(0, 1.5e6, 3)) == std::vector<std::string>{"0.0", "0.5M", "1.0M", "1.5M"});
  CHECK(tick_labels(nice_ticks(0, 2000, 4)) == std::vector<std::string>{"0", "500", "1000", "1500", "2000"});
  CHECK(tick_labels(nice_ticks(12000, 12500, 5)).front() == "12.0k");
  CHECK(tick_labels(nice_ticks(0, 2e20, 2)) == std::vector<std::string>{"0", "1×10²⁰", "2×10²⁰"});
  CHECK(tick_labels(nice_ticks(0, 4e-7, 2)) == std::vector<std::string>{"0", "2×10⁻⁷", "4×10⁻⁷"});
  CHECK(tick_labels(nice_ticks(0, 4e-4, 2)) == std::vector<std::string>{"0.0000", "0.0002", "0.0004"});
  CHECK_THROWS_AS(nice_ticks(1, 1, 5), xgrad::ValueError);
  CHECK_THROWS_AS(nice_ticks(0, std::nan(""), 5), xgrad::ValueError);
  CHECK_THROWS_AS(nice_ticks(0, 1, 0), xgrad::ValueError);
}

TEST_CASE("a plot has its titles, a legend, a line and a number under the pointer for each point") {
  const testing::CommaLocale commas;
  const std::string svg = line_plot({{"train & test", {1, 2, 3}, {0.3, 0.2, 0.1}},
                                     {"data", {1, 3}, {0.3, 0.1}, Series::Style::points},
                                     {"bound", {1, 3}, {0.1, 0.1}, Series::Style::dashed}},
                                    {.title = "Loss <small>", .x_label = "epoch", .y_label = "loss"});
  CHECK(xml_error(svg).empty());
  CHECK(count_of("<path", svg) == 2);
  CHECK(count_of("stroke-dasharray=\"6 5\"", svg) == 2);  // the line and its legend
  CHECK(count_of(">train &amp; test</text>", svg) == 1);
  CHECK(count_of("<title>train &amp; test  2: 0.2</title>", svg) == 1);
  CHECK(count_of("<title>data  ", svg) == 2);
  CHECK(count_of(">Loss &lt;small&gt;</text>", svg) == 1);
  CHECK(count_of(">epoch</text>", svg) == 1);
}

TEST_CASE("an area is a closed, pale surface without a line") {
  const std::string svg = line_plot({{"band", {0, 1, 1, 0}, {1, 2, 0, -1}, Series::Style::area}});
  CHECK(xml_error(svg).empty());
  CHECK(count_of("<path", svg) == 1);
  CHECK(count_of("Z\"", svg) == 1);
  CHECK(count_of("fill-opacity=\"0.15\"", svg) == 2);  // the surface and its legend
  CHECK(count_of("stroke-width", svg) == 0);
}

TEST_CASE("points that cannot be shown interrupt the line") {
  const double nan = std::nan("");
  const std::string svg = line_plot({{"", {1, 2, 3, 4, 5}, {1, 2, nan, 2, 1}}});
  const std::size_t path = svg.find(" d=\"");
  CHECK(count_of("M", svg.substr(path, svg.find('"', path + 4) - path)) == 2);
  const std::string log = line_plot({{"", {1, 2, 3}, {1, 0, 100}}}, {.y_scale = Scale::log});
  CHECK(count_of("<circle", log) == 2);
  CHECK(log.find("nan") == log.npos);
  CHECK(log.find("inf") == log.npos);
}

TEST_CASE("a logarithmic axis spans round numbers") {
  const std::string few = line_plot({{"", {1, 2}, {0.031, 0.3}}}, {.y_scale = Scale::log});
  for (const char* label : {">0.02<", ">0.05<", ">0.1<", ">0.2<", ">0.5<"}) {
    CAPTURE(label);
    CHECK(count_of(label, few) == 1);
  }
  CHECK(count_of(">0.01<", few) == 0);
  const std::string many = line_plot({{"", {1, 2}, {1e-12, 1}}}, {.y_scale = Scale::log});
  CHECK(count_of(">10⁻¹²<", many) == 1);
  CHECK(count_of(">10⁻²<", many) == 1);  // as all of them: not 0.01 beside 10⁻¹²
  CHECK(count_of(">10⁰<", many) == 1);
}

TEST_CASE("a logarithmic x axis has the round numbers that are in the data's range") {
  const std::string svg = line_plot({{"", {3, 30}, {0.15, 0.16}}}, {.x_scale = Scale::log});
  for (const char* inside : {"5", "10", "20"}) CHECK(labels(inside, svg) == 1);
  for (const char* outside : {"1", "2", "50", "100"}) CHECK(labels(outside, svg) == 0);
  const std::string decades = line_plot({{"", {0.001, 2e6}, {0.15, 0.16}}}, {.x_scale = Scale::log});
  for (const char* inside : {"10⁻²", "10⁰", "10²", "10⁴", "10⁶"}) CHECK(labels(inside, decades) == 1);
  CHECK(labels("10¹", decades) == 0);  // nine powers of ten: every second has room
  const std::string narrow = line_plot({{"", {32, 33}, {0.15, 0.16}}}, {.x_scale = Scale::log});
  CHECK(labels("20", narrow) == 1);  // no two round numbers in between: those around it
  CHECK(labels("50", narrow) == 1);
}

TEST_CASE("what begins and ends with powers of two has such as ticks") {
  const std::string svg = line_plot({{"", {16, 32, 192, 256}, {0.15, 0.16, 0.17, 0.18}}}, {.x_scale = Scale::log});
  for (const char* power : {"16", "32", "64", "128", "256"}) CHECK(labels(power, svg) == 1);
  CHECK(labels("20", svg) == 0);
  CHECK(labels("100", svg) == 0);
  const std::string small = line_plot({{"", {0.125, 1}, {3, 5}}}, {.x_scale = Scale::log});
  for (const char* power : {"0.125", "0.5", "1"}) CHECK(labels(power, small) == 1);
  CHECK(labels("0.250", small) == 0);
  const std::string large = line_plot({{"", {1, 1 << 20}, {0.15, 0.16}}}, {.x_scale = Scale::log});
  for (const char* power : {"2⁰", "2³", "2⁹", "2¹⁵", "2¹⁸"}) CHECK(labels(power, large) == 1);
  CHECK(labels("16", line_plot({{"", {16, 48}, {0.15, 0.16}}}, {.x_scale = Scale::log})) == 0);
}

TEST_CASE("a power is a straight line if both axes are logarithmic") {
  const std::string svg =
      line_plot({{"", {1, 10, 100, 1000}, {1, 100, 1e4, 1e6}}}, {.x_scale = Scale::log, .y_scale = Scale::log});
  const std::vector<double> x = of_circles("cx", svg), y = of_circles("cy", svg);
  REQUIRE(x.size() == 4);
  for (std::size_t i = 1; i < 4; ++i) {
    CHECK(x[i] - x[i - 1] == doctest::Approx((x[3] - x[0]) / 3).epsilon(1e-3));
    CHECK(y[i - 1] - y[i] == doctest::Approx((y[0] - y[3]) / 3).epsilon(1e-3));
  }
}

TEST_CASE("what is not positive is left out of a logarithmic x axis and interrupts the line") {
  const std::string svg = line_plot({{"", {1, 10, 0, 100, -3, 1000}, {1, 2, 3, 4, 5, 6}}}, {.x_scale = Scale::log});
  CHECK(of_circles("cx", svg).size() == 4);
  const std::size_t path = svg.find(" d=\"");
  CHECK(count_of("M", svg.substr(path, svg.find('"', path + 4) - path)) == 3);
  CHECK(svg.find("nan") == svg.npos);
  CHECK(svg.find("inf") == svg.npos);
}

TEST_CASE("ticks are whole where the numbers are") {
  const std::string epochs = line_plot({{"", {1, 2, 3}, {0.15, 0.16, 0.17}}});
  for (const char* whole : {"1", "2", "3"}) CHECK(labels(whole, epochs) == 1);
  for (const char* part : {"1.0", "1.5", "2.0", "2.5"}) CHECK(labels(part, epochs) == 0);
  CHECK(labels("2.5", line_plot({{"", {1, 2.1, 3}, {5, 6, 7}}})) == 0);
  CHECK(labels("1.2", line_plot({{"", {1, 1.9, 2}, {5, 6, 7}}})) == 1);
  const std::string counts = line_plot({{"", {0.1, 0.2}, {2, 3}}});
  CHECK(labels("2", counts) == 1);
  CHECK(labels("2.2", counts) == 0);
  CHECK(labels("7", line_plot({{"", {7}, {0.15}}})) == 1);
}

TEST_CASE("markers are dots on the line and in the legend") {
  const std::string svg = line_plot({{"cost", {1, 2, 3}, {0.1, 0.3, 0.2}, Series::Style::marked}});
  CHECK(xml_error(svg).empty());
  CHECK(count_of("<path", svg) == 1);
  CHECK(count_of("r=\"3.5\"", svg) == 4);
  CHECK(count_of("fill-opacity=\"0\"", svg) == 0);
  CHECK(count_of("<title>cost  2: 0.3</title>", svg) == 1);
}

TEST_CASE("panels have axes of their own, and one legend if they show the same series") {
  const testing::CommaLocale commas;
  PlotPanel loss{.series = {{"plain", {1, 2, 3}, {0.15, 0.16, 0.17}}, {"residual", {1, 2, 3}, {0.16, 0.18, 0.19}}},
                 .title = "Loss",
                 .x_label = "epoch"};
  PlotPanel time = loss;
  time.title = "Time";
  time.y_scale = Scale::log;
  time.series[0].y = {100, 1000, 1e4};
  const std::string svg = panel_plot({loss, time, loss}, {.title = "Both & more", .width = 300, .height = 200});
  CHECK(xml_error(svg).empty());
  CHECK(labels("Both &amp; more", svg) == 1);
  CHECK(labels("Loss", svg) == 2);
  CHECK(labels("Time", svg) == 1);
  CHECK(labels("epoch", svg) == 3);
  CHECK(labels("10000", svg) == 1);
  CHECK(labels("plain", svg) == 1);
  CHECK(count_of("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"600\"", svg) == 1);
  const std::vector<double> x = of_circles("cx", svg), y = of_circles("cy", svg);
  REQUIRE(x.size() == 18);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(x[i + 12] == doctest::Approx(x[i]));
    CHECK(y[i + 12] == doctest::Approx(y[i] + 200).epsilon(1e-4));  // rounded to hundredths
    CHECK(x[i + 6] > 300);
  }

  time.series[1].name = "another";
  CHECK(labels("plain", panel_plot({loss, time})) == 2);
  time.series = loss.series;
  time.series[1].style = Series::Style::marked;
  CHECK(labels("plain", panel_plot({loss, time})) == 2);
  CHECK(panel_plot({loss, time}) == panel_plot({loss, time}));

  // One panel without a title of the figure is a plot with a smaller title.
  loss.title.clear();
  const std::string alone = panel_plot({loss}, {.width = 720, .height = 420});
  CHECK(of_circles("cx", alone) == of_circles("cx", line_plot(loss.series, {.x_label = "epoch"})));
}

TEST_CASE("panels that cannot be drawn are refused") {
  using xgrad::ValueError;
  CHECK_THROWS_WITH_AS(panel_plot({}), "panel_plot: no panels, or no columns", ValueError);
  CHECK_THROWS_WITH_AS(panel_plot({{}}, {.columns = 0}), "panel_plot: no panels, or no columns", ValueError);
  CHECK_THROWS_WITH_AS(panel_plot({{}}, {.height = 149}), "panel_plot: at least 200 x 150 pixels are needed",
                       ValueError);
  CHECK_THROWS_WITH_AS(panel_plot({{}, {.series = {{"loss", {1, 2}, {1}}}}}),
                       "panel_plot: series 'loss' has 2 x and 1 y", ValueError);
}

TEST_CASE("an axis has the limits that it is given") {
  const std::vector<Series> series{{"", {0, 1, 2, 3, 4}, {0.5, 10, 1000, 10, 0.5}, Series::Style::marked}};
  const std::string svg = line_plot(series, {.x_limits = Limits{0, 8}, .y_limits = Limits{0, 20}});
  CHECK(xml_error(svg).empty());
  CHECK(labels("7", svg) == 1);
  CHECK(labels("20", svg) == 1);
  CHECK(of_circles("cx", svg).size() == 4);  // of 1000 there is no point,
  CHECK(count_of("<svg x=", svg) == 1);      // and the line to it ends at the edge
  CHECK(count_of("<svg x=", line_plot(series)) == 0);
  const std::string near = line_plot(series, {.x_limits = Limits{0, 1}});
  CHECK(labels("1000", near) == 0);  // heights are those of what is in sight
  CHECK(labels("10", near) == 1);
  const std::string log = line_plot({{"", {1, 2}, {1, 1000}}}, {.y_scale = Scale::log, .y_limits = Limits{3, 300}});
  for (const char* inside : {"10", "100"}) CHECK(labels(inside, log) == 1);
  CHECK(labels("1000", log) == 0);
  const std::string narrow = line_plot({{"", {30, 40}, {1, 1}}}, {.x_scale = Scale::log, .x_limits = Limits{31, 39}});
  CHECK(labels("32", narrow) == 1);  // no round number of a logarithmic axis is in there
  const std::string far = line_plot({{"", {0, 1}, {0, 1e300}}}, {.y_limits = Limits{0, 1}});
  CHECK(far.size() < 10'000);

  using xgrad::ValueError;
  const double nan = std::nan("");
  for (const Limits& wrong : {Limits{1, 1}, Limits{2, 1}, Limits{nan, 1}, Limits{0, nan}, Limits{0, 1e301}}) {
    CHECK_THROWS_AS(line_plot(series, {.x_limits = wrong}), ValueError);
    CHECK_THROWS_AS(panel_plot({{.series = series, .y_limits = wrong}}), ValueError);
  }
  CHECK_THROWS_WITH_AS(line_plot(series, {.x_scale = Scale::log, .x_limits = Limits{0, 1}}),
                       "line_plot: no axis from 0 to 1", ValueError);
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
  CHECK_THROWS_WITH_AS(line_plot(square, {.x_scale = Scale::log, .equal_aspect = true}),
                       "line_plot: axes of different scales have no equal aspect", xgrad::ValueError);
}

TEST_CASE("28 lines and 35 rows of points can be told apart") {
  for (const Series::Style style : {Series::Style::line, Series::Style::dashed, Series::Style::points}) {
    const std::size_t count = style == Series::Style::points ? 35 : 28;
    std::vector<Series> series;
    for (std::size_t i = 0; i < count; ++i) series.push_back({"", {0}, {static_cast<double>(i)}, style});
    const std::string svg = line_plot(series);
    CHECK(xml_error(svg).empty());
    // Attributes of a series besides its place: colour, dashes, marker.
    std::set<std::string> looks;
    std::istringstream lines(svg);
    std::string colour;
    for (std::string line; std::getline(lines, line);) {
      const auto value = [&](const std::string& name) {
        const std::size_t at = line.find(" " + name + "=\"");
        return at == line.npos ? "" : line.substr(at, line.find('"', at + name.size() + 3) - at);
      };
      if (style == Series::Style::points) {
        if (line.starts_with("<g fill=")) colour = value("fill");
        if (line.starts_with("<circle") || line.starts_with("<path")) looks.insert(colour + value("d"));
      } else if (line.starts_with("<path")) {
        looks.insert(value("stroke") + value("stroke-dasharray"));
      }
    }
    CHECK(looks.size() == count);
  }
}

TEST_CASE("of two lines that lie on each other both are seen") {
  const std::vector<double> x{1, 2, 3};
  const auto widths = [&](const std::vector<double>& second) {
    const std::string svg = line_plot({{"below", x, {1, 2, 3}}, {"above", x, second}});
    return std::pair(count_of("stroke-width=\"6\"", svg), count_of("stroke-width=\"2\"", svg));
  };
  CHECK(widths({1, 2, 3}) == std::pair<std::size_t, std::size_t>(1, 1));
  CHECK(widths({1, 2, 3.001}) == std::pair<std::size_t, std::size_t>(1, 1));
  CHECK(widths({1, 2, 2.5}) == std::pair<std::size_t, std::size_t>(0, 2));
}

TEST_CASE("no title, name or label of a plot is cut") {
  const std::string longest = "a very long name that does not fit into a single line of this plot at all";
  PlotOptions options{.title = longest, .x_label = longest, .y_label = longest, .width = 260, .height = 420};
  const std::string svg = line_plot({{longest, {1, 2}, {1, 2}}}, options);
  CHECK(xml_error(svg).empty());
  CHECK(count_of("…", svg) == 0);
  CHECK(count_of("all</text>", svg) == 4);
}

TEST_CASE("a plot is light, or dark where the reader prefers that") {
  const std::vector<Series> series{{"a", {1, 2}, {3, 4}}};
  const std::string svg = line_plot(series);
  CHECK(count_of("@media (prefers-color-scheme:dark){", svg) == 1);
  CHECK(count_of("fill=\"#ffffff\" class=\"fillffffff0d1117\"", svg) == 1);
  CHECK(count_of(".fillffffff0d1117{fill:#0d1117}", svg) == 1);
  CHECK(count_of("stroke=\"#0072b2\"", svg) == 2);  // the line and its legend
  CHECK(count_of(".stroke0072b23d9be0{stroke:#3d9be0}", svg) == 1);
  CHECK(count_of("@media", panel_plot({{.series = series}})) == 1);
}

TEST_CASE("hostile text stays text") {
  const Series series{hostile, {1, 2}, {3, 4}, Series::Style::marked};
  const std::string plot = line_plot({series}, {.title = hostile, .x_label = hostile, .y_label = hostile});
  const std::string panels =
      panel_plot({{.series = {series}, .title = hostile, .x_label = hostile, .y_label = hostile}}, {.title = hostile});
  for (const std::string& svg : {plot, panels}) {
    CHECK(xml_error(svg).empty());
    CHECK(count_of("<script", svg) == 0);
    CHECK(count_of(std::string(1, '\0'), svg) == 0);
    CHECK(count_of("&lt;script&gt;", svg) >= 6);
  }
}

TEST_CASE("extreme data still makes a picture") {
  const double huge = std::numeric_limits<double>::infinity();
  const std::vector<std::vector<Series>> cases = {{},
                                                  {{"", {}, {}}},
                                                  {{"", {1}, {2}}},
                                                  {{"", {1, 2}, {0, 0}}},
                                                  {{"", {1, 2}, {-3, -3}}},
                                                  {{"", {1, 2}, {huge, std::nan("")}}},
                                                  {{"", {0, 1e300}, {-1e300, 1e300}}},
                                                  {{"", {1, 2}, {1e-300, 1e300}}},
                                                  {{"", {1e-300, 1e300}, {1e-300, 1e300}}},
                                                  {{"", {1e-300, 1e-300}, {1e300, 1e300}}},
                                                  {{"", {0x1p-900, 0x1p900}, {0x1p-900, 0x1p900}}},
                                                  {{"", {1, 2}, {1, 1 + 1e-16}}}};
  for (const auto& series : cases) {
    for (const Scale scale : {Scale::linear, Scale::log}) {
      for (const Scale across : {Scale::linear, Scale::log}) {
        const std::string svg = line_plot(series, {.x_scale = across, .y_scale = scale});
        CHECK(xml_error(svg).empty());
        CHECK(svg.find("=\"nan") == svg.npos);
        CHECK(svg.find("=\"inf") == svg.npos);
        CHECK(svg.size() < 20'000);
      }
    }
  }
}

TEST_CASE("without x, points are numbered from 1 on") {
  CHECK(line_plot({{.name = "loss", .y = {3, 2, 1}}}) == line_plot({{"loss", {1, 2, 3}, {3, 2, 1}}}));
}

TEST_CASE("series and sizes that make no sense are refused") {
  CHECK_THROWS_WITH_AS(line_plot({{"loss", {1, 2}, {1}}}), "line_plot: series 'loss' has 2 x and 1 y",
                       xgrad::ValueError);
  CHECK_THROWS_AS(line_plot({}, {.width = 10}), xgrad::ValueError);
}
