// Numbers that diagrams often show.
#include "overlays.h"

#include <unordered_map>

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

GraphOverlay time_overlay(const Profile& profile) {
  std::unordered_map<std::uint64_t, double> of_nodes;
  for (const Profile::Run& run : profile.runs()) {
    if (run.node != 0) of_nodes[run.node] += run.milliseconds;
  }
  return {.title = "time", .unit = "ms", .of_node = [of_nodes](const Node& node) -> std::optional<double> {
            const auto found = of_nodes.find(node.id);
            return found == of_nodes.end() ? std::nullopt : std::optional(found->second);
          }};
}

}  // namespace xgrad
