// Tests of core/diagram/render/export.h: what other programs read.
#include <xgrad/core/diagram/render/drawing.h>
#include <xgrad/core/diagram/render/export.h>

#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <utility>

#include <xgrad/core/base/scope.h>
#include <xgrad/core/graph/grad.h>
#include <xgrad/ops/arrange/index.h>
#include <xgrad/ops/elementwise/arithmetic.h>
#include <xgrad/ops/elementwise/elementwise.h>
#include <xgrad/ops/reduce/reduce.h>

#include "core/diagram/render/small_run.h"
#include "support/check.h"
#include "support/files.h"

namespace xgrad::testing {
namespace {

Tensor small_graph(const std::string& name, const std::string& path) {
  const Tensor table = variable(Array({3, 2}, Real(1)), path + ".weight");
  const Scope scope(intern(path, "Embedding 3 x 2"));
  return sum(embedding(table, Index({2}, {0, 2})), {.axis = 1}).named(name) * 2;
}

std::vector<std::string> hostile() {
  std::mt19937 chance(1);
  std::vector<std::string> names{"\"]",        "</script>", "a\nb", std::string("nul\0", 4), "\xff\xfe", "#quot;",
                                 "%%{init}%%", "`x`",       "-->"};
  for (int i = 0; i < 50; ++i) {
    std::string bytes(chance() % 40, ' ');
    for (char& c : bytes) c = static_cast<char>(chance() % 256);
    names.push_back(bytes);
  }
  return names;
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

TEST_CASE("Mermaid gets frames, shapes of vertices and kinds of arrows") {
  const std::string text =
      to_mermaid(GraphView::of({small_graph("s", "net")}, {.depth = 9}), {.title = "a: \"title\""});
  CHECK(text.starts_with("---\ntitle: \"a: \\\"title\\\"\"\n---\nflowchart TB\n"));
  CHECK(text.find("subgraph c0[\"net Embedding 3 x 2\"]\n") != text.npos);
  CHECK(text.find("([\"ids<br/>#91;2#93;\"])") != text.npos);
  CHECK(text.find(" -.-> ") != text.npos);
  CHECK(text.find(" --> ") != text.npos);
  CHECK(text.find("classDef result fill:#dcfce7") != text.npos);
}

// The form that Model Explorer 0.1.34 opened, with its layers and shapes.
TEST_CASE("Model Explorer gets a labelled collection of one graph, with modules as namespaces") {
  const GraphView view = GraphView::of({small_graph("s", "net.tokens")}, {.depth = 9});
  const auto json = nlohmann::json::parse(to_model_explorer(view, "two words"));
  CHECK(json["label"] == "two words");  // without a label it takes no collection
  REQUIRE(json["graphs"].size() == 1);
  const auto& graph = json["graphs"][0];
  CHECK(graph["id"] == "two words");
  REQUIRE(graph["nodes"].size() == view.vertices.size());
  CHECK(graph["groupNodeAttributes"]["net/tokens"]["what"] == "Embedding 3 x 2");
  std::size_t edges = 0, found = 0;
  for (std::size_t v = 0; v < view.vertices.size(); ++v) {
    const auto& node = graph["nodes"][v];
    CHECK(node["id"] == cat('n', v));
    for (const auto& [key, value] : node.items()) CHECK((key == "id" || key == "label" || !value.is_number()));
    for (const auto& pair : node["attrs"]) CHECK((pair["key"].is_string() && pair["value"].is_string()));
    for (const auto& edge : node["incomingEdges"]) {
      const auto drawn = std::ranges::find_if(view.edges, [&](const GraphEdge& given) {
        return cat('n', given.from) == edge["sourceNodeId"] && std::cmp_equal(given.to, v) &&
               cat(given.input) == edge["targetNodeInputId"];
      });
      CHECK(drawn != view.edges.end());
      CHECK(edge["sourceNodeOutputId"] == "0");
      ++edges;
    }
    if (node["label"] == "sum") {
      CHECK(node["namespace"] == "net/tokens");
      CHECK(node["outputsMetadata"] ==
            nlohmann::json::parse(R"([{"id": "0", "attrs": [{"key": "tensor_shape", "value": "[2]"}]}])"));
      ++found;
    }
  }
  CHECK(edges == view.edges.size());
  CHECK(found == 1);
  CHECK(nlohmann::json::parse(to_model_explorer(view))["label"] == "graph");
}

TEST_CASE("in Model Explorer a backward pass is a group of its own") {
  const Tensor x = variable(Array({3}, Real(1)), "net.x");
  const Tensor y = [&] {
    const Scope scope(intern("net"));
    return sum(tanh(x));
  }();
  const GraphView view = GraphView::of({y, grad(y, {x}, {.create_graph = true})[0]}, {.depth = 9});
  std::set<std::string> namespaces;
  const auto json = nlohmann::json::parse(to_model_explorer(view));
  for (const auto& node : json["graphs"][0]["nodes"]) {
    namespaces.insert(node["namespace"].get<std::string>());
  }
  CHECK(namespaces == std::set<std::string>{"net", "gradient/net"});
}

TEST_CASE("hostile names break neither JSON nor Mermaid") {
  const GraphView plain = GraphView::of({small_graph("s", "net")}, {.depth = 9});
  const std::string expected = to_mermaid(plain);
  for (const std::string& name : hostile()) {
    CAPTURE(name);
    std::string path = "p" + name;
    std::erase(path, '.');
    const GraphView view = GraphView::of({small_graph(name, path)}, {.depth = 9});
    CHECK(nlohmann::json::parse(to_json(view))["vertices"].size() == plain.vertices.size());
    CHECK(nlohmann::json::parse(to_model_explorer(view, name))["graphs"][0]["nodes"].size() == plain.vertices.size());
    const std::string text = to_mermaid(view);
    CHECK(std::ranges::count(text, '"') == std::ranges::count(expected, '"'));
    CHECK(std::ranges::count(text, '\n') == std::ranges::count(expected, '\n'));
    CHECK(text.find('\0') == text.npos);
  }
}

TEST_CASE("hostile words of options break neither JSON nor Mermaid") {
  for (const std::string& words : hostile()) {
    CAPTURE(words);
    const GraphOverlay overlay{.title = "t" + words, .unit = words, .of = [](const GraphVertex&) { return 0.5; }};
    const GraphOptions options{.style = [&](const GraphVertex&) { return VertexStyle{.fill = "red", .note = words}; },
                               .overlay = overlay,
                               .from = {"net"},
                               .to = {"n" + words}};
    const GraphView view = GraphView::of({small_graph("n" + words, "net")}, options);
    const auto json = nlohmann::json::parse(to_json(view));
    CHECK(json["vertices"].size() == view.vertices.size());
    CHECK(json["vertices"][0]["remarks"].size() == (words.empty() ? 1 : 2));
    CHECK(json["scale"].size() == 4);
    CHECK(json.contains("remark"));
    CHECK(nlohmann::json::parse(to_model_explorer(view, words))["graphs"][0]["nodes"].size() == view.vertices.size());
    GraphView plain = view;
    plain.remark = "plain";
    for (GraphVertex& vertex : plain.vertices) {
      vertex.name = "plain";
      for (std::string& remark : vertex.remarks) remark = "plain";
    }
    const std::string text = to_mermaid(view), expected = to_mermaid(plain);
    CHECK(std::ranges::count(text, '\n') == std::ranges::count(expected, '\n'));
    CHECK(text.find('\0') == text.npos);
    const std::string below = text.substr(text.find("flowchart"));
    CHECK(std::ranges::count(below, '"') == std::ranges::count(expected.substr(expected.find("flowchart")), '"'));
    const std::string table = to_text(view);
    CHECK(std::ranges::count(table, '\n') == std::ssize(view.vertices) + 2);
    CHECK(table.find('\0') == table.npos);
  }
}

TEST_CASE("save_graph writes .json, .model-explorer.json and .mmd") {
  const TemporaryFolder folder;
  const Tensor y = small_graph("s", "net");
  save_graph(folder / "y.json", {y});
  save_graph(folder / "y.mmd", {y});
  save_graph(folder / "y.model-explorer.json", {y}, {.title = "y"});
  CHECK(read_text(folder / "y.json") == to_json(GraphView::of({y})));
  CHECK(read_text(folder / "y.model-explorer.json") == to_model_explorer(GraphView::of({y}), "y"));
  CHECK(read_text(folder / "y.mmd") == to_mermaid(GraphView::of({y})));
}

}  // namespace
}  // namespace xgrad::testing
