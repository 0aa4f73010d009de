// The views of a graph that a page shows.
#include "page_views.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "../../base/scope.h"
#include "frames.h"
#include "labels.h"
#include "order.h"

namespace xgrad::detail {
namespace {

constexpr std::size_t most_boxes = 300;

// What is in a module: the numbers of its vertices, its frames, and all edges that touch it.
struct Content {
  int module;  // the first frame of this path
  std::vector<int> vertices, edges;
  std::set<int> frames;
};

// For each path, in the order of frames. Modules that are called several times have a path for each call.
std::vector<Content> contents_of(const GraphView& view) {
  std::vector<Content> contents;
  std::map<std::string_view, std::size_t> known;
  std::vector<std::size_t> content_of;  // by frame
  for (int c = 0; std::cmp_less(c, view.frames.size()); ++c) {
    content_of.push_back(known.try_emplace(view.frames[c].path, contents.size()).first->second);
    if (content_of.back() == contents.size())
      contents.push_back({.module = c, .vertices = {}, .edges = {}, .frames = {}});
  }
  const auto add = [&](int number, int frame, std::vector<int> Content::*list) {
    for (; frame != nothing; frame = view.frames[frame].parent) {
      std::vector<int>& numbers = contents[content_of[frame]].*list;
      if (numbers.empty() || numbers.back() != number) numbers.push_back(number);
    }
  };
  for (int v = 0; std::cmp_less(v, view.vertices.size()); ++v) add(v, view.vertices[v].frame, &Content::vertices);
  for (int e = 0; std::cmp_less(e, view.edges.size()); ++e) {
    add(e, view.vertices[view.edges[e].from].frame, &Content::edges);
    add(e, view.vertices[view.edges[e].to].frame, &Content::edges);
  }
  for (int c = 0; std::cmp_less(c, view.frames.size()); ++c) {
    for (int f = c; f != nothing; f = view.frames[f].parent) {
      contents[content_of[f]].frames.insert(c);
    }
  }
  return contents;
}

// "….q.weight" for "blocks.0.attn.q.weight" within "blocks.0.attn": equal modules have equal paths.
std::string path_within(const std::string& path, const std::string& module) {
  return lies_within(path, module) ? str("\u2026", path.substr(module.size())) : path;
}

// The outermost module around a vertex that does not contain the other module, or -1.
int outermost_beside(const GraphView& view, int v, const std::string& module) {
  int outermost = nothing;
  for (int f = view.vertices[v].frame; f != nothing && !lies_within(module, view.frames[f].path);) {
    outermost = std::exchange(f, view.frames[f].parent);
  }
  return outermost;
}

// Builds the view of one module's content, not folded.
class Inside {
 public:
  Inside(const GraphView& view, const Content& content)
      : view_(view), module_(content.module), path_(view.frames[content.module].path) {
    for (const int c : content.frames) {
      frame_number_.emplace(c, static_cast<int>(frames_.size()));
      frames_.push_back(c);
      GraphFrame& frame = inside_.frames.emplace_back(view.frames[c]);
      frame.path = path_within(frame.path, path_);
      frame.parent = number_of(frame.parent, frame_number_);
      if (frame.parent == nothing) frame.title.clear();  // equal modules have other names
    }
    for (const int v : content.vertices) {
      number_.emplace(v, static_cast<int>(shown_.size()));
      GraphVertex& vertex = add({.vertex = v}, view.vertices[v]);
      vertex.path = path_within(vertex.path, path_);
      vertex.frame = number_of(vertex.frame, frame_number_);
    }
    for (GraphVertex& vertex : inside_.vertices) vertex.rule_of = number_of(vertex.rule_of, number_);
    for (const int e : content.edges) add_edge(view.edges[e]);
    inside_.scale = view.scale;
  }

