// Diagrams as JSON.
#include "export.h"

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <tuple>

#include "../view/labels.h"

namespace xgrad {
namespace detail {
namespace {

using Json = nlohmann::ordered_json;

Json sizes_of(const Shape& shape) { return std::vector<std::int64_t>(shape.begin(), shape.end()); }
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

Json json_of(const GraphVertex& vertex) {
  Json json{{"role", role_name(vertex.role)},
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
  for (std::size_t v = 0; v < view.vertices.size(); ++v) {
    Json vertex{{"id", str('n', v)}};
    vertex.update(json_of(view.vertices[v]));
    vertices.push_back(std::move(vertex));
  }
  for (std::size_t e = 0; e < view.edges.size(); ++e) {
    const GraphEdge& edge = view.edges[e];
    edges.push_back({{"id", str('e', e)},
                     {"from", str('n', edge.from)},
                     {"to", str('n', edge.to)},
                     {"input", edge.input},
                     {"shape", sizes_of(edge.shape)},
                     {"flow", flows[static_cast<std::size_t>(edge.flow)]}});
    if (edge.gradient) edges.back()["gradient"] = json_of(*edge.gradient);
  }
  for (std::size_t c = 0; c < view.frames.size(); ++c) {
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

}  // namespace

std::string compact_json(const GraphView& view) {
  return json_of(view).dump(-1, ' ', true, Json::error_handler_t::replace);
}

}  // namespace detail

std::string to_json(const GraphView& view) {
  return detail::json_of(view).dump(1, ' ', false, detail::Json::error_handler_t::replace) + "\n";
}

std::string to_text(const GraphView& view) {
  std::vector<std::array<std::string, 4>> rows{{"", "op", "name", "shape"}};
  std::vector<std::string> inputs{"inputs"};
  for (std::size_t v = 0; v < view.vertices.size(); ++v) {
    const GraphVertex& vertex = view.vertices[v];
    const std::string count = vertex.times > 1 ? str(" x", vertex.times) : std::string();
    rows.push_back({str('n', v),
                    detail::printable(is_operation(vertex) ? vertex.op : str(detail::role_name(vertex.role), count)),
                    detail::printable(vertex.constant ? detail::rounded(*vertex.constant) : detail::full_name(vertex)),
                    vertex.shape ? str(*vertex.shape) : std::string()});
    inputs.push_back(vertex.text.note);
  }
  for (const GraphEdge& edge : view.edges) {
    std::string& text = inputs[edge.to + 1];
    append(text, str(text.empty() ? "" : " ", 'n', edge.from));
  }
  for (std::size_t v = 0; v < view.vertices.size(); ++v) {
    std::string& text = inputs[v + 1];
    for (const std::string& remark : view.vertices[v].text.remarks) {
      append(text, str(text.empty() ? "" : "  ", "(", detail::printable(remark), ")"));
    }
  }
  std::array<std::size_t, 4> widths{};
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    std::string line;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      append(line, rows[r][i]);
      line.append(widths[i] - rows[r][i].size() + 2, ' ');
    }
    append(line, inputs[r]);
    line.erase(line.find_last_not_of(' ') + 1);
    append(text, str(line, '\n'));
  }
  return text;
}

}  // namespace xgrad
