// Applying the GraphOptions for single vertices to a view: numbers, colours.
#include "decorate.h"

#include <algorithm>
#include <cmath>

#include "../../base/error.h"
#include "../../base/text.h"
#include "characters.h"
#include "labels.h"

namespace xgrad::detail {
namespace {

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

void add_to_scale(GraphScale& scale, GraphVertex& vertex) {
  if (!vertex.overlay) return;
  scale.first = std::min(scale.first, *vertex.overlay);
  scale.last = std::max(scale.last, *vertex.overlay);
  vertex.remarks.push_back(
      cat(scale.title, ' ', amount_text(*vertex.overlay, scale.unit), vertex.times > 1 ? " each" : ""));
}

void decorate(GraphView& view, const GraphOptions& options, std::string_view caller) {
  if (options.overlay) {
    view.scale = {.title = options.overlay->title, .unit = options.overlay->unit};
    for (GraphVertex& vertex : view.vertices) add_to_scale(*view.scale, vertex);
  }
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