  PageView folded() && {
    const FoldedView result = folded_below(std::move(inside_), 1);
    PageView page{.module = module_, .view = result.view};
    for (std::size_t i = 0; i < result.vertices.size(); ++i) {
      const int box = result.boxes[i];
      page.shown.push_back(box == nothing ? shown_[result.vertices[i]] : PageVertex{.frame = frames_[box]});
    }
    for (const int c : result.frames) page.frames.push_back(frames_[c]);
    return page;
  }

 private:
  static int number_of(int old, const std::map<int, int>& numbers) {
    const auto found = numbers.find(old);
    return found == numbers.end() ? nothing : found->second;
  }

  GraphVertex& add(PageVertex shown, GraphVertex vertex) {
    shown_.push_back(std::move(shown));
    return inside_.vertices.emplace_back(std::move(vertex));
  }

  void add_edge(const GraphEdge& edge) {
    GraphEdge added = edge;
    added.from = number_of(edge.from, number_);
    added.to = number_of(edge.to, number_);
    if (added.from == nothing) added.from = neighbour(edge.from, false, edge.shape);
    if (added.to == nothing) {
      added.to = neighbour(edge.to, true, edge.shape);
      added.input = 0;
      if (!leaving_.emplace(added.from, added.to).second) return;
    }
    inside_.edges.push_back(std::move(added));
  }

  // The vertex that stands for a vertex outside, or for the module around it.
  int neighbour(int v, bool is_result, const Shape& shape) {
    const GraphVertex& vertex = view_.vertices[v];
    const int beside = outermost_beside(view_, v, path_);
    const auto [place, is_new] =
        neighbours_.try_emplace({beside, beside == nothing ? v : 0, is_result}, static_cast<int>(shown_.size()));
    if (is_new) {
      const std::string name = beside == nothing ? vertex.name.empty() ? headline_of(vertex) : vertex.name
                                                 : view_.frames[beside].title + (vertex.order > 0 ? "'" : "");
      add({.name = name}, {.role = is_result ? GraphRole::operation : GraphRole::input,
                           .op = {},
                           .name = {},
                           .path = {},
                           .shape = shape,
                           .order = vertex.order,
                           .is_result = is_result});
    }
    GraphVertex& drawn = inside_.vertices[place->second];
    if (drawn.shape != shape) drawn.shape.reset();  // several tensors
    std::vector<int>& vertices = shown_[place->second].neighbours;
    if (std::ranges::find(vertices, v) == vertices.end()) vertices.push_back(v);
    return place->second;
  }

  const GraphView& view_;
  const int module_;
  const std::string& path_;
  GraphView inside_;
  std::vector<PageVertex> shown_;  // by vertex
  std::vector<int> frames_;        // by frame
  std::map<int, int> number_, frame_number_;
  std::map<std::tuple<int, int, bool>, int> neighbours_;  // by frame, or else by vertex
  std::set<std::pair<int, int>> leaving_;
};

}  // namespace

std::vector<PageView> levels_of(const GraphView& view) {
  std::vector<PageView> levels;
  for (int level = 0; level <= deepest_level(view); ++level) {
    FoldedView folded = folded_below(view, level);
    if (level > 0 && folded.vertices.size() > most_boxes) break;
    PageView& page = levels.emplace_back(PageView{.view = std::move(folded.view), .frames = std::move(folded.frames)});
    for (std::size_t i = 0; i < folded.vertices.size(); ++i) {
      page.shown.push_back({.vertex = folded.vertices[i], .frame = folded.boxes[i]});
    }
  }
  return levels;
}

std::vector<PageView> insides_of(const GraphView& view) {
  std::vector<PageView> insides;
  for (const Content& content : contents_of(view)) insides.push_back(Inside(view, content).folded());
  return insides;
}

GraphView named(const PageView& inside) {
  GraphView view = inside.view;
  for (std::size_t i = 0; i < view.vertices.size(); ++i) {
    const std::string& name = inside.shown[i].name;
    if (!name.empty()) (view.vertices[i].role == GraphRole::input ? view.vertices[i].name : view.vertices[i].op) = name;
  }
  return view;
}

}  // namespace xgrad::detail
