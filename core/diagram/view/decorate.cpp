// Applying the GraphOptions for single vertices to a view: numbers, paths, colours.
#include "decorate.h"

#include <algorithm>
#include <cmath>

#include "../../base/error.h"
#include "../../base/scope.h"
#include "../../base/text.h"
#include "characters.h"
#include "labels.h"

namespace xgrad::detail {
namespace {

std::string words_of(const GraphEnd& end) {
  if (const auto* name = std::get_if<std::string>(&end)) return *name;
  const auto& tensor = std::get<Tensor>(end);
  return tensor.name().empty() ? cat("a result of ", tensor.node()->op) : tensor.name();
}
std::string words_of(const std::vector<GraphEnd>& ends) {
  constexpr std::size_t most = 3;
  std::string text;
  for (std::size_t i = 0; i < std::min(most, ends.size()); ++i) {
    append(text, cat(i == 0 ? "" : ", ", words_of(ends[i])));
  }
  if (ends.size() > most) append(text, cat(" and ", ends.size() - most, " more"));
  return text;
}

std::optional<Rgb> chosen(std::string_view what, std::string_view words, const GraphVertex& vertex,
                          std::string_view caller) {
  if (words.empty()) return std::nullopt;
  const std::optional<Rgb> colour = colour_of(words);
  if (!colour) {
    fail<ValueError>(caller, "style of ", printable(called(vertex)), ": ", what, " '", printable(words),
                     "' is none of ", colour_words());
  }
  return colour;
}

void give_scale(GraphView& view, const GraphOverlay& overlay) {
  GraphScale scale{.title = overlay.title, .unit = overlay.unit};
  for (GraphVertex& vertex : view.vertices) {
    if (!vertex.overlay) continue;
    scale.first = std::min(scale.first, *vertex.overlay);
    scale.last = std::max(scale.last, *vertex.overlay);
    vertex.remarks.push_back(
        cat(overlay.title, ' ', amount_text(*vertex.overlay, overlay.unit), vertex.times > 1 ? " each" : ""));
  }
  view.scale = std::move(scale);
}

}  // namespace

void check_overlay(const GraphOverlay& overlay, std::string_view caller) {
  if (overlay.title.empty()) fail<ValueError>(caller, "the overlay has no title");
  if (bool(overlay.of) != bool(overlay.of_node)) return;
  fail<ValueError>(caller, "the overlay '", printable(overlay.title), "' has ",
                   overlay.of ? "two functions" : "no function", ": it needs one of .of and .of_node");
}

void add_number(GraphVertex& vertex, std::optional<double> number, const GraphOverlay& overlay,
                std::string_view caller) {
  if (!number) return;
  if (!std::isfinite(*number)) {
    fail<ValueError>(caller, "the overlay '", printable(overlay.title), "' gives ", *number, " for ",
                     printable(called(vertex)));
  }
  vertex.overlay = vertex.overlay.value_or(0) + *number;
}

void mark_paths(GraphView& view, const std::vector<int>& from, const std::vector<int>& to) {
  std::vector<bool> after(view.vertices.size(), from.empty()), before(view.vertices.size(), to.empty());
  for (const int v : from) after[v] = true;
  for (const int v : to) before[v] = true;
  for (const GraphEdge& edge : view.edges) after[edge.to] = after[edge.to] || after[edge.from];
  for (std::size_t e = view.edges.size(); e-- > 0;) {
    const GraphEdge& edge = view.edges[e];
    before[edge.from] = before[edge.from] || before[edge.to];
  }
  bool found = false;
  for (std::size_t v = 0; v < view.vertices.size(); ++v) {
    view.vertices[v].dimmed = !after[v] || !before[v];
    found |= !view.vertices[v].dimmed;
  }
  for (GraphEdge& edge : view.edges) edge.dimmed = !after[edge.from] || !before[edge.to];
  if (found) return;
  for (const auto* ends : {&from, &to}) {
    for (const int v : *ends) view.vertices[v].dimmed = false;
  }
}

std::vector<int> vertices_called(const GraphView& view, std::string_view name) {
  std::vector<int> found;
  for (std::size_t v = 0; v < view.vertices.size(); ++v) {
    const GraphVertex& vertex = view.vertices[v];
    const bool named = !vertex.name.empty() && (vertex.name == name || full_name(vertex) == name);
    const bool within = !name.empty() && lies_within(vertex.path, name);
    if (named || within) found.push_back(static_cast<int>(v));
  }
  return found;
}

std::string path_remark(const GraphView& view, const GraphOptions& options) {
  if (options.from.empty() && options.to.empty()) return {};
  if (options.to.empty()) return cat("in full colour: everything that depends on ", words_of(options.from));
  if (options.from.empty()) return cat("in full colour: everything that ", words_of(options.to), " depends on");
  const bool found = std::ranges::any_of(view.edges, [](const GraphEdge& edge) { return !edge.dimmed; });
  return cat(found ? "in full colour: every path" : "there is no path", " from ", words_of(options.from), " to ",
             words_of(options.to));
}

void decorate(GraphView& view, const GraphOptions& options, std::string_view caller) {
  if (options.overlay) give_scale(view, *options.overlay);
  if (!options.style) return;
  for (GraphVertex& vertex : view.vertices) {
    const VertexStyle style = options.style(vertex);
    vertex.colours = {.fill = chosen("fill", style.fill, vertex, caller),
                      .line = chosen("line", style.line, vertex, caller),
                      .text = chosen("text", style.text, vertex, caller)};
    if (vertex.colours.fill && !vertex.colours.text) vertex.colours.text = readable_on(*vertex.colours.fill);
    if (!style.note.empty()) vertex.remarks.push_back(style.note);
  }
}

}  // namespace xgrad::detail
