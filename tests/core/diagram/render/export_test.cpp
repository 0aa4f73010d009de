// Tests of core/diagram/render/export.h: what other programs read.
#include <xgrad/core/diagram/render/drawing.h>
#include <xgrad/core/diagram/render/export.h>

#include <nlohmann/json.hpp>

#include "core/diagram/diagrams.h"
#include "core/diagram/render/small_run.h"

namespace xgrad::testing {
namespace {

Tensor small_graph(const std::string& name, const std::string& path) {
  const Tensor table = variable(Array({3, 2}, Real(1)), path + ".weight");
  const Scope scope(intern(path, "Embedding 3 x 2"));
  return sum(embedding(table, Index({2}, {0, 2})), 1).named(name) * 2;
}

TEST_CASE("the JSON of a view says everything that the view does, under the ids of the SVG") {
  const GraphView view = GraphView::of({small_graph("s", "net")}, {.depth = 9});
  const auto json = nlohmann::json::parse(to_json(view));
  REQUIRE(json["vertices"].size() == view.vertices.size());
  REQUIRE(json["edges"].size() == view.edges.size());
  REQUIRE(json["frames"].size() == 1);
  CHECK(json["frames"][0]["id"] == "c0");
  CHECK(json["frames"][0]["what"] == "Embedding 3 x 2");
  CHECK(json["vertices"][0]["id"] == "n0");
  std::size_t found = 0;
  for (const auto& vertex : json["vertices"]) {
    if (vertex["op"] == "sum") {
      CHECK(vertex["attributes"]["axis"] == "1");
      CHECK(vertex["name"] == "s");
      CHECK(vertex["shape"] == nlohmann::json({2}));
      CHECK(vertex["frame"] == "c0");
      ++found;
    }
    if (vertex["role"] == "constant") {
      CHECK(vertex["number"] == 2);
      ++found;
    }
  }
  CHECK(found == 2);
  CHECK(std::ranges::count_if(json["edges"], [](const auto& edge) { return edge["flow"] == "indices"; }) == 1);
}

TEST_CASE("the JSON of a run has values, gradients, steps and formulas, and words for numbers that are not finite") {
  const auto json = nlohmann::json::parse(to_json(small_run()));
  const auto find = [&](const char* key, const std::string& text) {
    const auto found = std::ranges::find_if(json["vertices"], [&](const auto& vertex) { return vertex[key] == text; });
    REQUIRE(found != json["vertices"].end());
    return *found;
  };
  const auto squashed = find("op", "tanh"), squares = find("op", "mul"), bias = find("name", "bias");
  CHECK(squashed["formula"] == "tanh x");
  CHECK(squashed["derivative"] == "1 - y^2");
  CHECK(squashed["step"] == 1);
  CHECK(squashed["gradient_step"] == 16);
  CHECK(squashed["value"]["shape"] == nlohmann::json({2, 2, 4}));
  CHECK(squashed["value"]["numbers"].size() == 16);
  CHECK(squashed["value"]["histogram"].size() == 16);
  CHECK(squares["value"]["numbers"] == nlohmann::json({1, 0.25, "-Infinity", 2}));
  CHECK(squares["value"]["infinities"] == 1);
  CHECK(squares["value"]["least"] == 0.25);
  CHECK(squares["value"]["mean"] == doctest::Approx(3.25 / 3));
  CHECK(squares["value"]["greatest"] == 2);
  CHECK(bias["gradient_state"] == "zero");
  CHECK(bias["gradient"]["zeros"] == 4);
  CHECK_FALSE(bias.contains("step"));
  CHECK(find("op", "mean")["value"]["numbers"].size() == 1);
  std::size_t contributions = 0;
  for (const auto& vertex : json["vertices"]) {
    if (vertex.contains("gradient")) contributions += vertex["gradient"]["nans"] == 1;
  }
  CHECK(contributions == 1);
  CHECK(std::ranges::count_if(json["edges"], [](const auto& edge) { return edge.contains("gradient"); }) ==
        std::ranges::count_if(json["edges"],
                              [](const auto& edge) { return edge["from"] != "n0" && edge["from"] != "n10"; }));
  const auto plain = nlohmann::json::parse(to_json(GraphView::of({small_graph("s", "net")})));
  for (const char* key : {"value", "gradient", "step", "gradient_step", "formula", "derivative", "gradient_state"}) {
    CHECK_FALSE(plain["vertices"][0].contains(key));
  }
}

TEST_CASE("hostile names and words of options break neither JSON nor tables") {
  for (const std::string& words : hostile_names(50)) {
    CAPTURE(words);
    const GraphOverlay overlay{.title = "t" + words, .unit = words, .of = [](const GraphVertex&) { return 0.5; }};
    const GraphOptions options{.style = [&](const GraphVertex&) { return VertexStyle{.fill = "red", .note = words}; },
                               .overlay = overlay};
    std::string path = "p" + words;
    std::erase(path, '.');
    const GraphView view = GraphView::of({small_graph("n" + words, path)}, options);
    const auto json = nlohmann::json::parse(to_json(view));
    CHECK(json["vertices"].size() == view.vertices.size());
    CHECK(json["vertices"][0]["remarks"].size() == 2);
    CHECK(json["scale"].size() == 4);
    const std::string table = to_text(view);
    CHECK(count(table, "\n") == view.vertices.size() + 1);
    CHECK(table.find('\0') == table.npos);
  }
}

}  // namespace
}  // namespace xgrad::testing
