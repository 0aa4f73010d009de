// Diagrams for other programs.
#include "exchange.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "characters.h"
#include "labels.h"
#include "palette.h"

namespace xgrad {
namespace {

using namespace detail;
using Json = nlohmann::ordered_json;

Json sizes_of(const Shape& shape) { return std::vector<std::int64_t>(shape.begin(), shape.end()); }
std::string frame_id(int cluster) { return cluster < 0 ? std::string() : cat('c', cluster); }

// With as many digits as tell it apart from its neighbours; as a word where it is not finite, which JSON cannot say.
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

Json json_of(const GraphVertex& vertex) {
  Json json{{"role", role_name(vertex.role)},
            {"op", vertex.op},
            {"name", vertex.name},
            {"path", vertex.path},
            {"order", vertex.order},
            {"frame", frame_id(vertex.cluster)}};
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
  if (!vertex.formula.empty()) json["formula"] = vertex.formula;
  if (!vertex.derivative.empty()) json["derivative"] = vertex.derivative;
  if (vertex.value) json["value"] = json_of(*vertex.value);
  if (vertex.gradient) json["gradient"] = json_of(*vertex.gradient);
  if (!vertex.gradient_state.empty()) json["gradient_state"] = vertex.gradient_state;
  if (vertex.step >= 0) json["step"] = vertex.step;
  if (vertex.gradient_step >= 0) json["gradient_step"] = vertex.gradient_step;
  return json;
}

class MermaidWriter {
 public:
  MermaidWriter(const GraphView& view, const GraphOptions& options) : view_(view), options_(options) {}

  std::string write() && {
    static constexpr std::array directions{"TB", "LR", "BT", "RL"};
    if (!options_.title.empty()) line(0, "---\ntitle: ", Json(printable(options_.title)).dump(), "\n---");
    line(0, "flowchart ", directions[static_cast<int>(options_.direction)]);
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
    return std::move(out_);
  }

 private:
  template <class... Parts>
  void line(int depth, const Parts&... parts) {
    out_.append(2 * static_cast<std::size_t>(depth), ' ');
    (append(out_, cat(parts)), ...);
    out_ += '\n';
  }

  // Letters, digits, spaces and what is beyond ASCII as they are, all else by its number.
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
    for (const LabelRun& run : words) append(text, escaped(run.text));
    return text;
  }

  void content_of(int frame, int depth) {
    for (std::size_t v = 0; v < view_.vertices.size(); ++v) {
      const GraphVertex& vertex = view_.vertices[v];
      if (vertex.cluster != frame) continue;
      std::string label;
      for (const LabelLine& words : label_of(vertex, options_)) {
        append(label, cat(label.empty() ? "" : "<br/>", escaped(words)));
      }
      const bool round = vertex.role == GraphRole::input;
      line(depth, 'n', v, round ? "([\"" : "[\"", label, round ? "\"])" : "\"]");
    }
    for (std::size_t c = 0; c < view_.clusters.size(); ++c) {
      if (view_.clusters[c].parent != frame) continue;
      line(depth, "subgraph c", c, "[\"", escaped(title_of(view_.clusters[c])), "\"]");
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
  }
  for (std::size_t c = 0; c < view.clusters.size(); ++c) {
    const GraphCluster& cluster = view.clusters[c];
    frames.push_back({{"id", cat('c', c)},
                      {"path", cluster.path},
                      {"title", cluster.title},
                      {"what", cluster.what},
                      {"parent", frame_id(cluster.parent)},
                      {"order", cluster.order},
                      {"times", cluster.times}});
  }
  const Json all{{"vertices", std::move(vertices)}, {"edges", std::move(edges)}, {"frames", std::move(frames)}};
  return all.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string to_mermaid(const GraphView& view, const GraphOptions& options) {
  return MermaidWriter(view, options).write();
}

}  // namespace xgrad
