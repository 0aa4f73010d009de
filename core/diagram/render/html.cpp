// Diagrams as pages. The behaviour of the page is in core/diagram/page; here it is put together.
#include "html.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>
#include <utility>

#include "../../base/error.h"
#include "../../base/scope.h"
#include "../view/folding.h"
#include "../view/frames.h"
#include "../view/labels.h"
#include "../view/topology.h"
#include "export.h"
#include "svg.h"

namespace xgrad {
namespace detail {
namespace {

// ---- The views of the graph that a page shows ----------------------------------------------------------------------

constexpr int most_boxes = 300;

// What a vertex of a picture stands for.
struct PageVertex {
  int vertex = nothing;          // a vertex of the graph, or
  int frame = nothing;           // a module that is one box, or
  std::string name = {};         // a neighbour of the module
  Indexed<int> neighbours = {};  // its vertices that arrows come from or lead to
};

// A picture of the graph or of the inside of a module.
struct PageView {
  int module = nothing;  // the module, by the first frame with its path; nothing: the graph
  GraphView view;
  Indexed<PageVertex> shown = {};  // by vertex
  Indexed<int> frames = {};        // by frame: its index in the graph
};

// The content of a module, by indices: its vertices, the frames in it, and all edges that touch it.
struct ModuleContent {
  int module;  // the first frame of this path
  Indexed<int> vertices = {}, edges = {}, frames = {};
};

// The content of each path, in the order of frames. Modules that are called several times have a path for each call.
Indexed<ModuleContent> contents_of(const GraphView& view) {
  Indexed<ModuleContent> contents;
  std::map<std::string_view, int> content_of_path;
  Indexed<int> content_of;  // by frame
  for (int c = 0; c < view.frames.count(); ++c) {
    content_of.push_back(content_of_path.try_emplace(view.frames[c].path, contents.count()).first->second);
    if (content_of.back() == contents.count()) contents.push_back({.module = c});
  }
  const auto add = [&](int index, int frame, Indexed<int> ModuleContent::*list) {
    for (; frame != nothing; frame = view.frames[frame].parent) {
      Indexed<int>& indices = contents[content_of[frame]].*list;
      if (indices.empty() || indices.back() != index) indices.push_back(index);
    }
  };
  for (int v = 0; v < view.vertices.count(); ++v) add(v, view.vertices[v].frame, &ModuleContent::vertices);
  for (int e = 0; e < view.edges.count(); ++e) {
    add(e, view.vertices[view.edges[e].from].frame, &ModuleContent::edges);
    add(e, view.vertices[view.edges[e].to].frame, &ModuleContent::edges);
  }
  for (int c = 0; c < view.frames.count(); ++c) add(c, c, &ModuleContent::frames);
  return contents;
}

// "….q.weight" for "blocks.0.attn.q.weight" within "blocks.0.attn": equal modules have equal paths.
std::string path_within(const std::string& path, const std::string& module) {
  return lies_within(path, module) ? str("\u2026", path.substr(module.size())) : path;
}

// The outermost module around a vertex that does not contain the other module, or -1.
int outermost_neighbour(const GraphView& view, int v, const std::string& module) {
  int outermost = nothing;
  for (int f = view.vertices[v].frame; f != nothing && !lies_within(module, view.frames[f].path);) {
    outermost = std::exchange(f, view.frames[f].parent);
  }
  return outermost;
}

// Builds the inside of one path of a module with its modules as boxes, forward and backward pass together. A vertex or
// a module outside is an input if arrows come from it, and a result if they lead to it. It has no name yet, so that the
// insides of equal modules are equal.
class Inside {
 public:
  Inside(const GraphView& view, const ModuleContent& content)
      : view_(view), module_(content.module), path_(view.frames[content.module].path) {
    for (const int c : content.frames) {
      frame_index_.emplace(c, frames_.count());
      frames_.push_back(c);
      GraphFrame& frame = inside_.frames.emplace_back(view.frames[c]);
      frame.path = path_within(frame.path, path_);
      frame.parent = index_in(frame.parent, frame_index_);
      if (frame.parent == nothing) frame.title.clear();  // equal modules have other names
    }
    for (const int v : content.vertices) {
      index_.emplace(v, shown_.count());
      GraphVertex& vertex = add({.vertex = v}, view.vertices[v]);
      vertex.path = path_within(vertex.path, path_);
      vertex.frame = index_in(vertex.frame, frame_index_);
    }
    for (GraphVertex& vertex : inside_.vertices) vertex.rule_of = index_in(vertex.rule_of, index_);
    for (const int e : content.edges) add_edge(view.edges[e]);
    inside_.scale = view.scale;
  }

