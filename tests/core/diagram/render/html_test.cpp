// Tests of core/diagram/render/html.h without a browser: what is in the page, and what hostile names do to it. What the
// page does is tested by html_test.sh.
#include <xgrad/core/diagram/render/html.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <regex>

#include <xgrad/core/base/scope.h>
#include <xgrad/core/diagram/render/drawing.h>
#include <xgrad/core/diagram/render/export.h>
#include <xgrad/core/diagram/render/page.h>
#include <xgrad/ops/elementwise/arithmetic.h>
#include <xgrad/ops/elementwise/elementwise.h>

#include "core/diagram/render/small_run.h"
#include "support/check.h"
#include "support/files.h"

namespace xgrad::testing {
namespace {

using detail::page_file;

std::size_t count(std::string_view text, std::string_view part) {
  std::size_t result = 0;
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + part.size())) ++result;
  return result;
}

// The text between two others of a page, as a browser would find it.
std::string between(const std::string& page, std::string_view begin, std::string_view end) {
  const std::size_t from = page.find(begin);
  REQUIRE(from != page.npos);
  const std::size_t start = from + begin.size();
  return page.substr(start, page.find(end, start) - start);
}
std::string graph_in(const std::string& page) {
  return between(page, "<script id=\"graph\" type=\"application/json\">", "</script");
}
std::string picture_in(const std::string& page) {
  return between(page, "<script id=\"picture\" type=\"image/svg+xml\">", "</script");
}
nlohmann::json levels_in(const std::string& page) {
  return nlohmann::json::parse(
      between(page, "<script id=\"levels-of-folding\" type=\"application/json\">", "</script"));
}

// The run with one text in the place of every other.
GraphView named(const std::string& name) {
  GraphView view = small_run();
  for (GraphVertex& vertex : view.vertices) {
    for (std::string* text : {&vertex.op, &vertex.name, &vertex.path, &vertex.note, &vertex.what, &vertex.formula,
                              &vertex.derivative, &vertex.gradient_state}) {
      *text = name;
    }
    vertex.attributes = {{name, name}};
  }
  for (std::size_t c = 0; c < view.frames.size(); ++c) {
    GraphFrame& frame = view.frames[c];
    frame.title = frame.what = name;
    frame.path = cat(name, c);  // frames that cannot be told apart have no layouts for levels
  }
  return view;
}

// tanh three times, each in a module within the one before.
Tensor nested() {
  Tensor y = variable(1, "x");
  for (const char* path : {"a", "a.b", "a.b.c"}) {
    const Scope scope(intern(path));
    y = tanh(y);
  }
  return y;
}

TEST_CASE("a page is one file that fetches nothing and holds the picture, the JSON and the script") {
  const GraphView view = small_run();
  const std::string page = to_html(view, {.title = "A run", .depth = 1});
  CHECK(page.starts_with("<!DOCTYPE html>\n"));
  CHECK(count(page, "<title>A run</title>") == 1);
  CHECK(page.find("{{") == page.npos);  // everything is filled in
  CHECK(nlohmann::json::parse(graph_in(page)) == nlohmann::json::parse(to_json(view)));
  CHECK(count(page, "data-theme=\"light\" data-depth=\"1\"") == 1);
  CHECK(page.find("default-src 'none'") != page.npos);
  CHECK(page.find("prefers-color-scheme:dark){") == page.npos);  // the script decides
  for (const char* file : {"page.css", "numbers.js", "graph.js", "drawing.js", "camera.js", "folding.js", "steps.js",
                           "panel.js", "search.js", "saving.js", "page.js"}) {
    INFO(file);
    CHECK(page_file(file).size() > 100);
    CHECK(count(page, page_file(file)) == 1);
  }
  for (const char* outside : {"src=", "url(", "@import", "fetch(", "XMLHttpRequest", "<link", "<iframe"}) {
    INFO(outside);
    CHECK(count(page, outside) == 0);
  }
  CHECK(count(page, "http") == count(page, "http://www.w3.org/2000/svg") + count(page, "http-equiv"));
  CHECK(count(picture_in(page), "id=\"n13\"") == 1);
  CHECK(page_file("nosuch").empty());
}

TEST_CASE("a page's options: themes, direction, and a title of its own where none is given") {
  const GraphView view = small_run();
  CHECK(to_html(view, {.theme = Theme::dark}).find("data-theme=\"dark\" data-depth=\"automatic\"") !=
        std::string::npos);
  const std::string light = to_html(view);
  CHECK(light.find("class=\"graph-light\"") != light.npos);
  CHECK(light.find(".graph-light .as-input") != light.npos);
  CHECK(light.find(".graph-dark .as-input") != light.npos);
  CHECK(light.find("<title>The graph of loss</title>") != light.npos);
  CHECK(picture_in(to_html(view, {.direction = Direction::left_to_right})) != picture_in(light));
}

TEST_CASE("a page of another view's layout, or of a negative depth, is refused") {
  GraphView view = small_run();
  CHECK(error_of<ValueError>([&] { to_html(view, {.depth = -2}); }) == "to_html: depth -2 is negative");
  const GraphLayout layout = GraphLayout::of(view);
  view.vertices.emplace_back();
  const std::size_t vertices = layout.vertices.size();
  CHECK(error_of<ValueError>([&] { to_html(view, layout); }) ==
        cat("to_html: the layout belongs to another view: it has ", vertices, " vertices, the view has ", vertices + 1));
}

