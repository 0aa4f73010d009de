// Diagrams for other programs.
#include "export.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "../view/characters.h"
#include "../view/labels.h"
#include "../view/palette.h"

namespace xgrad {
namespace {

using namespace detail;
using Json = nlohmann::ordered_json;

Json sizes_of(const Shape& shape) { return std::vector<std::int64_t>(shape.begin(), shape.end()); }
std::string frame_id(int frame) { return frame < 0 ? std::string() : cat('c', frame); }

// With enough digits to be unique; as a word if it is not finite, which JSON cannot express.
template <class Number>
Json json_of_number(Number number) {
  if (std::isnan(number)) return "NaN";
  if (std::isinf(number)) return number > 0 ? "Infinity" : "-Infinity";
  return Json::parse(cat(number));
}

Json json_of(const NumbersSummary& summary) {
  Json json{{"shape", sizes_of(summary.shape)},
            {"nans", summary.nans},
            {"infinities", summary.infinities},
            {"zeros", summary.zeros},
            {"least", json_of_number(summary.least)},
            {"mean", json_of_number(summary.mean)},
            {"greatest", json_of_number(summary.greatest)},
            {"deviation", json_of_number(summary.deviation)}};
  if (!summary.histogram.empty()) json["histogram"] = summary.histogram;
  for (const Real number : summary.numbers) json["numbers"].push_back(json_of_number(number));
  return json;
}

std::string_view change_name(GraphChange change) {
  static constexpr std::array<std::string_view, 5> names{"none", "same", "added", "removed", "changed"};
  return names[static_cast<std::size_t>(change)];
}

// The marks that options and comparisons give a vertex or an edge.
template <class Marked>
void add_marks(Json& json, const Marked& marked) {
  if (marked.dimmed) json["dimmed"] = true;
  if (marked.change != GraphChange::none) json["change"] = change_name(marked.change);
}
void add_marks(Json& json, const GraphVertex& vertex) {
  add_marks<GraphVertex>(json, vertex);
  if (vertex.overlay) json["overlay"] = *vertex.overlay;
  if (!vertex.remarks.empty()) json["remarks"] = vertex.remarks;
  if (vertex.colours.fill) json["fill"] = hex(*vertex.colours.fill);
  if (vertex.colours.line) json["line"] = hex(*vertex.colours.line);
  if (vertex.colours.text) json["text"] = hex(*vertex.colours.text);
}

Json json_of(const GraphVertex& vertex) {
  Json json{{"role", role_name(vertex.role)},
            {"op", vertex.op},
            {"name", vertex.name},
            {"path", vertex.path},
            {"order", vertex.order},
            {"frame", frame_id(vertex.frame)}};
  if (vertex.shape) json["shape"] = sizes_of(*vertex.shape);
  if (vertex.number) json["number"] = json_of_number(*vertex.number);
  if (vertex.is_result) json["is_result"] = true;
  if (vertex.kept_bytes > 0) json["kept_bytes"] = vertex.kept_bytes;
  if (vertex.role == GraphRole::module) {
    json["operations"] = vertex.operations;
    json["results"] = vertex.results;
    json["parameters"] = vertex.parameters;
  }
  if (vertex.times > 1) json["times"] = vertex.times;
  if (!vertex.note.empty()) json["note"] = vertex.note;
  if (!vertex.what.empty()) json["what"] = vertex.what;
  for (const auto& [name, value] : vertex.attributes) json["attributes"][name] = value;
  if (!vertex.source.empty()) json["source"] = vertex.source;
  if (!vertex.formula.empty()) json["formula"] = vertex.formula;
  if (!vertex.derivative.empty()) json["derivative"] = vertex.derivative;
  if (vertex.value) json["value"] = json_of(*vertex.value);
  if (vertex.gradient) json["gradient"] = json_of(*vertex.gradient);
  if (!vertex.gradient_state.empty()) json["gradient_state"] = vertex.gradient_state;
  if (vertex.first_nan) json["first_nan"] = true;
  if (vertex.failed) json["failed"] = true;
  if (vertex.step >= 0) json["step"] = vertex.step;
  if (vertex.gradient_step >= 0) json["gradient_step"] = vertex.gradient_step;
  add_marks(json, vertex);
  return json;
}

// The fonts of Model Explorer have no ellipsis.
std::string with_dots(std::string text) {
  constexpr std::string_view ellipsis = "\u2026";
  for (std::size_t at = 0; (at = text.find(ellipsis, at)) != text.npos;) text.replace(at, ellipsis.size(), "...");
  return text;
}

// "encoder/layers.0/attn": the frames around a vertex. The frames of a backward pass are in one of their own.
std::string namespace_of(const GraphView& view, int frame) {
  std::string path;
  int order = 0;
  for (int c = frame; c >= 0; c = view.frames[c].parent) {
    std::string title = with_dots(view.frames[c].title);
    std::ranges::replace(title, '/', '|');
    path = cat(title, path.empty() ? "" : "/", path);
    order = view.frames[c].order;
  }
  return order == 0 ? path : cat(order == 1 ? "gradient" : cat("gradient ", order), "/", path);
}

Json key_value(std::string_view key, std::string_view value) { return {{"key", key}, {"value", value}}; }

// The attributes that Model Explorer shows beside a selected vertex.
Json attributes_of(const GraphVertex& vertex) {
  Json all = Json::array({key_value("role", role_name(vertex.role))});
  const auto add = [&](std::string_view key, const std::string& value) {
    if (!value.empty()) all.push_back(key_value(key, value));
  };
  add("name", vertex.name);
  add("module", vertex.path);
  add("what", vertex.what);
  add("number", vertex.number ? cat(*vertex.number) : std::string());
  for (const auto& [name, value] : vertex.attributes) add(name, value.empty() ? "yes" : value);
  add("formula", vertex.formula);
  add("derivative", vertex.derivative);
  if (vertex.kept_bytes > 0) add("keeps", amount_text(static_cast<double>(vertex.kept_bytes), "B"));
  if (vertex.operations > 0) add("operations", cat(vertex.operations));
  if (vertex.parameters > 0) add("parameters", cat(vertex.parameters));
  if (vertex.times > 1) add("times", cat(vertex.times));
  add("note", vertex.note);
  std::string remarks;
  for (const std::string& remark : vertex.remarks) append(remarks, cat(remarks.empty() ? "" : "; ", remark));
  add("remarks", remarks);
  return all;
}

Json model_explorer_node(const GraphView& view, std::size_t v) {
  const GraphVertex& vertex = view.vertices[v];
  Json node{{"id", cat('n', v)},
            {"label", cat(with_dots(headline_of(vertex)), vertex.times > 1 ? cat(" \u00D7", vertex.times) : "")},
            {"namespace", namespace_of(view, vertex.frame)},
            {"attrs", attributes_of(vertex)},
            {"incomingEdges", Json::array()},
            {"outputsMetadata", Json::array()}};
  if (vertex.shape) {
    node["outputsMetadata"].push_back({{"id", "0"}, {"attrs", {key_value("tensor_shape", cat(*vertex.shape))}}});
  }
  if (view.scale || vertex.change != GraphChange::none || vertex.failed || vertex.colours.fill || vertex.colours.line) {
    const VertexColours colours = colours_of(view, vertex, Theme::light);
    node["style"] = {{"backgroundColor", colours.fill}, {"borderColor", colours.line}};
  }
  return node;
}

class MermaidWriter {
 public:
  MermaidWriter(const GraphView& view, const GraphOptions& options) : view_(view), options_(options) {}

