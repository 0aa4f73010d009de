// Numbers that diagrams often show.
#include "overlays.h"

#include <unordered_map>

namespace xgrad {

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
