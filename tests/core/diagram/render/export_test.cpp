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

// The first vertex of which this is said.
nlohmann::json vertex_with(const nlohmann::json& json, const char* key, const std::string& text) {
  const auto said = [&](const auto& vertex) { return vertex.contains(key) && vertex[key] == text; };
  const auto found = std::ranges::find_if(json["vertices"], said);
  REQUIRE(found != json["vertices"].end());
  return *found;
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
  const auto sum = vertex_with(json, "op", "sum");
  CHECK(sum["attributes"]["axis"] == "1");
  CHECK(sum["name"] == "s");
  CHECK(sum["shape"] == nlohmann::json({2}));
  CHECK(sum["frame"] == "c0");
  CHECK(vertex_with(json, "role", "constant")["number"] == 2);
  CHECK(std::ranges::count_if(json["edges"], [](const auto& edge) { return edge["flow"] == "indices"; }) == 1);
}

TEST_CASE("the JSON of a run has values, gradients, steps and formulas, and words for numbers that are not finite") {
  const auto json = nlohmann::json::parse(to_json(small_run()));
  const auto squashed = vertex_with(json, "op", "tanh"), value = vertex_with(json, "op", "mul")["value"];
  const auto bias = vertex_with(json, "name", "bias");
  CHECK(squashed["formula"] == "tanh x");
  CHECK(squashed["derivative"] == "1 - y^2");
  CHECK(squashed["step"] == 1);
  CHECK(squashed["gradient_step"] == 16);
  CHECK(squashed["value"]["shape"] == nlohmann::json({2, 2, 4}));
  CHECK(squashed["value"]["numbers"].size() == 16);
  CHECK(squashed["value"]["histogram"].size() == 20);
  CHECK(value["numbers"] == nlohmann::json({1, 0.25, "-Infinity", 2}));
  CHECK(value["infinities"] == 1);
  CHECK(value["least"] == 0.25);
  CHECK(value["mean"] == doctest::Approx(3.25 / 3));
  CHECK(value["greatest"] == 2);
  CHECK(bias["gradient_state"] == "zero");
  CHECK(bias["gradient"]["zeros"] == 4);
  CHECK_FALSE(bias.contains("step"));
  CHECK(vertex_with(json, "op", "mean")["value"]["numbers"].size() == 1);
  CHECK(std::ranges::count_if(json["vertices"], [](const auto& vertex) {
          return vertex.contains("gradient") && vertex["gradient"]["nans"] == 1;
        }) == 1);
  for (const auto& edge : json["edges"]) {
    CHECK(edge.contains("gradient") == (edge["from"] != "n0" && edge["from"] != "n10"));  // inputs have none
  }
  const auto plain = nlohmann::json::parse(to_json(GraphView::of({small_graph("s", "net")})));
  for (const char* key : {"value", "gradient", "step", "gradient_step", "formula", "derivative", "gradient_state"}) {
    CHECK_FALSE(plain["vertices"][0].contains(key));
  }
}

TEST_CASE("hostile names and words of options break neither JSON nor tables") {
  for (const std::string& words : hostile_names(50)) {
    CAPTURE(words);
    const GraphOverlay overlay{.title = "t" + words, .unit = words, .of = [](const GraphVertex&) { return 0.5; }};
    std::string path = "p" + words;
    std::erase(path, '.');
    GraphView view = GraphView::of({small_graph("n" + words, path)}, {.overlay = overlay});
    for (GraphVertex& vertex : view.vertices) vertex.text.remarks.push_back(words);
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
