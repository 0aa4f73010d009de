// Diagrams as pages. The behaviour of the page is in core/diagram/page; here it is put together.
#include "html.h"

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>

#include "../../base/error.h"
#include "../view/equations.h"
#include "../view/folding.h"
#include "../view/labels.h"
#include "export.h"
#include "page.h"
#include "svg.h"

namespace xgrad {
namespace {

using namespace detail;

// JSON without anything that a browser reads as the end of the script around it.
std::string harmless(std::string_view json) {
  std::string result;
  for (const char c : json) append(result, c == '<' ? std::string_view("\\u003c") : std::string_view(&c, 1));
  return result;
}

std::string style() { return str(page_file("page.css"), svg_style()); }

// The files of the script, each of which uses only those before it when the page starts.
std::string script() {
  std::string text;
  for (const char* name : {"numbers.js", "graph.js", "pictures.js", "camera.js", "steps.js", "panel.js", "search.js",
                           "saving.js", "page.js"}) {
    append(text, str(page_file(name), '\n'));
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
  for (std::size_t i = 0; i < names.size() && i < most; ++i) append(title, str(i == 0 ? " of " : ", ", names[i]));
  return names.size() > most ? str(title, " \u2026") : title;
}

using Json = nlohmann::ordered_json;

// What the vertices and the frames of a picture stand for, by their ids in the graph's JSON.
Json json_of(const PageView& page) {
  Json shown = Json::array(), frames = Json::array();
  for (std::size_t i = 0; i < page.shown.size(); ++i) {
    const auto& [vertex, frame, name, neighbours] = page.shown[i];
    if (neighbours.empty()) {
      shown.push_back(frame >= 0 ? str('c', frame) : str('n', vertex));
      continue;
    }
    Json ids = Json::array();
    for (const int v : neighbours) ids.push_back(str('n', v));
    shown.push_back({{"name", name}, {page.view.vertices[i].is_result ? "to" : "from", std::move(ids)}});
  }
  for (const int c : page.frames) frames.push_back(str('c', c));
  return {{"shown", std::move(shown)}, {"frames", std::move(frames)}};
}

// Everything that a page shows: pictures as SVG, each in an element of its own, and what they stand for as JSON.
class PagePictures {
 public:
  PagePictures(const GraphView& view, const GraphOptions& options) : options_(options) {
    const std::vector<PageView> levels = levels_of(view);
    for (std::size_t level = 0; level < levels.size(); ++level) {
      const bool opens = options.depth == automatic_depth ? fits_on_a_page(levels[level].view, options)
                                                          : std::cmp_less_equal(level, options.depth);
      if (opens) first_ = level;
      json_.push_back(json_of(levels[level]));
      json_.back()["picture"] = add(levels[level].view);
    }
    std::map<std::string, std::size_t> known;  // equal insides have one picture
    for (const PageView& inside : insides_of(view)) {
      const auto [picture, is_new] = known.try_emplace(to_json(inside.view), count_);
      if (is_new) add(named(inside));
      json_.push_back(json_of(inside));
      json_.back()["picture"] = picture->second;
      json_.back()["module"] = str('c', inside.module);
    }
  }

  const std::string& elements() const { return elements_; }
  std::string json() const { return json_.dump(-1, ' ', true, Json::error_handler_t::replace); }
  std::size_t first() const { return first_; }  ///< the level that the page opens with

 private:
  std::size_t add(const GraphView& view) {
    append(elements_, str("<script type=\"image/svg+xml\" id=\"picture", count_, "\">\n",
                          svg_element(view, options_), "</script>\n"));
    return count_++;
  }

  const GraphOptions& options_;
  std::size_t count_ = 0, first_ = 0;
  std::string elements_;
  Json json_ = Json::array();
};

}  // namespace

std::string to_html(const GraphView& view, const GraphOptions& options) {
  if (options.depth < automatic_depth) fail<ValueError>("to_html", "depth ", options.depth, " is negative");
  const PagePictures pictures(view, options);
  const std::array<Filling, 7> fillings{{{"title", xml_escaped(page_title(view, options))},
                                         {"style", style()},
                                         {"level", str(pictures.first())},
                                         {"graph", harmless(compact_json(view))},
                                         {"pictures", pictures.elements()},
                                         {"shown", harmless(pictures.json())},
                                         {"script", script()}}};
  return filled(page_file("page.html"), fillings);
}

}  // namespace xgrad
