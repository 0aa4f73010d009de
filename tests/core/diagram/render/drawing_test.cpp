// Tests of core/diagram/layout/layout.h, svg.h, drawing.h and export.h: letters, what hostile names do to files, and
// what happens without the programs that draw. What is drawn where is in pictures_test.cpp.
#include <xgrad/core/diagram/render/drawing.h>

#include <stdlib.h>
#include <sys/stat.h>

#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>

#include <xgrad/core/diagram/layout/layout.h>
#include <xgrad/core/diagram/render/export.h>
#include <xgrad/core/diagram/render/html.h>
#include <xgrad/core/diagram/view/colours.h>
#include <xgrad/core/diagram/view/labels.h>
#include <xgrad/core/diagram/render/program.h>

#include "core/diagram/diagrams.h"
#include "support/again.h"

using namespace xgrad;
using namespace xgrad::testing;
using xgrad::detail::FontWeight;
using xgrad::detail::printable;
using xgrad::detail::run_program;
using xgrad::detail::text_width;

namespace {

// The findings of a strict reader of XML: names of elements, attributes of all, and the text of each <text>.
struct ReadXml {
  Strings elements, attributes, texts;
};
ReadXml read_xml(const std::string& document) {
  static const std::string script = R"(
import json, sys, xml.parsers.expat
elements, attributes, texts, inside = [], [], [], []
def start(name, given):
    elements.append(name); attributes.extend(given); inside.append(name)
    if name == "text": texts.append("")
def end(name): inside.pop()
def data(text):
    if "text" in inside: texts[-1] += text
parser = xml.parsers.expat.ParserCreate()
parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = start, end, data
parser.Parse(sys.stdin.buffer.read(), True)
print(json.dumps({"elements": elements, "attributes": attributes, "texts": texts}))
)";
  const std::string output = run_program({"python3", "-c", script}, document, "test");
  const auto found = nlohmann::json::parse(output);
  return {found["elements"], found["attributes"], found["texts"]};
}

// How many vertices and arrows Graphviz reads from a .dot file.
std::pair<std::size_t, std::size_t> read_dot(const std::string& document) {
  auto found = nlohmann::json::parse(run_program({"dot", "-Tjson0"}, document, "test"));
  std::size_t vertices = 0;
  for (const auto& object : found["objects"]) vertices += !object.contains("bb");
  return {vertices, found.contains("edges") ? found["edges"].size() : 0};
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

}  // namespace

TEST_CASE("a program gets its three scratch files and no other") {
  CHECK(count(run_program({"ls", "-l", "/proc/self/fd"}, "", "test"), "(deleted)") == 3);
}

TEST_CASE("a view with a frame that holds no vertex is refused") {
  GraphView view;
  view.vertices.push_back({.role = GraphRole::input, .op = "leaf", .name = "x", .shape = Shape{2}});
  view.frames.push_back({.path = "net.empty", .title = "empty"});
  CHECK_REFUSED(ValueError, GraphLayout::of(view), "graph_layout", "the frame 'net.empty' holds no vertex");
}

