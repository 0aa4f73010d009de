// Diagrams as pages. What the page does is told in core/diagram/page; here it is put together.
#include "html.h"

#include <algorithm>
#include <array>
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

// JSON that holds nothing which a browser reads as the end of the script around it.
std::string harmless(std::string_view json) {
  std::string result;
  while (!json.empty()) {
    const bool is_break = json.starts_with("\u2028") || json.starts_with("\u2029");
    append(result, is_break         ? (json[2] == '\xA8' ? "\\u2028" : "\\u2029")
                   : json[0] == '<' ? "\\u003c"
                                    : json.substr(0, 1));
    json.remove_prefix(is_break ? 3 : 1);
  }
  return result;
}

std::string style_of(Theme theme) {
  const Theme bright = theme == Theme::mono ? Theme::mono : Theme::light;
  return cat(page_file("page.css"), svg_style(bright), svg_style(Theme::dark));
}

// The files of the script, each of which uses only what stands before it when the page starts.
std::string script() {
  std::string text;
  for (const char* name :
       {"numbers.js", "graph.js", "camera.js", "folding.js", "steps.js", "panel.js", "search.js", "page.js"}) {
    append(text, cat(page_file(name), '\n'));
  }
  return text;
}

struct Filling {
  std::string_view place;
  std::string text;
};

// The text with {{place}} filled; what is filled in is not looked at again.
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

}  // namespace

std::string to_html(const GraphView& view, const GraphLayout& layout, const GraphOptions& options) {
  if (options.depth < automatic_depth) fail<ValueError>("to_html", "depth ", options.depth, " is negative");
  const std::array<Filling, 8> fillings{{{"title", options.title.empty() ? "Graph" : xml_escaped(options.title)},
                                         {"style", style_of(options.theme)},
                                         {"theme", std::string(theme_name(options.theme))},
                                         {"depth", options.depth == automatic_depth ? "automatic" : cat(options.depth)},
                                         {"picture", svg_element(view, layout, options)},
                                         {"graph", harmless(to_json(view))},
                                         {"levels", harmless(levels_json(view, options))},
                                         {"script", script()}}};
  return filled(page_file("page.html"), fillings);
}

std::string to_html(const GraphView& view, const GraphOptions& options) {
  return to_html(view, GraphLayout::of(view, options, {}, "to_html"), options);
}

}  // namespace xgrad