  PageView folded() && {
    const FoldedView result = folded_below(std::move(inside_), 1);
    PageView page{.module = module_, .view = result.view};
    for (int i = 0; i < result.vertices.count(); ++i) {
      const int box = result.boxes[i];
      page.shown.push_back(box == nothing ? shown_[result.vertices[i]] : PageVertex{.frame = frames_[box]});
    }
    for (const int c : result.frames) page.frames.push_back(frames_[c]);
    return page;
  }

 private:
  static int index_in(int old, const std::map<int, int>& indices) {
    const auto found = indices.find(old);
    return found == indices.end() ? nothing : found->second;
  }

  GraphVertex& add(PageVertex shown, GraphVertex vertex) {
    shown_.push_back(std::move(shown));
    return inside_.vertices.emplace_back(std::move(vertex));
  }

  void add_edge(const GraphEdge& edge) {
    GraphEdge added = edge;
    added.from = index_in(edge.from, index_);
    added.to = index_in(edge.to, index_);
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
    const int module = outermost_neighbour(view_, v, path_);
    const auto [entry, is_new] =
        neighbours_.try_emplace({module, module == nothing ? v : 0, is_result}, shown_.count());
    if (is_new) {
      const std::string name = module == nothing ? vertex.name.empty() ? headline_of(vertex) : vertex.name
                                                 : view_.frames[module].title + (vertex.order > 0 ? "'" : "");
      add({.name = name}, {.role = is_result ? GraphRole::operation : GraphRole::input,
                           .shape = shape,
                           .order = vertex.order,
                           .is_result = is_result});
    }
    GraphVertex& drawn = inside_.vertices[entry->second];
    if (drawn.shape != shape) drawn.shape.reset();  // several tensors
    Indexed<int>& vertices = shown_[entry->second].neighbours;
    if (std::ranges::find(vertices, v) == vertices.end()) vertices.push_back(v);
    return entry->second;
  }