TEST_CASE("whatever draws a view refuses one that was given wrong indices or a cycle by hand") {
  const auto refused = [](const std::function<void(GraphView&)>& change, const std::string& words) {
    GraphView view;
    view.vertices.resize(3);
    view.frames.push_back({.path = "net", .title = "net"});
    for (GraphVertex& vertex : view.vertices) vertex.frame = 0;
    view.edges.push_back({.from = 0, .to = 1});
    view.edges.push_back({.from = 1, .to = 2});
    CHECK_NOTHROW(to_html(view));
    change(view);
    CHECK_REFUSED(GraphError, GraphLayout::of(view), "graph_layout", words);
    CHECK_REFUSED(GraphError, to_svg(view), "graph_layout", words);
    CHECK_REFUSED(GraphError, to_html(view), "to_html", words);
    CHECK_REFUSED(GraphError, to_dot(view), "to_dot", words);
    CHECK_REFUSED(GraphError, to_json(view), "to_json", words);
    CHECK_REFUSED(GraphError, to_text(view), "to_text", words);
  };
  refused([](GraphView& view) { view.edges.push_back({.from = 2, .to = 1, .input = 1}); }, "vertex 1 is on or behind");
  refused([](GraphView& view) { view.edges[0].from = 1; }, "vertex 1 is on or behind a cycle");
  refused([](GraphView& view) { view.edges[1].to = 3; }, "edge 1 has an end at vertex 3 of 3");
  refused([](GraphView& view) { view.edges[1].from = -1; }, "edge 1 has an end at vertex -1 of 3");
  refused([](GraphView& view) { view.vertices[2].frame = 1; }, "vertex 2 is in frame 1 of 1");
  refused([](GraphView& view) { view.vertices[2].frame = -2; }, "vertex 2 is in frame -2 of 1");
  refused([](GraphView& view) { view.vertices[2].rule_of = 3; }, "vertex 2 is a rule of vertex 3 of 3");
  refused([](GraphView& view) { view.vertices[2].rule_of = -2; }, "vertex 2 is a rule of vertex -2 of 3");
  refused([](GraphView& view) { view.frames[0].parent = 0; }, "frame 0 is in frame 0; parents come before");
  refused([](GraphView& view) { view.frames[0].parent = -2; }, "frame 0 is in frame -2;");
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
  CHECK(width("attention") == doctest::Approx(width("atten") + width("tion")));
  CHECK(text_width("W", 20, FontWeight::regular) == 2 * width("W"));
  CHECK(width("\u6f22") >= 10);  // as wide as high
  CHECK(width("\u00e9") >= width("e"));
  CHECK(width("\u6f22\u5b57") == 2 * width("\u6f22"));
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

TEST_CASE("every role has a look") {
  const auto& looks = xgrad::detail::looks;
  for (int role = 0; role <= static_cast<int>(GraphRole::module); ++role) {
    const auto* const look = &xgrad::detail::look_of(GraphVertex{.role = static_cast<GraphRole>(role)});
    CHECK_MESSAGE((look >= looks.data() && look < looks.data() + looks.size()), "no look in colours.cpp for role ", role);
  }
}

TEST_CASE("roles can be told apart without colours") {
  std::set<std::pair<GraphRole, int>> outlines;  // with the number of their marks
  for (const xgrad::detail::Look& look : xgrad::detail::looks) {
    if (look.name == "result" || look.name == "error") continue;  // which have a thick border and words
    CHECK_MESSAGE(outlines.insert({look.role, look.order}).second, look.name);
  }
}

TEST_CASE("whatever words there are in names, paths and options, they are text and nothing else in every format") {
  std::string pictures;
  const Strings names = hostile_names(20);
  for (const std::string& words : names) {
    CAPTURE(printable(words));
    const GraphOverlay overlay{.title = "t" + words, .unit = words, .of = [](const GraphVertex&) { return 0.5; }};
    const GraphOptions options{.title = words, .depth = 9, .overlay = overlay};
    Tensor y;
    {
      const Scope scope(intern("p" + words, words));
      y = tanh(variable(1, words)).named("y" + words);
    }
    GraphView view = GraphView::of({y}, options);
    REQUIRE(view.frames.size() >= 1);
    for (GraphVertex& vertex : view.vertices) vertex.text.remarks.push_back(words);
    const std::string dot = to_dot(view, options), table = to_text(view), svg = to_svg(view, options);
    CHECK(dot.find('\0') == dot.npos);
    CHECK(read_dot(dot) == std::pair<std::size_t, std::size_t>(2, 1));
    CHECK(count(table, "\n") == 2 + 1);
    CHECK(table.find('\0') == table.npos);
    CHECK(nlohmann::json::parse(to_json(view))["vertices"][0]["remarks"].size() == 2);
    append(pictures, svg.substr(svg.find('\n') + 1));
  }
  const ReadXml read = read_xml(str("<all>", pictures, "</all>"));
  for (const std::string& words : names) {
    INFO(printable(words));
    CHECK(std::ranges::count(read.texts, printable(words)) >= 3);  // as the title and at both vertices
    CHECK(std::ranges::count(read.texts, printable(str("t", words, " 0.5 ", words))) >= 2);
  }
  static const std::set<std::string> known{"all",  "svg",     "title", "desc", "style", "rect",
                                           "path", "ellipse", "g",     "text", "tspan"};
  for (const std::string& element : read.elements) CHECK(known.contains(element));
  for (const std::string& attribute : read.attributes) CHECK_FALSE(attribute.starts_with("on"));
  CHECK(std::ranges::count(read.elements, "svg") == std::ssize(names));
}

TEST_CASE("pictures are the same under every locale") {
  const Tensors numbers{variable(Array(Shape{12'345}, Real(1)), "x") * 0.5};
  const std::string svg = svg_of(numbers), dot = to_dot(GraphView::of(numbers));
  const CommaLocale commas;
  CHECK(svg_of(numbers) == svg);
  CHECK(to_dot(GraphView::of(numbers)) == dot);
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
  CHECK(saved("y.svg") == svg_of(y));
  CHECK(saved("y.png").starts_with("\x89PNG\r\n\x1a\n"));
  CHECK(saved("y.pdf").starts_with("%PDF-"));
  CHECK(saved("y.dot") == to_dot(GraphView::of(y)));
  CHECK(saved("y.txt") == to_text(GraphView::of(y)));
  CHECK(saved("y.json") == to_json(GraphView::of(y)));
  CHECK_REFUSED(ValueError, saved("y.jpeg"), "save_graph", ".svg");
  CHECK_REFUSED(ValueError, saved("y"), "save_graph", ".svg");
  CHECK_REFUSED(IoError, saved("missing/y.svg"), "save_graph");

  const ProgramsInFolder programs(Others::missing);
  CHECK(count(saved("z.svg"), "</svg>") == 1);
  CHECK(count(saved("z.html"), "</html>") == 1);
  for (const char* name : {"z.png", "z.pdf"}) {
    CHECK_REFUSED(IoError, saved(name), "save_graph",
                  emulated() ? "rsvg-convert ended with 127" : "cannot run the program rsvg-convert (No such file or directory)",
                  ": install the package librsvg2-bin, or save as .svg");
    CHECK_FALSE(std::filesystem::exists(folder / name));
  }
}
