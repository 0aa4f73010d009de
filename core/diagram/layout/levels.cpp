// Where everything stands when modules are folded.
#include "levels.h"

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "../../base/error.h"
#include "../view/characters.h"
#include "../view/fold.h"
#include "../view/labels.h"
#include "layout.h"

namespace xgrad::detail {
namespace {

using Json = nlohmann::ordered_json;

double tenths(double place) { return std::round(10 * place) / 10; }

Json json_of(const GraphBox& box) { return {tenths(box.left), tenths(box.top), tenths(box.width), tenths(box.height)}; }

Json json_of(const GraphCurve& curve) {
  Json places = Json::array();
  for (const GraphPoint& point : curve.points) places.insert(places.end(), {tenths(point.x), tenths(point.y)});
  places.insert(places.end(), {tenths(curve.tip.x), tenths(curve.tip.y)});
  return places;
}

Json json_of(const std::vector<LabelLine>& lines) {
  Json json = Json::array();
  for (const LabelLine& line : lines) {
    std::string text;
    for (const LabelRun& run : line) append(text, printable(run.text));
    json.push_back({style_name(line[0].style), text});
  }
  return json;
}

using FrameKey = std::pair<std::string, int>;  // path, order

Json layout_at(const GraphView& view, int level, const std::map<FrameKey, std::size_t>& number_of_frame,
               const GraphOptions& options) {
  // Vertices carry their numbers through the folding where they would have their steps.
  GraphView numbered = view;
  for (std::size_t v = 0; v < view.vertices.size(); ++v) numbered.vertices[v].step = static_cast<int>(v);
  const GraphView shown = folded_below(numbered, level);
  const GraphLayout layout = GraphLayout::of(shown, options);
  const auto is_frame = [&](int v) {
    const GraphVertex& vertex = shown.vertices[v];
    return vertex.role == GraphRole::module && number_of_frame.contains({vertex.path, vertex.order});
  };
  const auto id_of = [&](int v) {
    const GraphVertex& vertex = shown.vertices[v];
    return is_frame(v) ? cat('c', number_of_frame.at({vertex.path, vertex.order})) : cat('n', vertex.step);
  };
  Json boxes = Json::object(), labels = Json::object(), frames = Json::object(), arrows = Json::object();
  for (std::size_t v = 0; v < shown.vertices.size(); ++v) {
    const std::string id = id_of(static_cast<int>(v));
    boxes[id] = json_of(layout.vertices[v]);
    if (is_frame(static_cast<int>(v))) labels[id] = json_of(label_of(shown.vertices[v], options));
  }
  for (std::size_t c = 0; c < shown.frames.size(); ++c) {
    const GraphFrame& frame = shown.frames[c];
    frames[cat('c', number_of_frame.at({frame.path, frame.order}))] = json_of(layout.frames[c]);
  }
  for (std::size_t e = 0; e < shown.edges.size(); ++e) {
    const GraphEdge& edge = shown.edges[e];
    const bool of_vertices = !is_frame(edge.from) && !is_frame(edge.to);
    arrows[cat(id_of(edge.from), '>', id_of(edge.to), of_vertices ? cat('#', edge.input) : "")] =
        json_of(layout.edges[e]);
  }
  return {{"level", level}, {"boxes", boxes}, {"frames", frames}, {"arrows", arrows}, {"labels", labels}};
}

}  // namespace

std::string levels_json(const GraphView& view, const GraphOptions& options) {
  std::map<FrameKey, std::size_t> number_of_frame;
  for (std::size_t c = 0; c < view.frames.size(); ++c) {
    number_of_frame.try_emplace({view.frames[c].path, view.frames[c].order}, c);
  }
  // Frames that cannot be told apart cannot be found again once they are folded.
  if (number_of_frame.size() < view.frames.size()) return "[]";
  Json levels = Json::array();
  for (int level = 0; level < deepest_level(view); ++level) {
    try {
      levels.push_back(layout_at(view, level, number_of_frame, options));
    } catch (const IoError&) {
    }
  }
  return levels.dump();
}

}  // namespace xgrad::detail
