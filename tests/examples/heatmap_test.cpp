// Heat maps as SVG.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>

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

// Entries of the strongest weight, and of the one that is furthest below zero.
constexpr const char* darkest = "fill=\"#0d2e63\" class=\"fill0d2e63e0f1fd\"><title>";
constexpr const char* bluest = "fill=\"#215896\" class=\"fill21589686c0f0\"><title>";

}  // namespace

TEST_CASE("greater weights are further from the ground, in one scale for all panels") {
  HeatMaps maps = small();
  maps.masked = {};
  maps.panels = {{"a", {0, 0.1, 0.2, 0.3, 0.4, 0.5}}, {"b", {0.6, 0.7, 0.8, 0.9, 1, 0}}};
  // Of the entries that are not 0, in order; their class ends with the colours on white and on dark ground.
  const auto lightness = [](const std::string& svg, std::size_t from_end) {
    std::vector<int> all;
    for (std::size_t at = svg.find("><title>"); at != svg.npos; at = svg.find("><title>", at + 1)) {
      if (svg.substr(at, svg.find('<', at + 8) - at).find("  0.000") != std::string::npos) continue;
      const std::string colour = svg.substr(at - from_end, 6);
      int sum = 0;
      for (std::size_t i = 0; i < 6; i += 2) sum += std::stoi(colour.substr(i, 2), nullptr, 16);
      all.push_back(sum);
    }
    return all;
  };
  const std::string svg = heat_map_svg(maps);
  check_svg(svg, 2, {"fill=\"#edf2f8\" class=\"filledf2f81b232e\"><title>"});  // the faintest: two zeros
  check_svg(svg, 1, {darkest, ".fill0d2e63e0f1fd{fill:#e0f1fd}"});             // the strongest: the 1
  const std::vector<int> down = lightness(svg, 13);
  REQUIRE(down.size() == 10);
  CHECK(std::ranges::adjacent_find(down, std::less_equal()) == down.end());
  const std::vector<int> up = lightness(svg, 7);
  REQUIRE(up.size() == 10);
  CHECK(std::ranges::adjacent_find(up, std::greater_equal()) == up.end());
}

TEST_CASE("hostile text stays text, and the same figure is the same file") {
  HeatMaps maps{.title = hostile,
                .queries = {hostile},
                .keys = {hostile},
                .panels = {{hostile, {1}}},
                .query_caption = hostile,
                .key_caption = hostile};
  const std::string svg = heat_map_svg(maps);
  check_svg(svg, 0, {"<script"});
  CHECK(count_of("&lt;script&gt;", svg) >= 4);
  CHECK(heat_map_svg(maps) == svg);
}

TEST_CASE("labels appear once per row and column of the grid, long ones are shortened") {
  HeatMaps maps = small();
  maps.keys = {"anticonstitutionnellement", "."};
  maps.panels.assign(5, maps.panels.front());
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

TEST_CASE("the scale is what is asked for") {
  HeatMaps maps = small();
  maps.masked = {};
  maps.panels = {{"p", {0, 0.1, 0.2, 0.1, 0.2, 0.2}}, {"g", {-0.02, 0, 0.01, 0, 0, 0}}};
  maps.scale = HeatScale::each;
  const std::string each = heat_map_svg(maps);
  check_labels(each, 1, {"0.20", "-0.02"});  // a bar for each panel
  check_svg(each, 3, {darkest});             // the greatest of p are as dark as can be,
  check_svg(each, 1, {bluest});              // the least of g as blue

  maps.panels.pop_back();
  maps.scale = HeatScale::fitted;
  check_svg(heat_map_svg(maps), 3, {darkest});
  maps.scale = HeatScale::shares;
  const std::string shares = heat_map_svg(maps);
  check_svg(shares, 0, {darkest});
  check_labels(shares, 1, {"0.0", "1.0"});

  maps.panels[0].values = {1, 0, 1, 1, 0, 1};
  maps.scale = HeatScale::yes_no;
  const std::string mask = heat_map_svg(maps);
  check_labels(mask, 1, {"yes", "no"});
  check_labels(mask, 0, {"0.5"});
  check_svg(mask, 1, {"<title>va → .  no</title>"});

  maps.panels[0].values[2] = 0.5;
  CHECK_REFUSED(ValueError, heat_map_svg(maps), "heat_map_svg", "yes is 1 and no 0, got 0.5");
  maps.scale = HeatScale::shares;
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
    HeatMaps maps{.queries = Tokens(c.rows, "q"), .keys = {"k"}, .columns = c.panels};
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
