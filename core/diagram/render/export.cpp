// Diagrams as text.
#include "export.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <tuple>

#include "../view/colours.h"
#include "../view/labels.h"
#include "../view/topology.h"

namespace xgrad {
namespace detail {
namespace {

using Json = nlohmann::ordered_json;

Json sizes_of(const Shape& shape) { return Indexed<std::int64_t>(shape.begin(), shape.end()); }
std::string frame_id(int frame) { return frame < 0 ? std::string() : str('c', frame); }

// With enough digits to be unique; as a word if it is not finite, which JSON cannot express.
template <class Number>
Json json_of_number(Number number) {
  if (std::isnan(number)) return "NaN";
  if (std::isinf(number)) return number > 0 ? "Infinity" : "-Infinity";
  return Json::parse(str(number));
}

Json json_of(const NumbersSummary& summary) {
  Json json{{"shape", sizes_of(summary.shape)},
            {"nans", summary.nans},
            {"infinities", summary.infinities},
            {"zeros", summary.zeros},
            {"least", json_of_number(summary.least)},
            {"mean", json_of_number(summary.mean)},
            {"greatest", json_of_number(summary.greatest)},
            {"deviation", json_of_number(summary.stddev)}};
  if (!summary.histogram.empty()) json["histogram"] = summary.histogram;
  for (const Real number : summary.numbers) json["numbers"].push_back(json_of_number(number));
  return json;
}

Json json_of(const GraphVertex& vertex, int v) {
  Json json{{"id", str('n', v)},
            {"role", role_name(vertex.role)},
            {"op", vertex.op},
            {"name", vertex.name},
            {"path", vertex.path},
            {"order", vertex.order},
            {"frame", frame_id(vertex.frame)}};
  if (vertex.shape) json["shape"] = sizes_of(*vertex.shape);
  if (vertex.constant) json["number"] = json_of_number(*vertex.constant);
  if (vertex.is_result) json["is_result"] = true;
  const auto& [text, record, totals] = std::tie(vertex.text, vertex.record, vertex.totals);
  if (totals.saved_bytes > 0) json["saved_bytes"] = totals.saved_bytes;
  if (vertex.role == GraphRole::module) {
    json["operations"] = totals.operations;
    json["results"] = totals.results;
    json["parameters"] = totals.parameters;
  }
  if (vertex.times > 1) json["times"] = vertex.times;
  if (!text.note.empty()) json["note"] = text.note;
  if (!text.what.empty()) json["what"] = text.what;
  for (const auto& [name, value] : text.attributes) json["attributes"][name] = value;
  if (!text.formula.empty()) json["formula"] = text.formula;
  if (!text.derivative.empty()) json["derivative"] = text.derivative;
  if (record.value) json["value"] = json_of(*record.value);
  if (record.gradient) json["gradient"] = json_of(*record.gradient);
  if (!record.gradient_state.empty()) json["gradient_state"] = record.gradient_state;
  if (record.first_nan) json["first_nan"] = true;
  if (record.step >= 0) json["step"] = record.step;
  if (record.gradient_step >= 0) json["gradient_step"] = record.gradient_step;
  if (totals.overlay) json["overlay"] = *totals.overlay;
  if (!text.remarks.empty()) json["remarks"] = text.remarks;
  return json;
}

Json json_of(const GraphView& view) {
  static constexpr std::array flows{"numbers", "indices", "mask"};
  Json vertices = Json::array(), edges = Json::array(), frames = Json::array();
  for (int v = 0; v < view.vertices.count(); ++v) vertices.push_back(json_of(view.vertices[v], v));
  for (int e = 0; e < view.edges.count(); ++e) {
    const GraphEdge& edge = view.edges[e];
    edges.push_back({{"id", str('e', e)},
                     {"from", str('n', edge.from)},
                     {"to", str('n', edge.to)},
                     {"input", edge.input},
                     {"shape", sizes_of(edge.shape)},
                     {"flow", flows[static_cast<std::size_t>(edge.flow)]}});
    if (edge.gradient) edges.back()["gradient"] = json_of(*edge.gradient);
  }
  for (int c = 0; c < view.frames.count(); ++c) {
    const GraphFrame& frame = view.frames[c];
    frames.push_back({{"id", str('c', c)},
                      {"path", frame.path},
                      {"title", frame.title},
                      {"what", frame.what},
                      {"parent", frame_id(frame.parent)},
                      {"order", frame.order},
                      {"times", frame.times}});
  }
  Json all{{"vertices", std::move(vertices)}, {"edges", std::move(edges)}, {"frames", std::move(frames)}};
  if (view.scale) {
    all["scale"] = {{"title", view.scale->title},
                    {"unit", view.scale->unit},
                    {"first", view.scale->first},
                    {"last", view.scale->last}};
  }
  return all;
}

// ---- DOT ------------------------------------------------------------------------------------------------------------

// Labels read &...; as a character, and a backslash as the beginning of one.
std::string quoted(const std::vector<std::string>& lines) {
  std::string result;
  for (const std::string& line : lines) {
    append(result, result.empty() ? "\"" : "\\n");
    for (const char c : printable(line)) {
      if (c == '"' || c == '\\') result += '\\';
      append(result, c == '&' ? "&amp;" : std::string_view(&c, 1));
    }
  }
  return result + '"';
}

// The letters of a line, with a sign before indices and exponents.
std::string plain(const LabelLine& line) {
  static constexpr std::array signs{"", "_", "^"};
  std::string text;
  for (const LabelSpan& span : line) append(text, str(signs[static_cast<std::size_t>(span.script)], span.text));
  return text;
}

class DotWriter {
 public:
  DotWriter(const GraphView& view, const GraphOptions& options) : view_(view), options_(options) {}

