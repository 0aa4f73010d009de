// Layouts for each level of folding.
#include "levels.h"

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "../../base/error.h"
#include "../view/characters.h"
#include "../view/fold.h"
#include "../view/frames.h"
#include "../view/labels.h"

namespace xgrad::detail {
namespace {

using Json = nlohmann::json;

double tenths(double place) { return std::round(10 * place) / 10; }

Json json_of(const std::string& id, const GraphBox& box) {
  return {id, tenths(box.left), tenths(box.top), tenths(box.width), tenths(box.height)};
}

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

class Levels {
 public:
  Levels(const GraphView& view, const GraphOptions& options) : view_(view), options_(options) {
    for (std::size_t c = 0; c < view.frames.size(); ++c) {
      number_of_frame_.try_emplace({view.frames[c].path, view.frames[c].order}, c);
    }
    // Vertices carry their numbers through the folding in their field for steps.
    for (std::size_t v = 0; v < view_.vertices.size(); ++v) view_.vertices[v].step = static_cast<int>(v);
  }

  std::string with(const GraphLayout& layout) {
    Json levels = Json::array();
    const int deepest = deepest_level(view_);
    // Frames that are not unique cannot be found again once they are folded.
    if (number_of_frame_.size() == view_.frames.size()) {
      for (int level = 0; level < deepest; ++level) {
        const GraphView shown = folded_below(view_, level);
        levels.push_back(json(level, shown, GraphLayout::of(shown, options_)));
      }
    }
    levels.push_back(json(deepest, view_, layout));
    return levels.dump();
  }

 private:
  std::string id_of_frame(const std::string& path, int order) const {
    return cat('c', number_of_frame_.at({path, order}));
  }

  Json json(int level, const GraphView& shown, const GraphLayout& layout) const {
    std::vector<std::string> ids;
    Json boxes = Json::array(), labels = Json::object(), frames = Json::array(), arrows = Json::array();
    for (std::size_t v = 0; v < shown.vertices.size(); ++v) {
      const GraphVertex& vertex = shown.vertices[v];
      ids.push_back(is_frame(vertex) ? id_of_frame(vertex.path, vertex.order) : cat('n', vertex.step));
      boxes.push_back(json_of(ids[v], layout.vertices[v]));
      if (is_frame(vertex)) labels[ids[v]] = json_of(label_of(vertex, options_));
    }
    const bool all = shown.frames.size() == view_.frames.size();
    for (std::size_t c = 0; c < shown.frames.size(); ++c) {
      const GraphFrame& frame = shown.frames[c];
      frames.push_back(json_of(all ? cat('c', c) : id_of_frame(frame.path, frame.order), layout.frames[c]));
      frames.back().push_back(tenths(layout.titles[c].width));
    }
    for (std::size_t e = 0; e < shown.edges.size(); ++e) {
      const GraphEdge& edge = shown.edges[e];
      const bool of_vertices = !is_frame(shown.vertices[edge.from]) && !is_frame(shown.vertices[edge.to]);
      arrows.push_back({ids[edge.from], ids[edge.to], of_vertices ? edge.input : 0, json_of(layout.edges[e])});
    }
    return {{"level", level}, {"boxes", boxes}, {"frames", frames}, {"arrows", arrows}, {"labels", labels}};
  }

  bool is_frame(const GraphVertex& vertex) const {
    return vertex.role == GraphRole::module && number_of_frame_.contains({vertex.path, vertex.order});
  }

  GraphView view_;
  const GraphOptions& options_;
  std::map<FrameKey, std::size_t> number_of_frame_;
};

}  // namespace

std::string levels_json(const GraphView& view, const GraphLayout& layout, const GraphOptions& options) {
  return Levels(view, options).with(layout);
}

}  // namespace xgrad::detail
