// The places of everything in a diagram, by the program dot.
#include "layout.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
#include <utility>

#include "../../base/error.h"
#include "arrangement.h"
#include "../view/characters.h"
#include "../view/measures.h"
#include "routes.h"

namespace xgrad {
namespace {

using namespace detail;

constexpr double points_per_inch = 72;  // a point of dot is a pixel here

// The graph as dot needs it to place everything: sizes and arrows alone.
class SketchWriter {
 public:
  SketchWriter(const GraphView& view, const GraphOptions& options)
      : view_(view), options_(options), arrangement_(view) {}

  // nslimit bounds the search for the shortest arrows, which of some graphs of 150 vertices takes minutes.
  std::string write() && {
    static constexpr std::array directions{"TB", "LR", "BT", "RL"};
    append(out_, cat("digraph {\ngraph [rankdir=", directions[static_cast<int>(options_.direction)],
                     ", nodesep=0.25, ranksep=0.25, newrank=true, nslimit=20];\nnode [shape=box, fixedsize=true, label=\"\"];\n",
                     "edge [arrowsize=0.6];\n"));
    content_of(-1);
    for (std::size_t e = 0; e < view_.edges.size(); ++e) write_edge(e);
    append(out_, "}\n");
    return std::move(out_);
  }

 private:
  void content_of(int frame) {
    for (const int v : arrangement_.vertices_in(frame)) {
      const LabelSize size = size_of_vertex(view_.vertices[v], options_);
      append(out_, cat('n', v, " [width=", size.width / points_per_inch, ", height=", size.height / points_per_inch,
                       view_.vertices[v].role == GraphRole::input ? ", shape=ellipse" : "", "];\n"));
    }
    for (const int c : arrangement_.frames_in(frame)) {
      append(out_, cat("subgraph cluster_", c, " {\ngraph [margin=10, labeljust=l, label=",
                       room_for(size_of_title(view_.clusters[c])), "];\n"));
      content_of(c);
      append(out_, "}\n");
    }
  }

  void write_edge(std::size_t e) {
    const GraphEdge& edge = view_.edges[e];
    const bool upwards = arrangement_.upwards(edge);
    append(out_, cat('n', upwards ? edge.to : edge.from, " -> n", upwards ? edge.from : edge.to, " [id=", e,
                     arrangement_.attributes(edge)));
    if (options_.edge_shapes) append(out_, cat(", label=", room_for(size_of_edge_label(edge))));
    append(out_, "];\n");
  }

  static std::string room_for(const LabelSize& size) {
    return cat("<<table border=\"0\" cellpadding=\"0\" cellspacing=\"0\" fixedsize=\"true\" width=\"",
               static_cast<int>(size.width), "\" height=\"", static_cast<int>(size.height),
               "\"><tr><td></td></tr></table>>");
  }

  const GraphView& view_;
  const GraphOptions& options_;
  const Arrangement arrangement_;
  std::string out_;
};

// What dot answers.
class PlanReader {
 public:
  PlanReader(const GraphView& view, const GraphOptions& options, const std::string& text)
      : view_(view), options_(options), plan_(Json::parse(text)) {}

  GraphLayout read() && {
    const std::vector<double> page = numbers_of(plan_.at("bb"));
    layout_.width = page.at(2);
    layout_.height = page.at(3);
    layout_.vertices.resize(view_.vertices.size());
    layout_.edges.resize(view_.edges.size());
    layout_.frames.resize(view_.clusters.size());
    layout_.titles.resize(view_.clusters.size());
    if (plan_.contains("objects")) {
      for (const Json& object : plan_["objects"]) read_object(object);
    }
    if (plan_.contains("edges")) {
      for (const Json& edge : plan_["edges"]) read_edge(edge);
    }
    const bool all =
        std::ranges::none_of(layout_.vertices, [](const GraphBox& box) { return box.width == 0; }) &&
        std::ranges::none_of(layout_.edges, [](const GraphCurve& curve) { return curve.points.empty(); }) &&
        std::ranges::none_of(layout_.frames, [](const GraphBox& box) { return box.width == 0; });
    if (!all) throw std::out_of_range("not everything has a place");
    return std::move(layout_);
  }

