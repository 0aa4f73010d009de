// Compiled with the lines of this file, whatever else is.
#include <xgrad/core/diagram/view/source_lines.h>

#include <xgrad/core/diagram/render/drawing.h>
#include <xgrad/core/diagram/render/export.h>
#include <xgrad/core/diagram/render/formats.h>
#include <xgrad/core/graph/grad.h>
#include <xgrad/nn/layers/linear.h>
#include <xgrad/ops/arrange/create.h>
#include <xgrad/ops/elementwise/arithmetic.h>
#include <xgrad/ops/elementwise/elementwise.h>
#include <xgrad/ops/reduce/reduce.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <source_location>

#include "support/check.h"
#include "support/files.h"

using namespace xgrad;

namespace {

std::string line(int line) { return cat("source_lines_test.cpp:", line); }

struct Doubled : nn::Module {
  Doubled() : Module(nn::root) {}
  nn::Linear map{at("map"), 2, 2};
  Tensor operator()(const Tensor& x) const {
    Tensor y = map(x) * 2;  // the line that is looked for
    return y;
  }
  static constexpr int its_line = __LINE__ - 3;
};

}  // namespace

TEST_CASE("each operation knows the line of the program that called it, not that of the library") {
  const Doubled model;
  const Tensor x = tensor({{1, 2}});
  SourceLines lines;
  const Tensor inner = model(x);
  const Tensor outer = sum(tanh(inner));
  const int outer_line = __LINE__ - 1;
  CHECK(lines.of(inner) == line(Doubled::its_line));
  CHECK(lines.of(*inner.node()->edges()[0].to) == line(Doubled::its_line));  // linear
  CHECK(lines.of(outer) == line(outer_line));
  CHECK(lines.of(x).empty());
  CHECK_THROWS_WITH_AS(lines.of(Tensor()), "source_lines: the tensor is undefined", GraphError);
  lines.clear();
  CHECK(lines.of(outer).empty());
}

TEST_CASE("the operations of a gradient rule have the line of the operation") {
  SourceLines lines;
  const Tensor x = variable({1, 2});
  const Tensor y = sum(tanh(x));
  const int its_line = __LINE__ - 1;
  const Tensor dx = grad(y, {x}, {.create_graph = true})[0];
  CHECK(lines.of(dx) == line(its_line));
}

TEST_CASE("no line is better than a wrong one: where addr2line fails, none is said") {
  const testing::TemporaryFolder folder;
  testing::write_text(folder / "addr2line", "#!/bin/sh\nread first\necho $first\necho /somewhere/else.cpp:7\nexit 1\n");
  std::filesystem::permissions(folder / "addr2line", std::filesystem::perms::owner_all);
  const std::string before = std::getenv("PATH");
  setenv("PATH", cat(folder.path().string(), ":", before).c_str(), 1);
  SourceLines lines;
  const Tensor y = tanh(variable({1, 2}));
  const std::string found = lines.of(y);
  setenv("PATH", before.c_str(), 1);
  CHECK(found.empty());
}

TEST_CASE("diagrams say the lines") {
  const Tensor x = variable({1, 2}, "x");
  SourceLines lines;
  const Tensor y = tanh(x);
  const int its_line = __LINE__ - 1;
  const GraphView view = GraphView::of({y}, {.lines = &lines});
  CHECK(view.vertices[1].source == line(its_line));
  CHECK(view.vertices[0].source.empty());
  CHECK(nlohmann::json::parse(to_json(view))["vertices"][1]["source"] == line(its_line));
  const std::string dot = to_dot(view);
  CAPTURE(dot);
  CHECK(dot.find(cat(", ", line(its_line), "\\n")) != std::string::npos);
  CHECK(GraphView::of({y}).vertices[1].source.empty());
}

TEST_CASE("operations before and after are not known") {
  const Tensor x = variable({1, 2});
  const Tensor before = tanh(x);
  auto lines = std::make_unique<SourceLines>();
  const Tensor during = tanh(x);
  CHECK(lines->of(before).empty());
  CHECK(!lines->of(during).empty());
  const NoGrad off;  // what belongs to no graph is traced
  CHECK(!lines->of(tanh(x)).empty());
}
