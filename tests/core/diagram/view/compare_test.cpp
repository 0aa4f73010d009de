// Tests of core/diagram/view/compare.h: the common part of two graphs, and the differences.
#include <xgrad/core/diagram/render/drawing.h>
#include <xgrad/core/diagram/render/export.h>
#include <xgrad/core/diagram/view/compare.h>

#include <map>
#include <random>
#include <set>
#include <sstream>

#include <xgrad/core/base/scope.h>
#include <xgrad/core/diagram/render/svg.h>
#include <xgrad/ops/elementwise/arithmetic.h>
#include <xgrad/ops/elementwise/elementwise.h>
#include <xgrad/ops/reduce/reduce.h>

#include "support/check.h"
#include "support/files.h"

namespace xgrad::testing {
namespace {

GraphView view_of(const Tensor& y) { return GraphView::of({y}, {.depth = 99, .roll_up = false}); }
GraphComparison compared(const Tensor& before, const Tensor& after) {
  return compare_graphs(view_of(before), view_of(after));
}

Tensor leaf(const std::string& name, std::int64_t size = 3) { return variable(Array({size}, Real(1)), name); }

// The lines of the report below the first.
std::vector<std::string> findings(const GraphComparison& comparison) {
  std::istringstream text(to_string(comparison));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  lines.erase(lines.begin());
  return lines;
}
using Strings = std::vector<std::string>;

void check_sound(const GraphComparison& comparison) {
  for (const GraphEdge& edge : comparison.view.edges) REQUIRE(edge.from < edge.to);
  CHECK(comparison.same + comparison.changed + comparison.added + comparison.removed ==
        std::ssize(comparison.view.vertices));
}

// The vertices and arrows of one of the two graphs, read from the view of both, as sorted text.
std::string half(const GraphComparison& comparison, GraphChange left_out) {
  std::multiset<std::string> parts;
  const auto name = [&](int v) {
    const GraphVertex& vertex = comparison.view.vertices[static_cast<std::size_t>(v)];
    return cat(vertex.path, ' ', vertex.op, ' ', vertex.name);
  };
  for (int v = 0; v < std::ssize(comparison.view.vertices); ++v) {
    if (comparison.view.vertices[static_cast<std::size_t>(v)].change != left_out) parts.insert(name(v));
  }
  for (const GraphEdge& edge : comparison.view.edges) {
    if (edge.change != left_out) parts.insert(cat(name(edge.from), " > ", name(edge.to)));
  }
  return cat(parts);
}
std::string whole(const GraphView& view) {
  GraphComparison all;
  all.view = view;
  return half(all, GraphChange::removed);
}

TEST_CASE("a graph compared with itself is the same") {
  const Tensor x = leaf("x"), y = tanh(x * leaf("w")) + 2;
  const GraphComparison comparison = compared(y, y);
  check_sound(comparison);
  CHECK(comparison.equal());
  CHECK(comparison.same == 6);
  CHECK(to_string(comparison) == "0 added, 0 removed, 0 changed, 6 the same; arrows: 0 added, 0 removed\n");
}

TEST_CASE("an operation that is put in between is added, and its neighbours stay what they are") {
  const Tensor x = leaf("x");
  const GraphComparison comparison = compared(exp(tanh(x)), exp(sigmoid(tanh(x))));
  check_sound(comparison);
  CHECK(comparison.same == 3);
  CHECK(findings(comparison) == Strings{"+ sigmoid: added"});
  CHECK(comparison.edges_added == 2);
  CHECK(comparison.edges_removed == 1);
  CHECK(findings(compared(exp(sigmoid(tanh(x))), exp(tanh(x)))) == Strings{"- sigmoid: removed"});
}

TEST_CASE("what is in both is compared by shape, number, settings and kept bytes") {
  const auto graph = [](std::int64_t size, double factor, int axis) {
    const Tensor x = variable(Array({2, size}, Real(1)), "x");
    return sum(tanh(x) * factor, {.axis = axis});
  };
  const GraphComparison comparison = compared(graph(3, 2, 0), graph(4, 5, 1));
  check_sound(comparison);
  CHECK(comparison.edges_added + comparison.edges_removed == 0);
  CHECK(comparison.changed == 5);
  CHECK(findings(comparison) == Strings{"~ parameter 'x': shape [2, 4], was [2, 3]",
                                        "~ tanh: shape [2, 4], was [2, 3]; keeps 64 B, was 48 B",
                                        "~ constant: number 5, was 2", "~ mul: shape [2, 4], was [2, 3]",
                                        "~ sum: shape [2], was [3]; axis 1, was 0"});
}

TEST_CASE("inputs in another order are a change, though every arrow is there") {
  const Tensor a = leaf("a"), b = leaf("b");
  const GraphComparison comparison = compared(a - b, b - a);
  check_sound(comparison);
  CHECK(findings(comparison) == Strings{"~ sub: inputs in another order"});
  CHECK(comparison.edges_added == 0);
}

TEST_CASE("a leaf is known by its name wherever it stands, and one that gets no gradient any more is changed") {
  const Tensor x = leaf("x");
  const Tensor w = leaf("net.w"), frozen = Tensor(Array({3}, Real(1))).named("net.w");
  CHECK(findings(compared(x * w, x * frozen)) == Strings{"~ input 'net.w': input, was parameter"});
  CHECK(findings(compared(x * w, x * leaf("net.v"))) ==
        Strings{"- parameter 'net.w': removed", "+ parameter 'net.v': added"});
}

TEST_CASE("operations that change places are there twice where they would close a cycle") {
  const Tensor x = leaf("x");
  const auto norm = [](const Tensor& t) {
    const Scope scope(intern("norm"));
    return tanh(t);
  };
  const auto map = [](const Tensor& t) {
    const Scope scope(intern("map"));
    return exp(t);
  };
  const GraphComparison comparison = compared(map(norm(x)), norm(map(x)));
  check_sound(comparison);
  CHECK(comparison.same == 2);
  CHECK(comparison.added == 1);
  CHECK(comparison.removed == 1);
  const std::string text = to_string(comparison);
  CHECK(text.find(": moved here\n") != text.npos);
  CHECK(text.find(": moved away\n") != text.npos);
}

TEST_CASE("an operation that has another name is the same operation") {
  const Tensor x = leaf("x");
  CHECK(findings(compared(exp(tanh(x).named("a")), exp(tanh(x)).named("b"))) ==
        Strings{"~ tanh: no name, was a", "~ exp 'b': name b, was none"});
}

TEST_CASE("frames of both graphs are there, and say what their modules were") {
  const Tensor x = leaf("x");
  const auto in = [&](const char* path, const char* what) {
    const Scope scope(intern(path, what));
    return tanh(x);
  };
  const GraphComparison same_path = compared(in("m", "Linear 3 -> 4"), in("m", "Linear 3 -> 5"));
  REQUIRE(same_path.view.frames.size() == 1);
  const GraphComparison others = compared(in("a.b", "Linear"), in("a.c", "Linear"));
  check_sound(others);
  REQUIRE(others.view.frames.size() == 3);
  CHECK(others.view.frames[0].path == "a");
  CHECK(others.view.frames[1].path == "a.c");
  CHECK(others.view.frames[2].path == "a.b");
  CHECK(others.view.frames[2].parent == 0);
  for (const GraphVertex& vertex : others.view.vertices) {
    if (vertex.change == GraphChange::removed) CHECK(vertex.frame == 2);
    if (vertex.change == GraphChange::added) CHECK(vertex.frame == 1);
  }
}

TEST_CASE("the difference is drawn with words and lines, not by colour alone") {
  const Tensor x = leaf("x");
  const GraphComparison comparison = compared(exp(tanh(x)), exp(sigmoid(x)));
  const GraphView& view = comparison.view;
  for (const Theme theme : {Theme::light, Theme::dark}) {
    const GraphOptions options{.theme = theme};
    const std::string svg = to_svg(view, GraphLayout::of(view, options), options);
    CHECK(svg.find("class=\"vertex operation as-added\"") != svg.npos);
    CHECK(svg.find("class=\"vertex operation as-removed\"") != svg.npos);
    CHECK(svg.find(">added</tspan>") != svg.npos);
    CHECK(svg.find(">removed</tspan>") != svg.npos);
    CHECK(svg.find("as-removed .box{stroke-dasharray:4 3}") != svg.npos);
    CHECK(svg.find(" added\" data-from") != svg.npos);
    CHECK(svg.find(" removed\" data-from") != svg.npos);
    CHECK(svg.find(">1 added, 1 removed, 0 changed, 2 the same; arrows: 2 added, 2 removed<") != svg.npos);
    for (const char* entry : {">the same</text>", ">added</text>", ">removed</text>"}) {
      CHECK(svg.find(entry) != svg.npos);
    }
    CHECK(svg.find(">parameter</text>") == svg.npos);
  }
  const std::string dot = to_dot(view);
  CHECK(dot.find("style=\"rounded,filled,dashed\"") != dot.npos);
  CHECK(dot.find("color=\"#dc2626\", style=dashed") != dot.npos);
  CHECK(to_json(view).find("\"change\": \"removed\"") != std::string::npos);
  CHECK(to_text(view).find("(removed)") != std::string::npos);
  const TemporaryFolder folder;
  save_view(folder / "difference.svg", view, {.title = "t"});
  CHECK(read_text(folder / "difference.svg") == to_svg(view, GraphLayout::of(view), {.title = "t"}));
}

TEST_CASE("a view that is no view of a graph is refused") {
  const GraphView good = view_of(tanh(leaf("x")));
  GraphView bad = good;
  std::swap(bad.edges[0].from, bad.edges[0].to);
  CHECK(error_of<ValueError>([&] { compare_graphs(good, bad); }) ==
        "compare_graphs: after: edge 0 leads from vertex 1 to 0 of 2; vertices are numbered inputs before results");
  bad.edges[0].from = 0;
  bad.edges[0].to = 7;
  error_of<ValueError>([&] { compare_graphs(bad, good); });
  CHECK(compare_graphs(GraphView(), good).added == 2);
  CHECK(compare_graphs(GraphView(), GraphView()).equal());
}

TEST_CASE("lists that are too long to be aligned are refused, equal ones are not") {
  const auto chain = [](auto first, auto second) {
    Tensor y = variable(1, "x");
    for (int i = 0; i < 8000; ++i) y = i % 2 == 0 ? first(y) : second(y);
    return GraphView::of({y}, {.max_nodes = 10'000});
  };
  const auto a = [](const Tensor& t) { return tanh(t); };
  const auto b = [](const Tensor& t) { return sigmoid(t); };
  CHECK(compare_graphs(chain(a, b), chain(a, b)).equal());
  CHECK(error_of<LimitError>([&] { compare_graphs(chain(a, b), chain(b, a)); }).find("fold them") != std::string::npos);
}

// Random programs over a few modules: both graphs can be read from the comparison, which has no cycle.
TEST_CASE("a comparison of any two graphs holds both, without a cycle") {
  const auto random_graph = [](std::mt19937& chance) {
    Tensors values{leaf("x"), leaf("w"), leaf("v")};
    for (int i = 0; i < 14; ++i) {
      const Scope scope(intern(cat("m", chance() % 3)));
      const Tensor &a = values[chance() % values.size()], &b = values[chance() % values.size()];
      const auto kind = chance() % 4;
      values.push_back(kind == 0 ? tanh(a) : kind == 1 ? exp(a) : kind == 2 ? a + b : a * b);
    }
    Tensor all = values[0];
    for (std::size_t i = 1; i < values.size(); ++i) all = all + values[i];
    return all;
  };
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    std::mt19937 chance(seed);
    const GraphView before = view_of(random_graph(chance)), after = view_of(random_graph(chance));
    const GraphComparison comparison = compare_graphs(before, after);
    check_sound(comparison);
    CHECK(half(comparison, GraphChange::added) == whole(before));
    CHECK(half(comparison, GraphChange::removed) == whole(after));
    CHECK(compare_graphs(before, before).equal());
  }
}

}  // namespace
}  // namespace xgrad::testing
