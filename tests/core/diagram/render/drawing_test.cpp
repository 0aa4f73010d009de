// Tests of core/diagram/layout/layout.h, svg.h and drawing.h: places, letters, what hostile names do to files, and what
// happens without the programs that draw.
#include <xgrad/core/diagram/render/drawing.h>

#include <stdlib.h>
#include <sys/stat.h>

#include <chrono>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include <xgrad/core/diagram/layout/layout.h>
#include <xgrad/core/diagram/render/export.h>
#include <xgrad/core/diagram/view/labels.h>
#include <xgrad/core/diagram/render/program.h>

#include "core/diagram/diagrams.h"

using namespace xgrad;
using namespace xgrad::testing;
using xgrad::detail::FontWeight;
using xgrad::detail::printable;
using xgrad::detail::run_program;
using xgrad::detail::text_width;

namespace {

// Forward and backward pass of two modules, one inside another.
Tensors two_modules() {
  const Tensor x = variable(Array(Shape{2, 3}, Real(1)), "x");
  const Tensor y = layer("net.in", x);
  return training_step(sum(layer("net", y) * y).named("loss"), {x});
}

// The findings of a strict reader of XML: names of elements, attributes of all, ids, and the text of each <text>.
struct ReadXml {
  std::vector<std::string> elements, attributes, ids, texts;
};
ReadXml read_xml(const std::string& document) {
  static const std::string script = R"(
import json, sys, xml.parsers.expat
elements, attributes, ids, texts, inside = [], [], [], [], []
def start(name, given):
    elements.append(name); attributes.extend(given); ids.extend(v for k, v in given.items() if k == "id")
    inside.append(name)
    if name == "text": texts.append("")
def end(name): inside.pop()
def data(text):
    if "text" in inside: texts[-1] += text
parser = xml.parsers.expat.ParserCreate()
parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = start, end, data
parser.Parse(sys.stdin.buffer.read(), True)
print(json.dumps({"elements": elements, "attributes": attributes, "ids": ids, "texts": texts}))
)";
  const std::string output = run_program({"python3", "-c", script}, document, "test");
  const auto found = nlohmann::json::parse(output);
  return {found["elements"], found["attributes"], found["ids"], found["texts"]};
}

// How many vertices and arrows Graphviz reads from a .dot file.
std::pair<std::size_t, std::size_t> read_dot(const std::string& document) {
  auto found = nlohmann::json::parse(run_program({"dot", "-Tjson0"}, document, "test"));
  std::size_t vertices = 0;
  for (const auto& object : found["objects"]) vertices += !object.contains("bb");
  return {vertices, found.contains("edges") ? found["edges"].size() : 0};
}

void check_drawings(const Strings& names) {
  Tensor y = variable(1);
  for (const std::string& name : names) {
    const Scope scope(intern(name));
    y = (y + variable(1, name)).named(name);
  }
  const GraphOptions options{.title = names.front(), .depth = 1000};
  const GraphView view = GraphView::of({y}, options);
  CHECK(read_dot(to_dot(view, options)) == std::pair(view.vertices.size(), view.edges.size()));
  CHECK(count(to_text(view), "\n") == view.vertices.size() + 1);

  const ReadXml svg = read_xml(to_svg(view, options));
  CHECK(std::ranges::count(svg.ids, str('n', view.vertices.size() - 1)) == 1);
  CHECK(svg.ids.size() == view.vertices.size() + view.edges.size() + 2 * view.frames.size());
  static const std::set<std::string> known{"svg",  "title", "desc", "style", "rect", "ellipse",
                                           "path", "g",     "text", "tspan"};
  for (const std::string& element : svg.elements) CHECK(known.contains(element));
  for (const std::string& attribute : svg.attributes) CHECK_FALSE(attribute.starts_with("on"));
  const std::set<std::string> written(svg.texts.begin(), svg.texts.end());
  for (const std::string& name : names) {
    INFO(printable(name));
    CHECK(written.contains(printable(name)));
  }
}

