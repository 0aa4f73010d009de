// The colours of diagrams.
#include "colours.h"

#include <algorithm>
#include <array>

namespace xgrad::detail {

const Palette& palette_of(Theme theme) {
  static constexpr Palette light{.background = "#ffffff",
                                 .text = "#0f172a",
                                 .faint = "#64748b",
                                 .frame = "#f8fafc",
                                 .frame_line = "#8492a6",
                                 .input = {"#dbeafe", "#3b82f6", "#1e3a8a"},
                                 .parameter = {"#fef3c7", "#b7791f", "#78350f"},
                                 .constant = {"#f1f5f9", "#8492a6", "#475569"},
                                 .operation = {"#ffffff", "#7b8aa0", "#0f172a"},
                                 .gradient = {"#ffe4e6", "#f43f5e", "#881337"},
                                 .higher_gradient = {"#f3e8ff", "#a855f7", "#581c87"},
                                 .result = {"#dcfce7", "#1f9d55", "#14532d"},
                                 .module = {"#e0e7ff", "#6366f1", "#312e81"},
                                 .edge = "#64748b",
                                 .gradient_edge = "#e0566f",
                                 .borrowed_edge = "#d9647d",
                                 .error = {"#fee2e2", "#dc2626", "#7f1d1d"},
                                 .plus = "#f59e0b",
                                 .minus = "#3b82f6",
                                 .heat = {{{"#fff7ec", "", "#0f172a"},
                                           {"#fee8c8", "", "#0f172a"},
                                           {"#fdd49e", "", "#0f172a"},
                                           {"#fdbb84", "", "#0f172a"},
                                           {"#fc8d59", "", "#0f172a"},
                                           {"#d7301f", "", "#ffffff"},
                                           {"#990000", "", "#ffffff"}}}};
  static constexpr Palette dark{.background = "#0f172a",
                                .text = "#f1f5f9",
                                .faint = "#94a3b8",
                                .frame = "#162033",
                                .frame_line = "#66758c",
                                .input = {"#1e3a8a", "#60a5fa", "#dbeafe"},
                                .parameter = {"#5b3a0c", "#f0b429", "#fef3c7"},
                                .constant = {"#1e293b", "#66758c", "#cbd5e1"},
                                .operation = {"#1e293b", "#66758c", "#f1f5f9"},
                                .gradient = {"#701a35", "#fb7185", "#ffe4e6"},
                                .higher_gradient = {"#4c1d7c", "#c084fc", "#f3e8ff"},
                                .result = {"#14532d", "#4ade80", "#dcfce7"},
                                .module = {"#312e81", "#818cf8", "#e0e7ff"},
                                .edge = "#94a3b8",
                                .gradient_edge = "#fb7185",
                                .borrowed_edge = "#b8546d",
                                .error = {"#7f1d1d", "#f87171", "#fee2e2"},
                                .plus = "#b45309",
                                .minus = "#1d4ed8",
                                .heat = {{{"#1c1917", "", "#f1f5f9"},
                                          {"#3b1f12", "", "#f1f5f9"},
                                          {"#64290f", "", "#f1f5f9"},
                                          {"#93370d", "", "#f1f5f9"},
                                          {"#c2410c", "", "#ffffff"},
                                          {"#f08a24", "", "#0f172a"},
                                          {"#fcd34d", "", "#0f172a"}}}};
  return theme == Theme::dark ? dark : light;
}

const std::array<Look, 9> looks{{{"input", "input", &Palette::input, GraphRole::input},
                                 {"parameter", "parameter", &Palette::parameter, GraphRole::parameter},
                                 {"constant", "constant", &Palette::constant, GraphRole::constant},
                                 {"operation", "operation", &Palette::operation},
                                 {"module", "module", &Palette::module, GraphRole::module},
                                 {"gradient", "gradient", &Palette::gradient, GraphRole::operation, 1},
                                 {"higher", "higher gradient", &Palette::higher_gradient, GraphRole::operation, 2},
                                 {"result", "result", &Palette::result},
                                 {"error", "the first NaN", &Palette::error}}};

const Look& look_of(const GraphVertex& vertex) {
  const auto look = [](Paint Palette::*paint) -> const Look& { return *std::ranges::find(looks, paint, &Look::paint); };
  if (vertex.record.first_nan) return look(&Palette::error);
  const bool is_given = vertex.role == GraphRole::parameter || vertex.role == GraphRole::input;
  if (vertex.is_result && !is_given) return look(&Palette::result);
  if (!is_leaf(vertex) && vertex.order > 1) return look(&Palette::higher_gradient);
  const bool is_gradient = vertex.role == GraphRole::gradient_operation || vertex.role == GraphRole::seed;
  if (is_gradient || (!is_leaf(vertex) && vertex.order > 0)) return look(&Palette::gradient);
  return *std::ranges::find(looks, vertex.role, &Look::role);
}

int heat_of(const GraphScale& scale, double value) {
  constexpr int shades = std::tuple_size_v<decltype(Palette::heat)>;
  if (!(scale.last > scale.first)) return 0;
  const double fraction = (value - scale.first) / (scale.last - scale.first);
  return static_cast<int>(std::clamp(fraction * shades, 0.0, shades - 1.0));
}

std::vector<Look> legend_of(const GraphView& view) {
  std::vector<Look> entries(looks.begin(), looks.end());
  const auto result = std::ranges::find(entries, &Palette::result, &Look::paint);  // stands before gradients
  std::rotate(std::ranges::find(entries, &Palette::gradient, &Look::paint), result, result + 1);
  const bool in_modules = std::ranges::any_of(view.vertices, [](const GraphVertex& vertex) {
    return vertex.role == GraphRole::parameter && !vertex.path.empty();
  });
  if (!in_modules) std::ranges::find(entries, &Palette::parameter, &Look::paint)->in_legend = "variable";
  std::erase_if(entries, [&](const Look& entry) {
    return std::ranges::none_of(view.vertices,
                                [&](const GraphVertex& vertex) { return look_of(vertex).paint == entry.paint; });
  });
  return entries;
}

}  // namespace xgrad::detail
