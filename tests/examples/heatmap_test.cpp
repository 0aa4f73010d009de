// Heat maps as SVG.
#include <doctest/doctest.h>

#include <cmath>

#include <xgrad/kit/draw/heatmap.h>

#include "support.h"

namespace xgrad::kit::testing {
namespace {

HeatMaps small() {
  return {.title = "Attention",
          .queries = {"va", "!", "<eos>"},
          .keys = {"go", "."},
          .panels = {{"head 1", {0.25, 0.75, 1, 0, 0.5, 0.5}}},
          .columns = 1,
          .masked = {false, false, false, true, false, false}};
}

}  // namespace

TEST_CASE("labels appear once per row and column of the grid, long ones are shortened") {
  HeatMaps maps = small();
  maps.keys = {"anticonstitutionnellement", "."};
  maps.panels = std::vector(5, maps.panels.front());
  maps.columns = 3;
  const std::string svg = heat_map_svg(maps);
  check_labels(svg, 2, {"va"});
  check_labels(svg, 3, {"anticonstitutionn…"});
  check_svg(svg, 5 * 3, {"anticonstitutionnellement  "});  // whole under the pointer
}

TEST_CASE("tokens of white space have labels that are seen, and words between spaces stay as they are") {
  HeatMaps maps = small();
  maps.queries = {" ", "\n", " a b"};
  maps.keys = {"\t ", "epoch 1"};
  const std::string svg = heat_map_svg(maps);
  check_labels(svg, 1, {"␣", "↵", "␣a b", "⇥␣", "epoch 1"});
  check_svg(svg, 1, {"<title>␣ → ⇥␣  0.250</title>"});
}

TEST_CASE("large matrices drop labels instead of letting them touch") {
  HeatMaps maps{.columns = 1};
  for (int i = 0; i < 100; ++i)
    maps.queries.push_back("q" + std::to_string(i)), maps.keys.push_back("k" + std::to_string(i));
  maps.panels = {{"", std::vector<double>(10'000, 0.01)}};
  const std::string svg = heat_map_svg(maps);
  check_labels(svg, 1, {"q0", "q3"});
  check_labels(svg, 0, {"q1", "q2"});
  CHECK(attributes(svg, "svg", "width")[0] <= 800);
}

TEST_CASE("a mask hides what is not a number") {
  HeatMaps maps = small();
  maps.panels[0].values[3] = std::nan("");
  check_svg(heat_map_svg(maps));
  maps.masked = {};
  CHECK_REFUSED(ValueError, heat_map_svg(maps), "heat_map_svg", "a value is not finite");
}

TEST_CASE("a scale of shares goes to 1, one that is fitted to the greatest value") {
  HeatMaps maps = small();
  maps.masked = {};
  maps.panels = {{"p", {0, 0.1, 0.2, 0.1, 0.2, 0.2}}};
  const char* darkest = "fill=\"#0d2e63\" class=\"fill0d2e63e0f1fd\"><title>";
  maps.scale = HeatScale::fitted;
  check_labels(heat_map_svg(maps), 1, {"0.20"});
  check_svg(heat_map_svg(maps), 3, {darkest});
  maps.scale = HeatScale::yes_no;
  CHECK_REFUSED(ValueError, heat_map_svg(maps), "heat_map_svg", "yes is 1 and no 0, got 0.1");
  maps.scale = HeatScale::shares;
  check_labels(heat_map_svg(maps), 1, {"0.0", "1.0"});
  check_svg(heat_map_svg(maps), 0, {darkest});
  maps.panels[0].values[2] = 1.00001;  // rounded
  check_svg(heat_map_svg(maps));
  for (const double wrong : {1.01, -0.01}) {
    maps.panels[0].values[2] = wrong;
    CHECK_THROWS_AS(heat_map_svg(maps), ValueError);
  }
}

TEST_CASE("a high figure has its bar again and again") {
  HeatMaps maps{.queries = {"1", "2", "3", "4", "5", "6"}, .columns = 4, .scale = HeatScale::shares};
  maps.keys = maps.queries;
  maps.panels.assign(12 * 4, {"head", std::vector<double>(36, 0.5)});
  const std::string svg = heat_map_svg(maps);
  const double pixels = attributes(svg, "svg", "height").front();
  CHECK(pixels > 2000);
  CHECK(static_cast<double>(count_of(">1.0</text>", svg)) >= pixels / 1200);
  maps.panels.resize(8);
  check_labels(heat_map_svg(maps), 1, {"1.0"});
}

TEST_CASE("entries have a gap between them from 10 pixels on, and up to 24 have 13 pixels at least") {
  struct Case {
    std::size_t rows, panels;
    const char* size;
  };
  for (const Case& c : {Case{90, 1, "9"}, Case{91, 1, "9"}, Case{24, 4, "12"}, Case{25, 4, "9"}}) {
    HeatMaps maps{.queries = std::vector<std::string>(c.rows, "q"), .keys = {"k"}, .columns = c.panels};
    maps.panels.assign(c.panels, {"", std::vector<double>(c.rows, 0.5)});
    check_svg(heat_map_svg(maps), c.rows * c.panels, {str("width=\"", c.size, "\" height=\"", c.size, "\"")});
  }
}

TEST_CASE("titles and captions are never cut") {
  const std::string longest =
      "what the first word of the translation is drawn from, if nobody shortens what is said of it";
  HeatMaps maps = small();
  maps.title = maps.query_caption = maps.key_caption = maps.panels[0].title = longest;
  const std::string svg = heat_map_svg(maps);
  check_svg(svg, 0, {"…"});
  check_svg(svg, 4, {"it</text>"});
}

TEST_CASE("figures that do not fit together are refused") {
  HeatMaps maps = small();
  SUBCASE("panels") { maps.panels.clear(); }
  SUBCASE("columns") { maps.columns = 0; }
  SUBCASE("labels") { maps.keys.clear(); }
  SUBCASE("values") { maps.panels[0].values.pop_back(); }
  SUBCASE("mask") { maps.masked.pop_back(); }
  CHECK_THROWS_AS(heat_map_svg(maps), ValueError);
}

}  // namespace xgrad::kit::testing