TEST_CASE("whatever bytes are in names and titles, the page's elements stay and its JSON reads back") {
  std::mt19937 chance(1);
  std::vector<std::string> names{"</script><script>window.hacked=1</script>",
                                 "<!--",
                                 "<script",
                                 "--></style>",
                                 "\"' onload=\"x\\\"",
                                 "\\u003c/script>",
                                 "a\nb\r\n\tc",
                                 std::string("nul\0nul", 7),
                                 "\u2028\u2029",
                                 "\xff\xfe\xe2\x80",
                                 "{{script}}",
                                 "{{",
                                 "${window.hacked=1}",
                                 ")embedded\""};
  for (int i = 0; i < 20; ++i) {
    std::string bytes(1 + chance() % 60, ' ');
    for (char& c : bytes) c = static_cast<char>(chance() % 256);
    names.push_back(bytes);
  }
  const GraphView plain_view = named("x");
  const std::string plain = to_html(plain_view, {.title = "x"});
  for (const std::string& name : names) {
    CAPTURE(name);
    const GraphView view = named(name);
    const std::string page = to_html(view, {.title = name});
    CHECK_NOTHROW(nlohmann::json(page).dump());  // valid UTF-8
    CHECK(page.find('\0') == page.npos);
    for (const char* mark : {"<script", "</script", "<!--", "</title", "</style", "</svg"}) {
      INFO(mark);
      CHECK(count(page, mark) == count(plain, mark));
    }
    // Digits of a name may be an index, in a tspan of its own.
    const auto elements = [](const std::string& html) {
      return std::regex_replace(picture_in(html), std::regex("</?tspan[^<>]*>"), "");
    };
    const std::string picture = elements(page);
    CHECK(count(picture, "<") == count(elements(plain), "<"));
    CHECK(count(picture, ">") == count(elements(plain), ">"));
    CHECK(count(picture, "\"") == count(elements(plain), "\""));
    const std::string graph = graph_in(page);
    CHECK(graph.find('<') == graph.npos);
    CHECK(graph.find("\u2028") == graph.npos);
    CHECK(graph.find("\u2029") == graph.npos);
    CHECK(nlohmann::json::parse(graph) == nlohmann::json::parse(to_json(view)));
    CHECK(levels_in(page).size() == 4);
  }
}

// So many modules in a row, each with another one in it and an operation beside that.
Tensor layers(int count) {
  Tensor y = variable(1, "x");
  for (int i = 0; i < count; ++i) {
    const Scope outer(intern(cat("blocks.", i)));
    const Tensor beside = tanh(y);
    {
      const Scope inner(intern(cat("blocks.", i, ".inner")));
      y = tanh(tanh(y));
    }
    y = y + beside;
  }
  return y;
}

struct Box {
  double left, top, right, bottom;
  explicit Box(const nlohmann::json& words)
      : left(words[1]), top(words[2]), right(left + double(words[3])), bottom(top + double(words[4])) {}
  bool contains(const Box& other, double slack = 0.2) const {
    return left <= other.left + slack && right >= other.right - slack && top <= other.top + slack &&
           bottom >= other.bottom - slack;
  }
  bool meets(const Box& other) const {
    return left < other.right && other.left < right && top < other.bottom && other.top < bottom;
  }
};

TEST_CASE("a page of more than dot lays out at once has every level: all stands in its frame, nothing on another") {
  constexpr int count = 200;
  const GraphView view = GraphView::of({layers(count)}, {.depth = 9, .roll_up = false});
  const std::string page = to_html(view);
  const nlohmann::json levels = levels_in(page), graph = nlohmann::json::parse(graph_in(page));
  REQUIRE(levels.size() == 3);
  CHECK(levels[0]["boxes"].size() == 1 + count);
  CHECK(levels[1]["boxes"].size() == 1 + 3 * count);
  CHECK(levels[2]["boxes"].size() == 1 + 4 * count);
  for (const nlohmann::json& level : levels) {
    CAPTURE(level["level"]);
    std::map<std::string, Box> places;
    for (const char* kind : {"boxes", "frames"}) {
      for (const nlohmann::json& words : level[kind]) places.emplace(words[0], Box(words));
    }
    for (const char* kind : {"vertices", "frames"}) {
      for (const nlohmann::json& thing : graph[kind]) {
        const auto place = places.find(thing["id"]);
        const nlohmann::json& around = thing.contains("frame") ? thing["frame"] : thing["parent"];
        if (place == places.end() || around == "") continue;
        CHECK(places.at(around).contains(place->second));
      }
    }
    for (auto a = level["boxes"].begin(); a != level["boxes"].end(); ++a) {
      for (auto b = a + 1; b != level["boxes"].end(); ++b) CHECK_FALSE(Box(*a).meets(Box(*b)));
    }
    // Arrows begin and end at their boxes.
    for (const nlohmann::json& arrow : level["arrows"]) {
      const nlohmann::json& way = arrow[3];
      const auto at = [&](std::size_t i) {
        return Box(nlohmann::json{"", double(way[i]) - 2, double(way[i + 1]) - 2, 4, 4});
      };
      CHECK(places.at(arrow[0]).meets(at(0)));
      CHECK(places.at(arrow[1]).meets(at(way.size() - 2)));
    }
  }
}

TEST_CASE("save_graph writes pages with every module unfolded, and as asked where that is too much") {
  const TemporaryFolder folder;
  const Tensors y{nested()};
  save_graph(folder / "y.html", y, {.depth = 0});
  const std::string page = read_text(folder / "y.html");
  CHECK(nlohmann::json::parse(graph_in(page))["frames"].size() == 3);
  CHECK(page.find("data-depth=\"0\"") != page.npos);
  save_graph(folder / "small.html", y, {.depth = 0, .max_nodes = 3});
  CHECK(nlohmann::json::parse(graph_in(read_text(folder / "small.html")))["frames"].size() == 0);
}

}  // namespace
}  // namespace xgrad::testing
