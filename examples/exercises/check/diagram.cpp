#include <algorithm>
#include <fstream>
#include <map>

#include <xgrad/core/diagram/render/drawing.h>

#include "check.h"

namespace xgrad::exercises {
namespace {

using Arrows = std::vector<std::string>;

Tensor recorded() {
  const Tensor x = leaf({3, 4}, "x"), w = leaf({4, 4}, "w", 2);
  const Tensor q = matmul(x, w).named("q");
  const Tensor k = matmul(x, w).named("k");
  const Tensor scores = matmul(q, k, {.transpose_b = true}).named("scores");
  const Tensor largest = max(scores).detach().named("largest");
  const Tensor shifted = (scores - largest).named("shifted");
  const Tensor weights = softmax(shifted).named("weights");
  const Tensor mixed = matmul(weights, x).named("mixed");
  return (mixed + x).named("y");
}

Arrows arrows_of(const GraphView& graph) {
  Arrows arrows;
  for (const GraphEdge& edge : graph.edges) {
    const auto name = [&](int vertex) { return graph.vertices[vertex].name; };
    arrows.push_back(name(edge.from) + " -> " + name(edge.to));
  }
  return arrows;
}

// The arrows as a diagram, its vertices as in the recorded one. Refuses names that the program has not, and circles.
GraphView drawn(const Arrows& arrows, const GraphView& real) {
  GraphView graph;
  std::map<std::string, int> open;  // the arrows that still come in
  std::vector<std::pair<std::string, std::string>> ends;
  for (const std::string& arrow : arrows) {
    const std::size_t middle = arrow.find(" -> ");
    if (middle == std::string::npos) not_yet("'", arrow, "' is no arrow; write \"x -> q\", with spaces");
    ends.emplace_back(arrow.substr(0, middle), arrow.substr(middle + 4));
    for (const std::string& name : {ends.back().first, ends.back().second}) {
      if (std::ranges::find(real.vertices, name, &GraphVertex::name) == real.vertices.end()) {
        not_yet("'", arrow, "' names '", name, "', which is not in the program");
      }
    }
    open[ends.back().first] += 0;
    open[ends.back().second] += 1;
  }
  std::map<std::string, int> number;
  while (!open.empty()) {
    const auto next = std::ranges::find(open, 0, &std::pair<const std::string, int>::second);
    if (next == open.end())
      not_yet("the arrows form a circle through ", open.begin()->first, ": each leads from an input to a result");
    const std::string name = next->first;
    open.erase(next);
    number[name] = std::ssize(graph.vertices);
    graph.vertices.push_back(*std::ranges::find(real.vertices, name, &GraphVertex::name));
    for (const auto& [from, to] : ends) {
      if (from == name) --open[to];
    }
  }
  std::vector<int> inputs(graph.vertices.size());
  for (const auto& [from, to] : ends) {
    graph.edges.push_back(
        {number[from], number[to], inputs[number[to]]++, graph.vertices[number[from]].shape.value_or(Shape{})});
  }
  std::ranges::sort(graph.edges, {}, [](const GraphEdge& edge) { return std::pair(edge.to, edge.input); });
  return graph;
}

// The arrows that one list has more often than another, in its order.
Arrows without(Arrows some, const Arrows& others) {
  for (const std::string& arrow : others) {
    if (const auto found = std::ranges::find(some, arrow); found != some.end()) some.erase(found);
  }
  return some;
}

std::string why_missing(const std::string& arrow) {
  if (arrow == "largest -> shifted") return "a detached tensor is a leaf, and the difference uses it";
  if (arrow.starts_with("x -> ")) return "x is used by q, k, mixed and y, the residual connection";
  if (arrow.starts_with("w -> ")) return "both products use w";
  return "each operation has an arrow from each of its inputs";
}

std::string why_extra(const std::string& arrow) {
  if (arrow == "scores -> largest") return "detach() gives the value without its history, so largest is a leaf";
  return "this result is not computed directly from this input";
}

}  // namespace

void check::diagram(std::vector<std::string> (*answer)()) {
  const Arrows guess = answer();
  written(!guess.empty(), "begin with the leaves: x -> q, w -> q. A tensor that was detached is a leaf, too");
  const GraphView real = GraphView::of({recorded()});
  const GraphView drawn_guess = drawn(guess, real);
  const Arrows arrows = arrows_of(real), extra = without(guess, arrows), missing = without(arrows, guess);
  if (const auto& folder = drawing_folder(); !folder.empty()) {
    const auto draw = [&](const char* name, const GraphView& view, const char* title) {
      save_view((folder / name).string(), view, {.title = title, .legend = false});
    };
    draw("guess.svg", drawn_guess, "your graph");
    // The recorded graph would give the answer away.
    const bool right = extra.empty() && missing.empty();
    if (right) draw("recorded.svg", real, "the recorded graph");
    std::ofstream(folder / "diagram.html")
        << "<!DOCTYPE html><title>" << (right ? "Two graphs" : "Your graph") << "</title><p>Your graph"
        << (right ? ", and to its right the recorded one" : "; the recorded one stands beside it when yours is right")
        << ".</p><img src=\"guess.svg\" alt=\"your graph\">"
        << (right ? "<img src=\"recorded.svg\" alt=\"the recorded graph\">\n" : "\n");
  }
  if (!extra.empty()) {
    const std::string& arrow = extra.front();
    const auto has = [&](const std::string& one) { return std::ranges::find(arrows, one) != arrows.end(); };
    if (has(arrow))
      not_yet(arrow, " is listed ", std::ranges::count(guess, arrow), " times, more often than it is recorded");
    const std::size_t middle = arrow.find(" -> ");
    const std::string reversed = arrow.substr(middle + 4) + " -> " + arrow.substr(0, middle);
    if (has(reversed)) not_yet(arrow, " is the wrong way round: ", reversed);
    not_yet("your graph has one arrow ", arrow, " more than the recorded graph: ", why_extra(arrow));
  }
  if (!missing.empty()) not_yet("your graph lacks an arrow ", missing[0], ": ", why_missing(missing[0]));
  right_because() = "the gradient takes the same arrows backwards, and stops at largest";
  if (!drawing_folder().empty()) right_because() += str("; see ", (drawing_folder() / "diagram.html").string());
}

}  // namespace xgrad::exercises