// While it lives, programs are looked for in a folder of its own first, or there alone.
class ProgramsInFolder {
 public:
  enum class Others { found, missing };

  explicit ProgramsInFolder(Others others) : before_(getenv("PATH")) {
    const std::string path =
        others == Others::found ? str(folder_.path().string(), ':', before_) : folder_.path().string();
    setenv("PATH", path.c_str(), 1);
  }
  ~ProgramsInFolder() { setenv("PATH", before_.c_str(), 1); }
  ProgramsInFolder(const ProgramsInFolder&) = delete;
  ProgramsInFolder& operator=(const ProgramsInFolder&) = delete;

  void add(const char* name, std::string_view script) const {
    const std::string path = write_text(folder_ / name, str("#!/bin/sh\n", script, '\n'));
    REQUIRE(chmod(path.c_str(), 0755) == 0);
  }

 private:
  TemporaryFolder folder_;
  std::string before_;
};

using Others = ProgramsInFolder::Others;

double seconds_of(const std::function<void()>& run) {
  const auto begin = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

bool within(const GraphBox& inner, const GraphBox& outer) {
  return inner.left > outer.left - 1 && inner.right() < outer.right() + 1 && inner.top > outer.top - 1 &&
         inner.bottom() < outer.bottom() + 1;
}

}  // namespace

TEST_CASE("a program gets its three scratch files and no other") {
  CHECK(count(run_program({"ls", "-l", "/proc/self/fd"}, "", "test"), "(deleted)") == 3);
}

TEST_CASE("views with a frame that holds no vertex, and layouts of another view, are refused") {
  GraphView view;
  view.vertices.push_back({.role = GraphRole::input, .op = "leaf", .name = "x", .shape = Shape{2}});
  view.frames.push_back({.path = "net.empty", .title = "empty"});
  CHECK_REFUSED(ValueError, GraphLayout::of(view), "graph_layout", "the frame 'net.empty' holds no vertex");
}

TEST_CASE("letters are at least as wide as Helvetica's, and not much wider") {
  // From the font metrics that Adobe published for Helvetica, the letters from the space to the tilde.
  const std::vector<int> helvetica{278,  278, 355, 556, 556, 889, 667, 222, 333, 333, 389, 584, 278, 333, 278, 278,
                                   556,  556, 556, 556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556,
                                   1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778,
                                   667,  778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556,
                                   222,  556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556,
                                   556,  556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584};
  REQUIRE(helvetica.size() == '~' - ' ' + 1);
  double all = 0, all_bold = 0, helveticas = 0;
  for (char c = ' '; c <= '~'; ++c) {
    INFO(c);
    const double width = text_width({&c, 1}, 1000, FontWeight::regular);
    const int least = helvetica[static_cast<std::size_t>(c - ' ')];
    CHECK(width >= least);
    CHECK(width <= 2.3 * least);
    all += width;
    all_bold += text_width({&c, 1}, 1000, FontWeight::bold);
    helveticas += least;
  }
  CHECK(all > 1.05 * helveticas);
  CHECK(all < 1.3 * helveticas);
  CHECK(all_bold > 1.05 * all);
}

TEST_CASE("a text is as wide as its letters, at its size") {
  const auto width = [](std::string_view text) { return text_width(text, 10, FontWeight::regular); };
  CHECK(width("") == 0);
  CHECK(width("W") == doctest::Approx(9.89));  // the W of DejaVu Sans is 0.989 of its size wide
  CHECK(width("attention") == doctest::Approx(width("atten") + width("tion")));
  CHECK(text_width("W", 20, FontWeight::regular) == 2 * width("W"));
  CHECK(text_width("W", 10, FontWeight::bold) == doctest::Approx(11.04));
  CHECK(width("\u6f22") >= 10);  // as wide as high
  CHECK(width("\u00e9") >= width("e"));
  CHECK(width("\u6f22\u5b57") == 2 * width("\u6f22"));
}

