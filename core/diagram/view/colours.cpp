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

PaintOf paint_of(const GraphVertex& vertex) {
  static constexpr std::array<PaintOf, 7> paints{&Palette::input,     &Palette::parameter, &Palette::constant,
                                                 &Palette::operation, &Palette::gradient,  &Palette::gradient,
                                                 &Palette::module};
  if (vertex.record.first_nan) return &Palette::error;
  const bool leaf = vertex.role == GraphRole::parameter || vertex.role == GraphRole::input;
  if (vertex.is_result && !leaf) return &Palette::result;
  if (vertex.order > 0 &&
      (is_operation(vertex) || vertex.role == GraphRole::module || vertex.role == GraphRole::seed)) {
    return vertex.order > 1 ? &Palette::higher_gradient : &Palette::gradient;
  }
  return paints[static_cast<std::size_t>(vertex.role)];
}

int heat_of(const GraphScale& scale, double number) {
  constexpr int shades = std::tuple_size_v<decltype(Palette::heat)>;
  if (!(scale.last > scale.first)) return 0;
  const double fraction = (number - scale.first) / (scale.last - scale.first);
  return static_cast<int>(std::clamp(fraction * shades, 0.0, shades - 1.0));
}

std::vector<LegendEntry> legend_of(const GraphView& view) {
  const bool in_modules = std::ranges::any_of(view.vertices, [](const GraphVertex& vertex) {
    return vertex.role == GraphRole::parameter && !vertex.path.empty();
  });
  std::vector<LegendEntry> entries{
      {"input", &Palette::input},        {in_modules ? "parameter" : "variable", &Palette::parameter},
      {"constant", &Palette::constant},  {"operation", &Palette::operation},
      {"module", &Palette::module},      {"result", &Palette::result},
      {"gradient", &Palette::gradient},  {"higher gradient", &Palette::higher_gradient},
      {"the first NaN", &Palette::error}};
  std::erase_if(entries, [&](const LegendEntry& entry) {
    return std::ranges::none_of(view.vertices,
                                [&](const GraphVertex& vertex) { return paint_of(vertex) == entry.paint; });
  });
  return entries;
}

}  // namespace xgrad::detail
