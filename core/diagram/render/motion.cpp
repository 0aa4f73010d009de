// Times and styles of animated pictures.
#include "motion.h"

#include <algorithm>
#include <map>

#include "../../base/text.h"

namespace xgrad::detail {
namespace {

constexpr int most_single = 40;  // vertices that move one by one
constexpr double longest_step = 0.5, all_steps = 4.2;

// The length of the longest path to each vertex, in arrows.
Indexed<int> longest_paths_to(const GraphView& view) {
  Indexed<int> ranks(view.vertices.count());
  for (const GraphEdge& edge : view.edges) ranks[edge.to] = std::max(ranks[edge.to], ranks[edge.from] + 1);
  return ranks;
}

bool is_computed(const GraphVertex& vertex) { return is_operation(vertex) || vertex.role == GraphRole::module; }

}  // namespace

Timetable timetable_of(const GraphView& view) {
  const int count = view.vertices.count();
  const bool single = count <= most_single;
  const bool steps_known = std::ranges::all_of(
      view.vertices, [](const GraphVertex& vertex) { return !is_computed(vertex) || vertex.record.step >= 0; });
  const Indexed<int> ranks = longest_paths_to(view);
  // The position of each vertex in the order; gradients of a run come after all values.
  Indexed<int> values(count, -1), gradients(count, -1);
  int last = 0;
  for (int v = 0; v < count; ++v) {
    const GraphVertex& vertex = view.vertices[v];
    if (is_computed(vertex)) values[v] = !single ? ranks[v] : steps_known ? vertex.record.step : v;
    last = std::max(last, values[v]);
  }
  Indexed<int> first_use(count, last + 1);  // a gradient is complete when this one has contributed
  for (const GraphEdge& edge : view.edges) first_use[edge.from] = std::min(first_use[edge.from], ranks[edge.to]);
  for (int v = 0; v < count; ++v) {
    const int step = view.vertices[v].record.gradient_step;
    if (step >= 0) gradients[v] = last + 1 + (single ? step : last + 1 - first_use[v]);
  }
  std::map<int, int> moments;  // of the occupied positions
  for (const Indexed<int>* all : {&values, &gradients}) {
    for (const int position : *all) {
      if (position >= 0) moments.emplace(position, 0);
    }
  }
  int next = 0;
  for (auto& [position, moment] : moments) moment = next++;
  Timetable table{.values = Indexed<double>(count, 0), .gradients = Indexed<double>(count, -1)};
  table.interval = std::min(longest_step, all_steps / std::max(next, 1));
  for (int v = 0; v < count; ++v) {
    if (values[v] >= 0) table.values[v] = table.interval * (moments.at(values[v]) + 1);
    if (gradients[v] >= 0) table.gradients[v] = table.interval * (moments.at(gradients[v]) + 1);
  }
  return table;
}

std::string motion_style(std::string_view scope) {
  std::string css =
      "@media screen and (prefers-reduced-motion:no-preference){\n"
      "@keyframes xgrad-compute{20%{stroke-width:4}}\n"
      "@keyframes xgrad-return{20%{stroke:#e11d48;stroke-width:5}}\n"
      "@keyframes xgrad-flow{from{opacity:1;offset-distance:0}99%{opacity:1}"
      "to{opacity:0;offset-distance:100%}}\n"
      "@keyframes xgrad-flow-back{from{opacity:1;offset-distance:100%}99%{opacity:1}"
      "to{opacity:0;offset-distance:0}}\n";
  const auto style = [&](std::string_view what, std::string_view how) {
    append(css, str(scope, ' ', what, '{', how, "}\n"));
  };
  style(".vertex.moves .box", "animation:xgrad-compute 0.6s var(--v)");
  style(".vertex.returns .box", "animation:xgrad-return 0.6s var(--g)");
  style(".vertex.moves.returns .box", "animation:xgrad-compute 0.6s var(--v),xgrad-return 0.6s var(--g)");
  style(".token", "animation:xgrad-flow var(--d) var(--t) linear");
  style(".token.back", "animation-name:xgrad-flow-back");
  append(css, "}\n");
  return css;
}

}  // namespace xgrad::detail
