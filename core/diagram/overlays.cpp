// Numbers that diagrams often show.
#include "overlays.h"

namespace xgrad {

GraphOverlay kept_bytes_overlay() {
  return {.title = "keeps", .unit = "B", .of = [](const GraphVertex& vertex) -> std::optional<double> {
            if (!is_operation(vertex) || vertex.kept_bytes == 0) return std::nullopt;
            return static_cast<double>(vertex.kept_bytes);
          }};
}

GraphOverlay elements_overlay() {
  return {.title = "elements", .of = [](const GraphVertex& vertex) -> std::optional<double> {
            if (!is_operation(vertex) || !vertex.shape) return std::nullopt;
            return static_cast<double>(vertex.shape->numel());
          }};
}

}  // namespace xgrad