  std::string write() && {
    const std::string title =
        cat(options_.title, options_.title.empty() || view_.remark.empty() ? "" : ": ", view_.remark);
    if (!title.empty()) line(0, "---\ntitle: ", Json(printable(title)).dump(), "\n---");
    line(0, "flowchart ", direction_name(options_.direction));
    content_of(-1, 1);
    for (const GraphEdge& edge : view_.edges) {
      const bool borrowed = view_.vertices[edge.from].order != view_.vertices[edge.to].order;
      line(1, 'n', edge.from, borrowed || edge.flow != GraphFlow::numbers ? " -.-> " : " --> ", 'n', edge.to);
    }
    const Palette& palette = palette_of(options_.theme);
    for (const LegendEntry& entry : legend_of(view_)) {
      const Paint& paint = palette.*entry.paint;
      std::string members;
      for (std::size_t v = 0; v < view_.vertices.size(); ++v) {
        if (paint_of(view_.vertices[v]) == entry.paint) append(members, cat(members.empty() ? "" : ",", 'n', v));
      }
      std::string name(entry.text);
      std::ranges::replace(name, ' ', '_');
      line(1, "classDef ", name, " fill:", paint.fill, ",stroke:", paint.line, ",color:", paint.text);
      line(1, "class ", members, ' ', name);
    }
    write_colours(palette);
    return std::move(out_);
  }

 private:
  template <class... Parts>
  void line(int depth, const Parts&... parts) {
    out_.append(2 * static_cast<std::size_t>(depth), ' ');
    (append(out_, cat(parts)), ...);
    out_ += '\n';
  }

  // The colours that differ from those of roles.
  void write_colours(const Palette& palette) {
    for (std::size_t v = 0; v < view_.vertices.size(); ++v) {
      const GraphVertex& vertex = view_.vertices[v];
      const Paint& paint = palette.*paint_of(vertex);
      const VertexColours colours = colours_of(view_, vertex, options_.theme);
      if (colours.fill == paint.fill && colours.line == paint.line && colours.text == paint.text) continue;
      line(1, "style n", v, " fill:", colours.fill, ",stroke:", colours.line, ",color:", colours.text);
    }
    for (std::size_t e = 0; e < view_.edges.size(); ++e) {
      const GraphEdge& edge = view_.edges[e];
      const char* colour = edge.dimmed                           ? palette.frame_line
                           : edge.change == GraphChange::added   ? palette.added.line
                           : edge.change == GraphChange::removed ? palette.removed.line
                                                                 : nullptr;
      if (colour) line(1, "linkStyle ", e, " stroke:", colour);
    }
  }