  std::string write() && {
    const bool sideways = options_.direction == Direction::left_to_right;
    line("digraph xgrad {\n  graph [rankdir=", sideways ? "LR" : "TB", ", label=", quoted({options_.title}),
         ", labelloc=t, newrank=true, nodesep=0.22, ranksep=0.32];");
    line("  node [shape=box, style=\"rounded,filled\", height=0.3];");
    write_content(nothing);
    for (const GraphEdge& edge : view_.edges) write_edge(edge);
    line("}");
    return std::move(out_);
  }

 private:
  template <class... Parts>
  void line(const Parts&... parts) {
    (append(out_, parts), ...);
    out_ += '\n';
  }

  void write_content(int frame) {
    for (int v = 0; v < view_.vertices.count(); ++v) {
      if (view_.vertices[v].frame == frame) write_vertex(v);
    }
    for (int c = frame + 1; c < view_.frames.count(); ++c) {  // parents come before children
      if (view_.frames[c].parent != frame) continue;
      line("subgraph cluster_", c,
           " {\n  graph [style=rounded, labeljust=l, label=", quoted({plain(title_of(view_.frames[c]))}), "];");
      write_content(c);
      line("}");
    }
  }

  void write_vertex(int v) {
    const GraphVertex& vertex = view_.vertices[v];
    std::vector<std::string> label;
    for (const LabelLine& words : label_of(vertex, options_)) label.push_back(plain(words));
    line("  n", v, " [label=", quoted(label), ", tooltip=", quoted(tooltip_of(vertex)), ", fillcolor=\"",
         (palette_of(Theme::light).*look_of(vertex).paint).fill, '"',
         vertex.role == GraphRole::input ? ", shape=ellipse" : "", "];");
  }

  void write_edge(const GraphEdge& edge) {
    static constexpr std::array colours{"black", "red", "gray"};  // of a value, a gradient, a saved value
    line("  n", edge.from, " -> n", edge.to, " [color=", colours[static_cast<std::size_t>(kind_of(view_, edge))],
         edge.flow == GraphFlow::numbers ? "" : ", style=dotted", "];");
  }

  const GraphView& view_;
  const GraphOptions& options_;
  std::string out_;
};

}  // namespace

std::string compact_json(const GraphView& view) {
  return json_of(view).dump(-1, ' ', true, Json::error_handler_t::replace);
}

}  // namespace detail

std::string to_json(const GraphView& view) {
  detail::check_view(view, "to_json");
  return detail::json_of(view).dump(1, ' ', false, detail::Json::error_handler_t::replace) + "\n";
}

std::string to_dot(const GraphView& view, const GraphOptions& options) {
  detail::check_view(view, "to_dot");
  return detail::DotWriter(view, options).write();
}

std::string to_text(const GraphView& view) {
  detail::check_view(view, "to_text");
  using Row = std::array<std::string, 5>;
  detail::Indexed<Row> rows{{"", "op", "name", "shape", "inputs"}};
  for (int v = 0; v < view.vertices.count(); ++v) {
    const GraphVertex& vertex = view.vertices[v];
    const std::string count = vertex.times > 1 ? str(" x", vertex.times) : std::string();
    rows.push_back({str('n', v),
                    detail::printable(is_operation(vertex) ? vertex.op : str(detail::role_name(vertex.role), count)),
                    detail::printable(vertex.constant ? detail::rounded(*vertex.constant) : detail::full_name(vertex)),
                    vertex.shape ? str(*vertex.shape) : std::string(), vertex.text.note});
  }
  for (const GraphEdge& edge : view.edges) {
    std::string& inputs = rows[edge.to + 1].back();
    append(inputs, str(inputs.empty() ? "" : " ", 'n', edge.from));
  }
  for (int v = 0; v < view.vertices.count(); ++v) {
    std::string& inputs = rows[v + 1].back();
    for (const std::string& remark : view.vertices[v].text.remarks) {
      append(inputs, str(inputs.empty() ? "" : "  ", "(", detail::printable(remark), ")"));
    }
  }
  std::array<std::size_t, 4> widths{};
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < widths.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const Row& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      line += row[i];
      line.append(widths[i] + 2 - row[i].size(), ' ');
    }
    line += row.back();
    line.erase(line.find_last_not_of(' ') + 1);
    append(text, str(line, '\n'));
  }
  return text;
}

}  // namespace xgrad