TEST_CASE("boxes hold their labels, frames their boxes, and the page all of them") {
  for (const Direction direction : {Direction::top_to_bottom, Direction::left_to_right}) {
    CAPTURE(static_cast<int>(direction));
    const GraphOptions options{.direction = direction, .saved_memory = true};
    const GraphView view = GraphView::of(two_modules(), options);
    REQUIRE(view.frames.size() >= 3);
    const GraphLayout layout = GraphLayout::of(view, options);
    const GraphBox page{0, 0, layout.width, layout.height};
    REQUIRE(layout.vertices.size() == view.vertices.size());
    for (std::size_t v = 0; v < view.vertices.size(); ++v) {
      const GraphVertex& vertex = view.vertices[v];
      const GraphBox& box = layout.vertices[v];
      for (const auto& line : detail::label_of(vertex, options)) CHECK(box.width >= detail::line_width(line) + 9);
      CHECK(within(box, page));
      if (vertex.frame >= 0) CHECK(within(box, layout.frames[static_cast<std::size_t>(vertex.frame)]));
    }
    for (std::size_t c = 0; c < view.frames.size(); ++c) {
      CHECK(within(layout.titles[c], layout.frames[c]));
      CHECK(within(layout.frames[c], page));
      CHECK(layout.titles[c].width >= detail::line_width(detail::title_of(view.frames[c])));
      if (const int parent = view.frames[c].parent; parent >= 0) {
        CHECK(within(layout.frames[c], layout.frames[static_cast<std::size_t>(parent)]));
      }
    }
  }
}

TEST_CASE("a forward pass runs down and its backward pass up again") {
  const GraphView view = GraphView::of(two_modules());
  const GraphLayout layout = GraphLayout::of(view);
  std::size_t down = 0, up = 0;
  for (const GraphEdge& edge : view.edges) {
    const auto from = static_cast<std::size_t>(edge.from), to = static_cast<std::size_t>(edge.to);
    if (view.vertices[from].order != view.vertices[to].order) continue;
    const bool forward = view.vertices[to].order == 0;
    CHECK((layout.vertices[to].center().y > layout.vertices[from].center().y) == forward);
    ++(forward ? down : up);
  }
  CHECK(down >= 4);
  CHECK(up >= 4);
}

TEST_CASE("modules that follow each other stand below each other") {
  Tensor y = Tensor(Array(Shape{2}, Real(1))).named("x");
  for (const char* path : {"a.one", "a.two", "a.three", "b.one", "b.two", "b.three"}) y = layer(path, y);
  const GraphOptions options{.depth = 1};
  const GraphView view = GraphView::of({y}, options);
  REQUIRE(view.frames.size() == 2);
  const GraphLayout layout = GraphLayout::of(view, options);
  CHECK(layout.frames[1].top > layout.frames[0].bottom() - 1);
}

