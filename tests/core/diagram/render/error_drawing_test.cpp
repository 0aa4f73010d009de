// Tests of core/diagram/render/error_drawing.h: errors leave a picture of the graph behind them.
#include <xgrad/core/diagram/render/error_drawing.h>

#include <cstdlib>
#include <thread>

#include <xgrad/core/base/scope.h>
#include <xgrad/ops/ops.h>

#include "support/check.h"
#include "support/files.h"

namespace xgrad::testing {
namespace {

void fail_in_a_module() {
  const Tensor x = variable(normal({2, 3}), "x");
  const Tensor used = tanh(x);
  const Scope scope(intern("net.head", "Head"));
  matmul(relu(used), variable(normal({4, 5}), "w"));
}

bool holds(const std::string& text, std::string_view part) { return text.find(part) != text.npos; }

TEST_CASE("an error is drawn with the graph behind it, the operation that failed, and its message") {
  const TemporaryFolder folder;
  const std::string path = (folder / "error.dot").string();
  {
    const ErrorDrawing drawing(path);
    CHECK_THROWS_AS(fail_in_a_module(), ShapeError);
  }
  const std::string dot = read_text(path);
  CHECK_MESSAGE(holds(dot, "The graph when matmul failed"), dot);
  CHECK(holds(dot, "inner sizes differ: [2, 3] @ [4, 5]"));
  CHECK(holds(dot, "in net.head (Head)"));
  CHECK(holds(dot, "#dc2626"));
  CHECK(holds(dot, "tanh"));
  CHECK(holds(dot, "n2 -> n4"));  // from relu, behind x and tanh
  CHECK(holds(dot, "n3 -> n4"));  // from the other operand, which is no result
  CHECK(holds(dot, "[4, 5]</font>"));
  CHECK(!holds(dot, "n1 -> n4"));  // tanh has been used
}

TEST_CASE("the operation that failed has the colours of an error in light and dark, and stands in the legend") {
  const TemporaryFolder folder;
  const std::string path = (folder / "error.svg").string();
  {
    const ErrorDrawing drawing(path);
    CHECK_THROWS_AS(fail_in_a_module(), ShapeError);
  }
  const std::string svg = read_text(path), light = ".graph-light .as-error .box{fill:#fee2e2;";
  CHECK(holds(svg, light));
  CHECK(svg.find(".graph-light .as-error .box{fill:", svg.find(light) + 1) > svg.find("prefers-color-scheme:dark"));
  CHECK(holds(svg, ">failed<"));
  CHECK(!holds(svg, ">the first NaN<"));
}

TEST_CASE("an error before any operation is drawn alone, a later one in its place, none when the drawing is gone") {
  const TemporaryFolder folder;
  const std::string path = (folder / "error.dot").string();
  const auto fail_at_once = [] { error_of<ShapeError>([] { matmul(Array({2, 3}, Real(1)), Array({2, 3}, Real(1))); }); };
  {
    const ErrorDrawing drawing(path);
    fail_at_once();
    CHECK(holds(read_text(path), "matmul"));
    error_of<ValueError>([] { sum(variable({1, 2}), {.axis = 7}); });
    CHECK(holds(read_text(path), "The graph when sum failed"));
    CHECK(!holds(read_text(path), "matmul"));
  }
  fail_at_once();
  CHECK(holds(read_text(path), "The graph when sum failed"));
}

TEST_CASE("a drawing refuses a path that says no format, and one that cannot be written changes no error") {
  CHECK(error_of<ValueError>([] { const ErrorDrawing drawing("error.bmp"); }).starts_with("save_graph: the extension of 'error.bmp'"));
  const TemporaryFolder folder;
  const ErrorDrawing drawing((folder / "none" / "error.dot").string());
  CHECK_THROWS_AS(fail_in_a_module(), ShapeError);
}

TEST_CASE("the environment has every thread draw its errors") {
  const TemporaryFolder folder;
  const std::string path = (folder / "error.dot").string();
  setenv("XGRAD_VIZ", path.c_str(), 1);
  std::thread([] { CHECK_THROWS_AS(fail_in_a_module(), ShapeError); }).join();
  unsetenv("XGRAD_VIZ");
  CHECK(holds(read_text(path), "The graph when matmul failed"));
  std::filesystem::remove(path);
  std::thread([] { CHECK_THROWS_AS(fail_in_a_module(), ShapeError); }).join();
  CHECK(!std::filesystem::exists(path));
}

}  // namespace
}  // namespace xgrad::testing