 private:
  using Json = nlohmann::json;

  static std::vector<double> numbers_of(const Json& words) { return numbers(words.get_ref<const std::string&>()); }
  static std::vector<double> numbers(std::string_view text) {
    std::vector<double> result;
    for (const char* at = text.data(); at < text.data() + text.size();) {
      double number = 0;
      const auto [end, error] = std::from_chars(at, text.data() + text.size(), number);
      if (error == std::errc()) result.push_back(number);
      at = std::max(end, at + 1);
    }
    return result;
  }
  // dot counts from below.
  GraphPoint point(const std::vector<double>& xy, std::size_t i = 0) const {
    return {xy.at(i), layout_.height - xy.at(i + 1)};
  }
  static GraphBox around(const GraphPoint& center, const LabelSize& size) {
    return {center.x - size.width / 2, center.y - size.height / 2, size.width, size.height};
  }

  void read_object(const Json& object) {
    const std::string& name = object.at("name").get_ref<const std::string&>();
    if (const std::size_t number = name.rfind('_'); number != name.npos) {
      const std::size_t c = std::stoul(name.substr(number + 1));
      const std::vector<double> box = numbers_of(object.at("bb"));
      layout_.frames.at(c) = {box.at(0), layout_.height - box.at(3), box.at(2) - box.at(0), box.at(3) - box.at(1)};
      layout_.titles.at(c) = around(point(numbers_of(object.at("lp"))), size_of_title(view_.clusters[c]));
    } else {
      const std::size_t v = std::stoul(name.substr(1));
      layout_.vertices.at(v) =
          around(point(numbers_of(object.at("pos"))), size_of_vertex(view_.vertices.at(v), options_));
    }
  }

  // "s,x,y" or "e,x,y" is the tip of an arrow at the start or the end, then the curve follows.
  void read_edge(const Json& edge) {
    GraphCurve& curve = layout_.edges.at(std::stoul(edge.at("id").get_ref<const std::string&>()));
    const std::string& words = edge.at("pos").get_ref<const std::string&>();
    const std::vector<double> all = numbers(words);
    curve.tip = point(all);
    for (std::size_t i = 2; i + 1 < all.size(); i += 2) curve.points.push_back(point(all, i));
    if (words.starts_with('s')) std::ranges::reverse(curve.points);
    if (edge.contains("lp")) curve.label = point(numbers_of(edge["lp"]));
  }

  const GraphView& view_;
  const GraphOptions& options_;
  const Json plan_;
  GraphLayout layout_;
};

}  // namespace

GraphLayout GraphLayout::of(const GraphView& view, const GraphOptions& options, const DrawingLimits& limits,
                            std::string_view caller) {
  if (limits.processor_seconds < 1 || limits.seconds < 1 || limits.memory < 1) {
    fail<ValueError>(caller, "limits of ", limits.processor_seconds, " s, ", limits.seconds, " s and ", limits.memory,
                     " bytes: one is not positive");
  }
  const ProgramResult plan = run_program({"dot", "-Tjson0"}, SketchWriter(view, options).write(), limits, caller);
  if (!plan.is_there) fail<IoError>(caller, plan.failure, ": install the package graphviz");
  if (!plan.failure.empty()) {
    fail<IoError>(caller, plan.failure, " on ", view.vertices.size(), " vertices and ", view.edges.size(),
                  " arrows; fold modules with .depth");
  }
  try {
    GraphLayout layout = PlanReader(view, options, plan.output).read();
    route_between_frames(view, options.direction, layout.vertices, layout.frames, layout.edges);
    return layout;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    fail<IoError>(caller, "dot gave no layout: ", printable(error.what()));
  }
}

}  // namespace xgrad
