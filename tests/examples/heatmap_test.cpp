// Heat maps as SVG.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include <xgrad/kit/draw/heatmap.h>

#include "support.h"

using namespace xgrad::kit;
using xgrad::kit::testing::count_of;
using xgrad::kit::testing::hostile;
using xgrad::kit::testing::xml_error;

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

TEST_CASE("each entry tells its tokens and its weight, masked ones are grey") {
  const testing::CommaLocale commas;
  const std::string svg = heat_map_svg(small());
  CHECK(xml_error(svg).empty());
  CHECK(count_of("<title>va → .  0.750</title>", svg) == 1);
  CHECK(count_of("<title>&lt;eos&gt; → go  0.500</title>", svg) == 1);
  CHECK(count_of("<title>! → .  masked</title>", svg) == 1);
  CHECK(count_of("fill=\"#c8c5c0\"", svg) == 2);  // the entry and its explanation
  CHECK(count_of(">query</text>", svg) == 1);
  CHECK(count_of(">key</text>", svg) == 1);
  CHECK(count_of(">head 1</text>", svg) == 1);
}

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
  CHECK(xml_error(svg).empty());
  CHECK(count_of("fill=\"#edf2f8\" class=\"filledf2f81b232e\"><title>", svg) == 2);  // the faintest: two zeros
  CHECK(count_of("fill=\"#0d2e63\" class=\"fill0d2e63e0f1fd\"><title>", svg) == 1);  // the strongest: the 1
  CHECK(count_of(".fill0d2e63e0f1fd{fill:#e0f1fd}", svg) == 1);
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
  CHECK(xml_error(svg).empty());
  CHECK(count_of("<script", svg) == 0);
  CHECK(count_of("&lt;script&gt;", svg) >= 4);
  CHECK(heat_map_svg(maps) == svg);
}

TEST_CASE("negative values get colours on both sides of zero") {
  HeatMaps maps = small();
  maps.panels = {{"", {-1, -0.5, 0, 0, 0.5, 1}}};
  const std::string svg = heat_map_svg(maps);
  CHECK(count_of("fill=\"#f4f4f4\" class=\"fillf4f4f4242a32\"><title>", svg) == 1);
  CHECK(count_of("fill=\"#215896\" class=\"fill21589686c0f0\"><title>", svg) == 1);
  CHECK(count_of("fill=\"#ac282e\" class=\"fillac282ef59070\"><title>", svg) == 1);
}

TEST_CASE("labels appear once per row and column of the grid, long ones are shortened") {
  HeatMaps maps = small();
  maps.keys = {"anticonstitutionnellement", "."};
  maps.panels.assign(5, maps.panels.front());
  maps.columns = 3;
  const std::string svg = heat_map_svg(maps);
  CHECK(xml_error(svg).empty());
  CHECK(count_of(">va</text>", svg) == 2);
  CHECK(count_of(">anticonstitutionn…</text>", svg) == 3);
  CHECK(count_of("anticonstitutionnellement  ", svg) == 5 * 3);  // whole under the pointer
}

TEST_CASE("tokens of white space have labels that are seen, and words between spaces stay as they are") {
  HeatMaps maps = small();
  maps.queries = {" ", "\n", " a b"};
  maps.keys = {"\t ", "epoch 1"};
  const std::string svg = heat_map_svg(maps);
  for (const char* label : {"␣", "↵", "␣a b", "⇥␣", "epoch 1"}) {
    CAPTURE(label);
    CHECK(count_of(">" + std::string(label) + "</text>", svg) == 1);
  }
  CHECK(count_of("<title>␣ → ⇥␣  0.250</title>", svg) == 1);
}

