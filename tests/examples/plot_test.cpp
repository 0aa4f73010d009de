// Line plots: ticks, what is drawn, what is refused.
#include <doctest/doctest.h>

#include <cmath>

#include <xgrad/kit/plot.h>

#include "support.h"

using namespace xgrad::kit;
using xgrad::kit::testing::count_of;
using xgrad::kit::testing::xml_error;

TEST_CASE("ticks are round numbers inside the range") {
  CHECK(tick_labels(nice_ticks(0, 1, 5)) == std::vector<std::string>{"0.0", "0.2", "0.4", "0.6", "0.8", "1.0"});
  CHECK(tick_labels(nice_ticks(-1, 1, 4)) == std::vector<std::string>{"-1.0", "-0.5", "0.0", "0.5", "1.0"});
  CHECK(tick_labels(nice_ticks(1, 200, 5)) == std::vector<std::string>{"50", "100", "150", "200"});
  CHECK(tick_labels(nice_ticks(0, 30000, 3)) == std::vector<std::string>{"0", "10k", "20k", "30k"});
  CHECK(tick_labels(nice_ticks(0, 4e6, 4)) == std::vector<std::string>{"0", "1M", "2M", "3M", "4M"});
  CHECK(tick_labels(nice_ticks(0.0302, 0.0308, 3)) == std::vector<std::string>{"0.0302", "0.0304", "0.0306", "0.0308"});
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
  CHECK(count_of(">0.01<", many) == 1);
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
                                                  {{"", {1, 2}, {1, 1 + 1e-16}}}};
  for (const auto& series : cases) {
    for (const Scale scale : {Scale::linear, Scale::log}) {
      const std::string svg = line_plot(series, {.y_scale = scale});
      CHECK(xml_error(svg).empty());
      CHECK(svg.find("=\"nan") == svg.npos);
      CHECK(svg.find("=\"inf") == svg.npos);
      CHECK(svg.size() < 20'000);
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
