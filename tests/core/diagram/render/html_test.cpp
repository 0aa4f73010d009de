// Tests of core/diagram/render/html.h without a browser: what is in the page, and what hostile names do to it. What the
// page does is tested by html_long.sh.
#include <xgrad/core/diagram/render/html.h>

#include <nlohmann/json.hpp>
#include <regex>

#include <xgrad/core/diagram/render/drawing.h>
#include <xgrad/core/diagram/render/export.h>

#include "core/diagram/diagrams.h"
#include "core/diagram/render/small_run.h"

namespace xgrad::testing {
namespace {

using detail::page_file;

// The text between two others of a page, as a browser would find it.
std::string between(const std::string& page, std::string_view begin, std::string_view end) {
  const std::size_t from = page.find(begin);
  REQUIRE(from != page.npos);
  const std::size_t start = from + begin.size();
  return page.substr(start, page.find(end, start) - start);
}
nlohmann::json graph_in(const std::string& page) {
  return nlohmann::json::parse(between(page, "<script id=\"graph\" type=\"application/json\">", "</script"));
}
// The pictures, one after the other.
std::string pictures_in(const std::string& page) {
  return between(page, "<script type=\"image/svg+xml\" id=\"picture0\">", "<script id=\"shown\"");
}
std::size_t picture_count(const std::string& page) { return count(page, "<script type=\"image/svg+xml\""); }
// What the vertices of each picture stand for.
nlohmann::json shown_in(const std::string& page) {
  return nlohmann::json::parse(between(page, "<script id=\"shown\" type=\"application/json\">", "</script"));
}

// The run with one text in the place of every other.
GraphView named(const std::string& name) {
  GraphView view = small_run();
  for (std::string* text : texts_of(view)) *text = name;
  for (GraphVertex& vertex : view.vertices) vertex.text.attributes = {{name, name}};
  for (std::size_t c = 0; c < view.frames.size(); ++c) view.frames[c].path = str(name, c);
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

TEST_CASE("a page is one file that fetches nothing and holds the pictures, the JSON and the script") {
  const GraphView view = small_run();
  const std::string page = to_html(view, {.title = "A run", .depth = 1});
  CHECK(page.starts_with("<!DOCTYPE html>\n"));
  CHECK(count(page, "<title>A run</title>") == 1);
  CHECK(count(page, "{{") == 0);  // everything is filled in
  CHECK(graph_in(page) == nlohmann::json::parse(to_json(view)));
  CHECK(count(page, "default-src 'none'") == 1);
  CHECK(count(page, "prefers-color-scheme:dark){") == 0);  // the script decides
  for (const char* file : {"page.css", "numbers.js", "graph.js", "pictures.js", "camera.js", "steps.js", "panel.js",
                           "search.js", "saving.js", "page.js"}) {
    INFO(file);
    CHECK(page_file(file).size() > 100);
    CHECK(count(page, page_file(file)) == 1);
  }
  for (const char* outside : {"src=", "url(", "@import", "fetch(", "XMLHttpRequest", "<link", "<iframe"}) {
    CHECK_MESSAGE(count(page, outside) == 0, outside);
  }
  CHECK(count(page, "http") == count(page, "http://www.w3.org/2000/svg") + count(page, "http-equiv"));
  CHECK(count(pictures_in(page), "id=\"n13\"") == 1);  // in the picture of level 3
  CHECK(picture_count(page) == 4 + 5);                 // four levels, five modules
  CHECK(to_html(view, {.title = "A run", .depth = 1}) == page);
  CHECK(page_file("nosuch").empty());
}

TEST_CASE("a page's options: direction, and a title of its own where none is given") {
  const GraphView view = small_run();
  CHECK(count(to_html(view), "data-level=\"1\"") == 1);
  // As in a picture, the deepest level that fits on a sheet of paper.
  CHECK(count(to_html(GraphView::of({nested()}, {.depth = 9})), "data-level=\"3\"") == 1);
  const std::string page = to_html(view);
  for (const char* part : {".graph-light .as-input", ".graph-dark .as-input", "<title>The graph of loss</title>"}) {
    CHECK_MESSAGE(count(page, part) > 0, part);
  }
  CHECK(pictures_in(to_html(view, {.direction = Direction::left_to_right})) != pictures_in(page));
  CHECK_REFUSED(ValueError, to_html(view, {.depth = -2}), "to_html", "depth -2 is negative");
}

TEST_CASE("whatever bytes are in names and titles, the page's elements stay and its JSON reads back") {
  // Digits of a name may be an index, in a tspan of its own.
  const auto elements = [](const std::string& html) {
    return std::regex_replace(pictures_in(html), std::regex("</?tspan[^<>]*>"), "");
  };
  const std::string plain = to_html(named("x"), {.title = "x"}), plain_picture = elements(plain);
  for (const std::string& name : hostile_names(20)) {
    CAPTURE(name);
    const GraphView view = named(name);
    const std::string page = to_html(view, {.title = name});
    CHECK_NOTHROW(nlohmann::json(page).dump());  // valid UTF-8
    CHECK(page.find('\0') == page.npos);
    for (const char* mark : {"<script", "</script", "<!--", "</title", "</style", "</svg"}) {
      CHECK_MESSAGE(count(page, mark) == count(plain, mark), mark);
    }
    const std::string picture = elements(page);
    for (const char* sign : {"<", ">", "\""}) CHECK_MESSAGE(count(picture, sign) == count(plain_picture, sign), sign);
    const std::string graph = between(page, "<script id=\"graph\" type=\"application/json\">", "</script");
    for (const char* sign : {"<", "\u2028", "\u2029"}) CHECK_MESSAGE(count(graph, sign) == 0, sign);
    CHECK(graph_in(page) == nlohmann::json::parse(to_json(view)));
    CHECK(shown_in(page).size() == 4 + 5);
  }
}

// So many modules in a row, each with another one in it and an operation beside that.
Tensor layers(int count) {
  Tensor y = variable(1);
  for (int i = 0; i < count; ++i) {
    const Scope outer(intern(str("blocks.", i)));
    const Tensor beside = tanh(y);
    {
      const Scope inner(intern(str("blocks.", i, ".inner")));
      y = tanh(tanh(y));
    }
    y = y + beside;
  }
  return y;
}

TEST_CASE("a page has every level of at most 300 boxes, and the inside of each module, equal ones once") {
  constexpr int blocks = 60;
  const std::string page = to_html(GraphView::of({layers(blocks)}, {.depth = 9, .roll_up = false}));
  const nlohmann::json shown = shown_in(page), graph = graph_in(page);
  REQUIRE(shown.size() == 3 + 2 * blocks);
  CHECK(shown[0]["shown"].size() == 1 + blocks);
  CHECK(shown[1]["shown"].size() == 1 + 3 * blocks);
  CHECK(shown[2]["shown"].size() == 1 + 4 * blocks);
  CHECK(shown[1]["frames"].size() == blocks);
  CHECK(picture_count(page) == 3 + 3);  // a block, the last, from which no arrow leads to another, and what is in each
  const auto inside_of = [&](std::string_view path) {
    return *std::ranges::find_if(shown, [&](const nlohmann::json& picture) {
      return picture.contains("module") && std::ranges::any_of(graph["frames"], [&](const nlohmann::json& frame) {
               return frame["id"] == picture["module"] && frame["path"] == path;
             });
    });
  };
  CHECK(inside_of("blocks.0")["picture"] == inside_of("blocks.5")["picture"]);
  const nlohmann::json inside = inside_of("blocks.5.inner")["shown"];
  REQUIRE(inside.size() == 4);
  CHECK(inside[0]["name"] == "blocks.4");
  CHECK(graph["vertices"][std::stoi(inside[0]["from"][0].get<std::string>().substr(1))]["op"] == "add");
  CHECK(inside[3]["name"] == "add");
  // The picture has these names, too.
  const std::string of_first = inside_of("blocks.0.inner")["picture"].dump();
  const std::string drawn = between(page, str("id=\"picture", of_first, "\">"), "</script");
  CHECK(count(drawn, ">add<") == 1);
  for (const int i : {1, 2}) {
    const nlohmann::json& vertex = graph["vertices"][std::stoi(inside[i].get<std::string>().substr(1))];
    CHECK(vertex["path"] == "blocks.5.inner");
  }
  const std::string larger = to_html(GraphView::of({layers(200)}, {.depth = 9, .roll_up = false}));
  CHECK(shown_in(larger).size() == 1 + 2 * 200);
  CHECK(picture_count(larger) == 1 + 3);
}

TEST_CASE("the inside of a module has its backward pass beside its forward pass") {
  const Tensor x = variable(1, "x");
  Tensor y;
  {
    const Scope scope(intern("a"));
    y = tanh(x);
  }
  const std::string page = to_html(GraphView::of(training_step(y * y, {x})));
  const nlohmann::json shown = shown_in(page), graph = graph_in(page);
  REQUIRE(shown.size() == 2 + 1);
  Strings names;
  for (const nlohmann::json& part : shown[2]["shown"]) {
    if (part.is_object()) {
      names.push_back((part.contains("from") ? "from " : "to ") + part["name"].get<std::string>());
    } else {
      names.push_back(graph["vertices"][std::stoi(part.get<std::string>().substr(1))]["op"]);
    }
  }
  std::ranges::sort(names);
  CHECK(str(names) == "[from add, from x, tanh, tanh', to mul, to mul']");
}

TEST_CASE("a page of a graph that is too large for one picture holds its modules' insides") {
  const TemporaryFolder folder;
  const Tensor y = layers(60);
  REQUIRE(GraphView::of({y}, {.roll_up = false}).frames.size() < 60);
  save_graph(folder / "y.html", {y}, {.roll_up = false});
  CHECK(graph_in(read_text(folder / "y.html"))["frames"].size() == 2 * 60);
}

TEST_CASE("a page of nothing is one empty picture") {
  const std::string page = to_html(GraphView());
  CHECK(graph_in(page)["vertices"].empty());
  CHECK(picture_count(page) == 1);
  CHECK(count(page, "data-level=\"0\"") == 1);
}

TEST_CASE("save_graph writes pages with every module unfolded, and as asked where that is too much") {
  const TemporaryFolder folder;
  const auto saved = [&](const GraphOptions& options) {
    save_graph(folder / "y.html", {nested()}, options);
    return read_text(folder / "y.html");
  };
  const std::string page = saved({.depth = 0});
  CHECK(graph_in(page)["frames"].size() == 3);
  CHECK(count(page, "data-level=\"0\"") == 1);
  int asked = 0;
  saved({.overlay = GraphOverlay{.title = "n", .of = [&](const GraphVertex&) { return ++asked; }}});
  CHECK(asked == 4);  // each vertex once
  CHECK(graph_in(saved({.depth = 0, .max_nodes = 3}))["frames"].size() == 0);
}

}  // namespace
}  // namespace xgrad::testing
