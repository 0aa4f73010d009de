// Applying an overlay to a view.
#include "decorate.h"

#include <algorithm>
#include <cmath>

#include "../../base/error.h"
#include "../../base/text.h"
#include "characters.h"
#include "labels.h"

namespace xgrad::detail {

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

}  // namespace xgrad::detail
