// Diagrams as pages. The behaviour of the page is in core/diagram/page; here it is put together.
#include "html.h"

#include <algorithm>
#include <array>
#include <set>
#include <tuple>
#include <utility>

#include "../../base/error.h"
#include "../layout/levels.h"
#include "../view/characters.h"
#include "../view/labels.h"
#include "export.h"
#include "page.h"
#include "svg.h"

namespace xgrad {
namespace {

using namespace detail;

// JSON without anything that a browser reads as the end of the script around it, and without line breaks, which only
// stand between values.
std::string harmless(std::string_view json) {
  std::string result;
  while (!json.empty()) {
    const bool is_break = json.starts_with("\u2028") || json.starts_with("\u2029");
    if (json[0] == '\n') {
      json.remove_prefix(std::min(json.find_first_not_of("\n "), json.size()));
      continue;
    }
    append(result, is_break         ? (json[2] == '\xA8' ? "\\u2028" : "\\u2029")
                   : json[0] == '<' ? "\\u003c"
                                    : json.substr(0, 1));
    json.remove_prefix(is_break ? 3 : 1);
  }
  return result;
}

std::string style() { return cat(page_file("page.css"), svg_style(Theme::light), svg_style(Theme::dark)); }

// The files of the script, each of which uses only those before it when the page starts.
std::string script() {
  std::string text;
  for (const char* name : {"numbers.js", "graph.js", "drawing.js", "camera.js", "folding.js", "steps.js", "panel.js",
                           "search.js", "saving.js", "page.js"}) {
    append(text, cat(page_file(name), '\n'));
  }
  return text;
}

struct Filling {
  std::string_view place;
  std::string text;
};

// The text with {{place}} filled; filled-in text is not scanned again.
template <std::size_t N>
std::string filled(std::string_view text, const std::array<Filling, N>& fillings) {
  std::string result;
  for (std::size_t open; (open = text.find("{{")) != text.npos;) {
    const std::size_t close = text.find("}}", open);
    const std::string_view place = text.substr(open + 2, close - open - 2);
    append(result, text.substr(0, open));
    append(result, std::ranges::find(fillings, place, &Filling::place)->text);
    text.remove_prefix(close + 2);
  }
  append(result, text);
  return result;
}

// "The graph of loss" if there is no other title.
std::string page_title(const GraphView& view, const GraphOptions& options) {
  if (!options.title.empty()) return options.title;
  std::vector<std::string_view> names;
  for (const GraphVertex& vertex : view.vertices) {
    if (vertex.is_result && vertex.order == 0 && !vertex.name.empty()) names.push_back(vertex.name);
  }
  std::string title = "The graph";
  constexpr std::size_t most = 3;
  for (std::size_t i = 0; i < names.size() && i < most; ++i) append(title, cat(i == 0 ? " of " : ", ", names[i]));
  return names.size() > most ? cat(title, " \u2026") : title;
}

// The elements of the picture, which the page moves to their places; the page draws arrows itself, but the legend takes
// one of each kind.
std::string elements(const GraphView& view, const GraphLayout& layout, const GraphOptions& options) {
  GraphView with_few = view;
  std::set<std::tuple<int, int, GraphFlow>> kinds;
  std::erase_if(with_few.edges, [&](const GraphEdge& edge) {
    return !kinds.emplace(view.vertices[edge.from].order, view.vertices[edge.to].order, edge.flow).second;
  });
  GraphLayout still = layout;
  still.edges.assign(with_few.edges.size(), {.points = {}, .tip = {-100, -100}});
  return svg_element(with_few, still, options);
}

}  // namespace

std::string to_html(const GraphView& view, const GraphLayout& layout, const GraphOptions& options) {
  if (options.depth < automatic_depth) fail<ValueError>("to_html", "depth ", options.depth, " is negative");
  check_layout(view, layout, "to_html");
  const std::array<Filling, 8> fillings{{{"title", xml_escaped(page_title(view, options))},
                                         {"style", style()},
                                         {"theme", std::string(theme_name(options.theme))},
                                         {"depth", options.depth == automatic_depth ? "automatic" : cat(options.depth)},
                                         {"picture", elements(view, layout, options)},
                                         {"graph", harmless(to_json(view))},
                                         {"levels", harmless(levels_json(view, layout, options))},
                                         {"script", script()}}};
  return filled(page_file("page.html"), fillings);
}

std::string to_html(const GraphView& view, const GraphOptions& options) {
  return to_html(view, GraphLayout::of(view, options), options);
}

}  // namespace xgrad