  // Letters, digits, spaces and characters beyond ASCII as they are, all else by its number.
  static std::string escaped(std::string_view text) {
    std::string result;
    for (const char c : printable(text)) {
      const auto code = static_cast<unsigned char>(c);
      const bool plain =
          code >= 0x80 || c == ' ' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
      append(result, plain ? std::string(1, c) : cat('#', static_cast<int>(code), ';'));
    }
    return result;
  }
  static std::string escaped(const LabelLine& words) {
    std::string text;
    for (const LabelRun& run : words) {
      const std::string_view tag = run.script == Script::below ? "sub>" : run.script == Script::above ? "sup>" : "";
      append(text, tag.empty() ? escaped(run.text) : cat('<', tag, escaped(run.text), "</", tag));
    }
    return text;
  }

  void content_of(int frame, int depth) {
    for (std::size_t v = 0; v < view_.vertices.size(); ++v) {
      const GraphVertex& vertex = view_.vertices[v];
      if (vertex.frame != frame) continue;
      std::string label;
      for (const LabelLine& words : label_of(vertex, options_)) {
        append(label, cat(label.empty() ? "" : "<br/>", escaped(words)));
      }
      const bool round = vertex.role == GraphRole::input;
      line(depth, 'n', v, round ? "([\"" : "[\"", label, round ? "\"])" : "\"]");
    }
    for (std::size_t c = 0; c < view_.frames.size(); ++c) {
      if (view_.frames[c].parent != frame) continue;
      line(depth, "subgraph c", c, "[\"", escaped(title_of(view_.frames[c])), "\"]");
      content_of(static_cast<int>(c), depth + 1);
      line(depth, "end");
    }
  }

  const GraphView& view_;
  const GraphOptions& options_;
  std::string out_;
};

}  // namespace

std::string to_json(const GraphView& view) {
  static constexpr std::array flows{"numbers", "indices", "mask"};
  Json vertices = Json::array(), edges = Json::array(), frames = Json::array();
  for (std::size_t v = 0; v < view.vertices.size(); ++v) {
    Json vertex{{"id", cat('n', v)}};
    vertex.update(json_of(view.vertices[v]));
    vertices.push_back(std::move(vertex));
  }
  for (std::size_t e = 0; e < view.edges.size(); ++e) {
    const GraphEdge& edge = view.edges[e];
    edges.push_back({{"id", cat('e', e)},
                     {"from", cat('n', edge.from)},
                     {"to", cat('n', edge.to)},
                     {"input", edge.input},
                     {"shape", sizes_of(edge.shape)},
                     {"flow", flows[static_cast<std::size_t>(edge.flow)]}});
    if (edge.gradient) edges.back()["gradient"] = json_of(*edge.gradient);
    add_marks(edges.back(), edge);
  }
  for (std::size_t c = 0; c < view.frames.size(); ++c) {
    const GraphFrame& frame = view.frames[c];
    frames.push_back({{"id", cat('c', c)},
                      {"path", frame.path},
                      {"title", frame.title},
                      {"what", frame.what},
                      {"parent", frame_id(frame.parent)},
                      {"order", frame.order},
                      {"times", frame.times}});
  }
  Json all{{"vertices", std::move(vertices)}, {"edges", std::move(edges)}, {"frames", std::move(frames)}};
  if (!view.remark.empty()) all["remark"] = view.remark;
  if (view.scale) {
    all["scale"] = {{"title", view.scale->title},
                    {"unit", view.scale->unit},
                    {"first", view.scale->first},
                    {"last", view.scale->last}};
  }
  return all.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string to_mermaid(const GraphView& view, const GraphOptions& options) {
  return MermaidWriter(view, options).write();
}

std::string to_model_explorer(const GraphView& view, const std::string& title) {
  Json nodes = Json::array(), groups = Json::object();
  for (std::size_t v = 0; v < view.vertices.size(); ++v) nodes.push_back(model_explorer_node(view, v));
  for (const GraphEdge& edge : view.edges) {
    nodes[static_cast<std::size_t>(edge.to)]["incomingEdges"].push_back(
        {{"sourceNodeId", cat('n', edge.from)}, {"sourceNodeOutputId", "0"}, {"targetNodeInputId", cat(edge.input)}});
  }
  for (std::size_t c = 0; c < view.frames.size(); ++c) {
    const GraphFrame& frame = view.frames[c];
    const std::string name = namespace_of(view, static_cast<int>(c));
    if (!frame.what.empty()) groups[name]["what"] = frame.what;
    if (frame.times > 1) groups[name]["times"] = cat(frame.times);
  }
  if (!view.remark.empty()) groups[""]["remark"] = view.remark;
  const std::string id = title.empty() ? "graph" : title;
  const Json graph{{"id", id}, {"nodes", std::move(nodes)}, {"groupNodeAttributes", std::move(groups)}};
  const Json all{{"label", id}, {"graphs", Json::array({graph})}};
  return all.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace xgrad