TEST_CASE("a chain of 20,000 operations is one column") {
  Tensor y = variable(Array(Shape{2}, Real(1)), "x");
  for (int i = 0; i < 10'000; ++i) y = tanh(y * y);  // boxes of two widths; two arrows lead into every other one
  const GraphLayout layout = GraphLayout::of(GraphView::of({y}, {.max_nodes = 30'000}));
  REQUIRE(layout.vertices.size() == 20'001);
  double left = layout.width, right = 0, bottom = -1, narrowest = layout.width;
  bool below = true;
  for (const GraphBox& box : layout.vertices) {
    left = std::min(left, box.center().x);
    right = std::max(right, box.center().x);
    narrowest = std::min(narrowest, box.width);
    below &= box.top > bottom;
    bottom = box.bottom();
  }
  CHECK(below);
  CHECK(right - left < narrowest / 2);
}

TEST_CASE("the picture says what it is, to readers and to programs") {
  const Tensors step = two_modules();
  const GraphView view = GraphView::of(step);
  const std::string titled = svg_of(step, {.title = "one step"});
  const ReadXml svg = read_xml(titled);
  for (const char* attribute : {"role", "aria-label", "viewBox"})
    CHECK(std::ranges::count(svg.attributes, attribute) == 1);
  CHECK(std::ranges::count(svg.elements, "desc") == 1);
  const std::set<std::string> ids(svg.ids.begin(), svg.ids.end());
  CHECK(ids.size() == svg.ids.size());  // each once
  for (std::size_t v = 0; v < view.vertices.size(); ++v) CHECK(ids.contains(str('n', v)));
  for (std::size_t e = 0; e < view.edges.size(); ++e) CHECK(ids.contains(str('e', e)));
  for (std::size_t c = 0; c < view.frames.size(); ++c) CHECK(ids.contains(str('c', c)));
  CHECK(std::ranges::count(svg.texts, "one step") == 1);
  CHECK(std::ranges::count(svg.texts, "in gradient") == 1);  // the title of a frame, with its space
  CHECK(count(titled, "aria-label=\"one step\"") == 1);
  CHECK(count(svg_of(step), "aria-label=\"The graph of sum, ") == 1);
}

TEST_CASE("roles can be told apart without colours") {
  const Tensor x = Tensor(Array(Shape{2}, Real(1))).named("x"), w = variable(Array(Shape{2}, Real(1)), "w");
  const Tensor y = tanh(layer("net", x * w) * 3);
  const Tensor first = grad(sum(y), {w}, {.create_graph = true})[0];
  const GraphOptions options{.depth = 0};
  const GraphView view = GraphView::of({grad(sum(first), {w}, {.create_graph = true})[0]}, options);
  const std::string svg = to_svg(view, options);
  std::map<std::string, std::set<std::string>> looks;  // of each role: outlines, corners and number of marks
  for (std::size_t v = 0; v < view.vertices.size(); ++v) {
    const GraphVertex& vertex = view.vertices[v];
    if (vertex.role == GraphRole::seed) continue;
    const std::size_t begin = svg.find(str("<g id=\"n", v, '"')), end = svg.find("</g>", begin);
    const std::string drawing = svg.substr(begin, end - begin);
    const std::size_t corner = drawing.find(" rx=\"");
    const std::string radius =
        vertex.constant ? "round" : drawing.substr(corner, drawing.find('"', corner + 5) - corner);
    looks[str(detail::role_name(vertex.role), vertex.order)].insert(
        str(count(drawing, "<ellipse"), count(drawing, "<ellipse") > 0 ? "" : radius, count(drawing, "class=\"mark\""),
            std::ranges::count(drawing.substr(drawing.find("class=\"mark\"") + 1), 'M'), count(drawing, "h6l-3,5Z")));
  }
  REQUIRE(looks.size() >= 6);
  std::set<std::string> different;
  for (const auto& each : looks) {
    INFO(each.first);
    CHECK(each.second.size() == 1);
    CHECK(different.insert(*each.second.begin()).second);
  }
  CHECK(count(svg, ".gradient .head{fill:#ffffff}") == 1);  // hollow, the others are filled
  const std::string key = svg.substr(svg.find("class=\"legend as-higher"));
  CHECK(count(key.substr(0, key.find("</g>")), "h6l-3,5Z") == 2);  // of the second derivative in the legend
}

TEST_CASE("no mark of a box lies on its label") {
  const Tensor x = variable(Array(Shape{2}, Real(1)), "x");
  const Tensor y = layer("net", sum(tanh(x) * x));
  const Tensors gradients = training_step(y, {x});
  const Tensor second = grad(sum(grad(y, {x}, {.create_graph = true})[0]), {x}, {.create_graph = true})[0];
  for (const int depth : {0, 9}) {
    const GraphOptions options{.depth = depth, .legend = false};
    Tensors all = gradients;
    all.push_back(second);
    const GraphView view = GraphView::of(all, options);
    const std::string svg = to_svg(view, options);
    const auto number_after = [](const std::string& text, const char* what) {
      return std::stod(text.substr(text.find(what) + std::string_view(what).size()));
    };
    int marked = 0;
    for (std::size_t v = 0; v < view.vertices.size(); ++v) {
      const std::size_t begin = svg.find(str("<g id=\"n", v, '"'));
      const std::string drawing = svg.substr(begin, svg.find("</g>", begin) - begin);
      const double width = detail::line_width(detail::label_of(view.vertices[v], options)[0]);
      const double middle = number_after(drawing, "<text x=\"");
      for (std::size_t at = drawing.find("h6l-3,5Z"); at != drawing.npos; at = drawing.find("h6l-3,5Z", at + 1)) {
        const double mark = std::stod(drawing.substr(drawing.rfind('M', at) + 1));
        INFO(detail::headline_of(view.vertices[v]));
        CHECK(mark + 6 < middle - width / 2);
        ++marked;
      }
    }
    CHECK(marked >= 2);
  }
}

TEST_CASE("the first NaN is drawn as an error, in words, too") {
  GraphView view = GraphView::of({sum(log(variable(Array(Shape{2}, Real(-1)), "x")))});
  const auto log = std::ranges::find(view.vertices, "log", &GraphVertex::op);
  log->record.first_nan = true;
  const std::string svg = to_svg(view);
  CHECK(count(svg, str("<g id=\"n", log - view.vertices.begin(), "\" class=\"vertex operation as-error\"")) == 1);
  CHECK(count(svg, ".graph-light .as-error .box{fill:#fee2e2;stroke:#dc2626}") == 1);
  CHECK(count(svg, ">NaN, the first</tspan>") == 1);
  CHECK(count(svg, "class=\"legend as-error\"") == 1);
  CHECK(count(to_json(view), "\"first_nan\": true") == 1);
}

TEST_CASE("names and equations are typeset in pictures") {
  const Tensor w = variable(Array(Shape{2}, Real(1)), "alpha_12");
  const std::string svg = svg_of({square(w).named("W_ih")}, {.equations = true});
  CHECK(count(svg,
              "<tspan class=\"headline\">\u03B1</tspan><tspan class=\"headline\" dy=\"3.6\"><tspan "
              "class=\"script\">12</tspan></tspan></text>") == 1);
  CHECK(count(svg, ">ih</tspan>") == 2);        // the name and the equation
  CHECK(count(svg, "W_ih = alpha_12^2") == 1);  // the tooltip
  CHECK(count(svg, "aria-label=\"The graph of square\"") == 1);
}

TEST_CASE("equations stand in the boxes of pictures where they are asked for, and always in their titles") {
  const GraphView view = GraphView::of(two_modules());
  for (const bool equations : {false, true}) {
    const std::string svg = to_svg(view, {.equations = equations});
    CHECK((count(svg, " = tanh y</tspan>") > 0) == equations);
    CHECK((count(svg, " = 1 - y</tspan>") > 0) == equations);
    CHECK(count(svg, "\ny2 = tanh y1\ndy2/dy1 = 1 - y2^2</title>") == 2);
  }
}

TEST_CASE("no name breaks a file") { check_drawings(hostile_names(120)); }

TEST_CASE("each hostile title, further line and number of an overlay is text and nothing else") {
  std::string all;
  for (const std::string& words : hostile_names()) {
    INFO(printable(words));
    const Tensor y = tanh(variable(1, "x")).named("y" + words);
    const GraphOverlay overlay{.title = "t" + words, .unit = words, .of = [](const GraphVertex&) { return 0.5; }};
    const GraphOptions options{.title = words, .overlay = overlay};
    GraphView view = GraphView::of({y}, options);
    for (GraphVertex& vertex : view.vertices) vertex.text.remarks.push_back(words);
    const std::string dot = to_dot(view, options);
    CHECK(dot.find('\0') == dot.npos);
    CHECK(read_dot(dot) == std::pair<std::size_t, std::size_t>(2, 1));
    const std::string svg = to_svg(view, options);
    append(all, svg.substr(svg.find('\n') + 1));
  }
  const ReadXml read = read_xml(str("<all>", all, "</all>"));
  for (const std::string& words : hostile_names()) {
    INFO(printable(words));
    CHECK(std::ranges::count(read.texts, printable(words)) >= 3);  // as the title and at both vertices
    CHECK(std::ranges::count(read.texts, printable(str("t", words, " 0.5 ", words))) >= 2);
  }
  CHECK(std::ranges::count(read.elements, "script") == 0);
  CHECK(std::ranges::count(read.attributes, "onload") == 0);
  CHECK(std::ranges::count(read.elements, "svg") == std::ssize(hostile_names()));
}

TEST_CASE("the same view gives the same bytes, twice in one process, in files and under every locale") {
  const Tensors step = two_modules(), long_one{variable(Array(Shape{12'345}, Real(1)), "x") * 0.5};
  const std::string first = svg_of(step), long_first = svg_of(long_one), dot = to_dot(GraphView::of(long_one));
  CHECK(svg_of({tanh(variable(1, "x"))}) != first);
  CHECK(svg_of(step) == first);
  const TemporaryFolder folder;
  save_graph(folder / "step.svg", step);
  CHECK(read_text(folder / "step.svg") == first);
  save_graph(folder / "a.png", step);
  save_graph(folder / "b.png", step);
  CHECK(read_text(folder / "a.png") == read_text(folder / "b.png"));
  const CommaLocale commas;
  CHECK(svg_of(long_one) == long_first);
  CHECK(to_dot(GraphView::of(long_one)) == dot);
}

TEST_CASE("pictures and pages need no program") {
  const TemporaryFolder folder;
  const Tensors y{tanh(variable(1, "x"))};
  const ProgramsInFolder programs(Others::missing);
  save_graph(folder / "own.svg", y);
  save_graph(folder / "own.html", y);
  CHECK(count(read_text(folder / "own.svg"), "</svg>") == 1);
}

TEST_CASE("a program that fails, hangs or computes without end is ended") {
  const ProgramsInFolder programs(Others::found);
  const auto check = [&](std::string_view script, const char* words, int seconds = 60) {
    programs.add("dot", script);
    const auto run = [&] { return run_program({"dot"}, "", "test", "; try another", seconds); };
    const double taken = seconds_of([&] { CHECK_REFUSED(IoError, run(), "test", words, "; try another"); });
    CHECK(taken < 20);
  };
  check("echo 'no <room>' >&2; exit 3", "dot ended with 3: no <room>\\n");
  check("kill -9 $$", "dot was ended by signal 9");
  check("exec sleep 100", "dot did not end within 1 s", 1);
  check("trap '' TERM INT HUP; while :; do :; done", "dot did not end within 1 s", 1);
}

TEST_CASE("a program reads its input to the end") {
  const std::string large(3'000'000, 'x');
  CHECK(run_program({"cat"}, large, "test") == large);
}

TEST_CASE("pictures are what their extensions say, and without librsvg the error says what to install") {
  const TemporaryFolder folder;
  const Tensors y{tanh(variable(1, "x"))};
  const auto saved = [&](const std::string& name) {
    save_graph(folder / name, y);
    return read_text(folder / name);
  };
  CHECK(saved("y.svg").starts_with("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg "));
  CHECK(saved("y.png").starts_with("\x89PNG\r\n\x1a\n"));
  CHECK(saved("y.pdf").starts_with("%PDF-"));
  CHECK(saved("y.dot") == to_dot(GraphView::of(y)));
  CHECK(saved("y.txt") == to_text(GraphView::of(y)));
  CHECK(saved("y.json") == to_json(GraphView::of(y)));
  CHECK_REFUSED(ValueError, saved("y.jpeg"), "save_graph", ".svg");
  CHECK_REFUSED(ValueError, saved("y"), "save_graph", ".svg");
  CHECK_REFUSED(IoError, saved("missing/y.svg"), "save_graph");

  const ProgramsInFolder programs(Others::missing);
  CHECK(count(saved("z.svg"), "<svg") == 1);
  for (const char* name : {"z.png", "z.pdf"}) {
    CHECK_REFUSED(IoError, saved(name), "save_graph", "cannot run the program rsvg-convert",
                  "(No such file or directory): install the package librsvg2-bin, or save as .svg");
    CHECK_FALSE(std::filesystem::exists(folder / name));
  }
}