TEST_CASE("large matrices drop labels instead of letting them touch") {
  HeatMaps maps{.columns = 1};
  for (int i = 0; i < 100; ++i)
    maps.queries.push_back("q" + std::to_string(i)), maps.keys.push_back("k" + std::to_string(i));
  maps.panels = {{"", std::vector<double>(10'000, 0.01)}};
  const std::string svg = heat_map_svg(maps);
  CHECK(count_of(">q0</text>", svg) == 1);
  CHECK(count_of(">q1</text>", svg) == 0);
  CHECK(count_of(">q2</text>", svg) == 1);
}

TEST_CASE("a mask hides what is not a number") {
  HeatMaps maps = small();
  maps.panels[0].values[3] = std::nan("");
  CHECK(xml_error(heat_map_svg(maps)).empty());
  maps.masked = {};
  CHECK_THROWS_WITH_AS(heat_map_svg(maps), "heat_map_svg: a value is not finite", xgrad::ValueError);
}

TEST_CASE("the scale is what is asked for") {
  HeatMaps maps = small();
  maps.masked = {};
  maps.panels = {{"p", {0, 0.1, 0.2, 0.1, 0.2, 0.2}}, {"g", {-0.02, 0, 0.01, 0, 0, 0}}};
  maps.scale = HeatScale::each;
  const std::string each = heat_map_svg(maps);
  CHECK(xml_error(each).empty());
  CHECK(count_of(">0.20</text>", each) == 1);  // a bar for each panel
  CHECK(count_of(">-0.02</text>", each) == 1);
  const char* darkest = "fill=\"#0d2e63\" class=\"fill0d2e63e0f1fd\"><title>";
  CHECK(count_of(darkest, each) == 3);  // the greatest of p are as dark as can be,
  CHECK(count_of("fill=\"#215896\" class=\"fill21589686c0f0\"><title>", each) == 1);  // the least of g as blue

  maps.panels.pop_back();
  maps.scale = HeatScale::fitted;
  CHECK(count_of(darkest, heat_map_svg(maps)) == 3);
  maps.scale = HeatScale::shares;
  const std::string shares = heat_map_svg(maps);
  CHECK(count_of(darkest, shares) == 0);
  for (const char* end : {">0.0</text>", ">1.0</text>"}) CHECK(count_of(end, shares) == 1);

  maps.panels[0].values = {1, 0, 1, 1, 0, 1};
  maps.scale = HeatScale::yes_no;
  const std::string mask = heat_map_svg(maps);
  CHECK(xml_error(mask).empty());
  for (const char* word : {">yes</text>", ">no</text>"}) CHECK(count_of(word, mask) == 1);
  CHECK(count_of("<title>va → .  no</title>", mask) == 1);
  CHECK(count_of(">0.5</text>", mask) == 0);

  maps.panels[0].values[2] = 0.5;
  CHECK_THROWS_WITH_AS(heat_map_svg(maps), "heat_map_svg: yes is 1 and no 0, got 0.5", xgrad::ValueError);
  maps.scale = HeatScale::shares;
  maps.panels[0].values[2] = 1.00001;  // rounded
  CHECK(xml_error(heat_map_svg(maps)).empty());
  for (const double wrong : {1.01, -0.01}) {
    maps.panels[0].values[2] = wrong;
    CHECK_THROWS_AS(heat_map_svg(maps), xgrad::ValueError);
  }
}

TEST_CASE("a high figure has its bar again and again") {
  HeatMaps maps{.queries = {"1", "2", "3", "4", "5", "6"}, .columns = 4, .scale = HeatScale::shares};
  maps.keys = maps.queries;
  maps.panels.assign(12 * 4, {"head", std::vector<double>(36, 0.5)});
  const std::string svg = heat_map_svg(maps);
  const std::size_t height = svg.find(" height=\"");
  const double pixels = std::stod(svg.substr(height + 9, 10));
  CHECK(pixels > 2000);
  CHECK(static_cast<double>(count_of(">1.0</text>", svg)) >= pixels / 1200);
  maps.panels.resize(8);
  CHECK(count_of(">1.0</text>", heat_map_svg(maps)) == 1);
}

TEST_CASE("titles and captions are never cut") {
  const std::string longest =
      "what the first word of the translation is drawn from, if nobody shortens what is said of it";
  HeatMaps maps = small();
  maps.title = maps.query_caption = maps.key_caption = maps.panels[0].title = longest;
  const std::string svg = heat_map_svg(maps);
  CHECK(xml_error(svg).empty());
  CHECK(count_of("…", svg) == 0);
  CHECK(count_of("it</text>", svg) == 4);
}

TEST_CASE("figures that do not fit together are refused") {
  HeatMaps maps = small();
  SUBCASE("panels") { maps.panels.clear(); }
  SUBCASE("columns") { maps.columns = 0; }
  SUBCASE("labels") { maps.keys.clear(); }
  SUBCASE("values") { maps.panels[0].values.pop_back(); }
  SUBCASE("mask") { maps.masked.pop_back(); }
  CHECK_THROWS_AS(heat_map_svg(maps), xgrad::ValueError);
}