  const GraphView& view_;
  const int module_;
  const std::string& path_;
  GraphView inside_;
  Indexed<PageVertex> shown_;  // by vertex
  Indexed<int> frames_;        // by frame
  std::map<int, int> index_, frame_index_;
  std::map<std::tuple<int, int, bool>, int> neighbours_;  // by frame, or else by vertex
  std::set<std::pair<int, int>> leaving_;
};

// The inside with the names of the neighbours.
GraphView named(const PageView& inside) {
  GraphView view = inside.view;
  for (int i = 0; i < view.vertices.count(); ++i) {
    const std::string& name = inside.shown[i].name;
    if (!name.empty()) (view.vertices[i].role == GraphRole::input ? view.vertices[i].name : view.vertices[i].op) = name;
  }
  return view;
}

// ---- The document --------------------------------------------------------------------------------------------------

// JSON without anything that a browser reads as the end of the script around it.
std::string harmless(std::string_view json) {
  std::string result;
  for (const char c : json) append(result, c == '<' ? std::string_view("\\u003c") : std::string_view(&c, 1));
  return result;
}

// The files of the script, each of which uses only those before it when the page starts.
std::string script() {
  std::string text;
  for (const char* name : {"numbers.js", "graph.js", "pictures.js", "camera.js", "steps.js", "panel.js", "search.js",
                           "saving.js", "page.js"}) {
    append(text, str(page_file(name), '\n'));
  }
  return text;
}

// The text with {{name}} filled; filled-in text is not scanned again.
std::string filled(std::string_view text, const std::map<std::string_view, std::string>& fillings) {
  std::string result;
  for (std::size_t open; (open = text.find("{{")) != text.npos;) {
    const std::size_t close = text.find("}}", open);
    append(result, str(text.substr(0, open), fillings.at(text.substr(open + 2, close - open - 2))));
    text.remove_prefix(close + 2);
  }
  return str(result, text);
}

// "The graph of loss" if there is no other title.
std::string page_title(const GraphView& view, const GraphOptions& options) {
  if (!options.title.empty()) return options.title;
  std::vector<std::string_view> names;
  for (const GraphVertex& vertex : view.vertices) {
    if (vertex.is_result && vertex.order == 0 && !vertex.name.empty()) names.push_back(vertex.name);
  }
  std::string title = "The graph";
  constexpr std::size_t most = 3;
  for (std::size_t i = 0; i < names.size() && i < most; ++i) append(title, str(i == 0 ? " of " : ", ", names[i]));
  return names.size() > most ? str(title, " \u2026") : title;
}

using Json = nlohmann::ordered_json;

// What the vertices and the frames of a picture stand for, by their ids in the graph's JSON.
Json json_of(const PageView& page) {
  Json shown = Json::array(), frames = Json::array();
  for (int i = 0; i < page.shown.count(); ++i) {
    const auto& [vertex, frame, name, neighbours] = page.shown[i];
    if (neighbours.empty()) {
      shown.push_back(frame >= 0 ? str('c', frame) : str('n', vertex));
      continue;
    }
    Json ids = Json::array();
    for (const int v : neighbours) ids.push_back(str('n', v));
    shown.push_back({{"name", name}, {page.view.vertices[i].is_result ? "to" : "from", std::move(ids)}});
  }
  for (const int c : page.frames) frames.push_back(str('c', c));
  return {{"shown", std::move(shown)}, {"frames", std::move(frames)}};
}

// The pictures of a page as SVG, each in its own element, and what they stand for as JSON.
struct PagePictures {
  PagePictures(const GraphView& view, const GraphOptions& given) : options(given) {
    add_levels(view);
    std::map<std::string, int> drawn;  // equal insides have one picture
    for (const ModuleContent& content : contents_of(view)) {
      const PageView inside = Inside(view, content).folded();
      const auto [picture, is_new] = drawn.try_emplace(to_json(inside.view), count);
      if (is_new) draw(named(inside));
      list(inside, picture->second)["module"] = str('c', inside.module);
    }
  }

  // The graph with modules below level 0, 1, 2, ... folded, as far as a level has at most 300 boxes.
  void add_levels(GraphView view) {
    set_levels(view);
    for (int level = 0; level <= deepest_level(view); ++level) {
      FoldedView folded = folded_below(view, level);
      if (level > 0 && folded.vertices.count() > most_boxes) break;
      PageView page{.view = std::move(folded.view), .frames = std::move(folded.frames)};
      for (int i = 0; i < folded.vertices.count(); ++i) {
        page.shown.push_back({.vertex = folded.vertices[i], .frame = folded.boxes[i]});
      }
      const bool opens = options.depth == automatic_depth ? fits_on_a_page(page.view, options) : level <= options.depth;
      if (opens) first = level;
      list(page, count);
      draw(page.view);
    }
  }
  Json& list(const PageView& page, int picture) {
    Json& listed = json.emplace_back(json_of(page));
    listed["picture"] = picture;
    return listed;
  }
  void draw(const GraphView& view) {
    append(elements, str("<script type=\"image/svg+xml\" id=\"picture", count++, "\">\n", svg_element(view, options),
                         "</script>\n"));
  }

  const GraphOptions& options;
  int count = 0, first = 0;  // pictures; the level that the page opens with
  std::string elements;
  Json json = Json::array();
};

}  // namespace
}  // namespace detail

std::string to_html(const GraphView& view, const GraphOptions& options) {
  if (options.depth < automatic_depth) fail<ValueError>("to_html", "depth ", options.depth, " is negative");
  detail::check_view(view, "to_html");
  const detail::PagePictures pictures(view, options);
  return detail::filled(
      detail::page_file("page.html"),
      {{"title", detail::xml_escaped(detail::page_title(view, options))},
       {"style", str(detail::page_file("page.css"), detail::svg_style())},
       {"level", str(pictures.first)},
       {"graph", detail::harmless(detail::compact_json(view))},
       {"pictures", pictures.elements},
       {"shown", detail::harmless(pictures.json.dump(-1, ' ', true, detail::Json::error_handler_t::replace))},
       {"script", detail::script()}});
}

}  // namespace xgrad
