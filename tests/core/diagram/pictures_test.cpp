// Diagrams, compared with those that are kept (support/kept.h): places, colours, letters and numbers of all parts, and
// what other programs read.
#include <xgrad/core/diagram/layout/layout.h>

#include <cmath>
#include <numbers>
#include <regex>

#include <xgrad/core/diagram/render/export.h>
#include <xgrad/xgrad.h>

#include "core/diagram/diagrams.h"
#include "core/diagram/render/small_run.h"
#include "support/kept.h"

namespace xgrad::testing {
namespace {

void check_picture(const std::string& name, const GraphView& view, const GraphOptions& options) {
  check_kept(str("diagram_", name, ".svg"), to_svg(view, options));
}
void check_picture(const std::string& name, const Tensors& results, const GraphOptions& options) {
  check_picture(name, GraphView::of(results, options), options);
}

// A block with a way around it, whose attributes, equations and saved arrays are drawn.
Tensor block(const std::string& path, const Tensor& x, const Mask& mask) {
  const Tensor h = layer(path + ".in", x, "Layer 4 -> 4");
  const Scope scope(intern(path, "Block"));
  return (x + where(mask, softmax(h, -1), h / std::numbers::sqrt2)).named("y_" + path.substr(path.size() - 1));
}

Tensors step_of_blocks() {
  const Tensor table = variable(normal({5, 4}), "table");
  const Mask mask({1, 4}, {true, false, true, true});
  Tensor y = embedding(table, Index({3}, {4, 0, 4}));
  for (const char* path : {"net.blocks.0", "net.blocks.1"}) y = block(path, y, mask);
  return training_step(mean(square(concat({y, clamp(y, {.min = 0})}, 0))).named("loss"), {table});
}

// The run with the first NaN, in a gradient, marked.
GraphView run_with_nan() {
  GraphView view = small_run();
  view.vertices[8].record.first_nan = true;
  return view;
}

// Numbers with at most six decimals, since the last digits of a standard deviation are those of a compiler.
std::string with_six_decimals(const std::string& text) {
  static const std::regex longer(R"((\.\d{6})\d+)");
  return std::regex_replace(text, longer, "$1");
}

// A diagram from left to right, with an overlay some of whose numbers are negative.
GraphOptions with_letters(int depth) {
  const auto number = [](const GraphVertex& vertex) { return 600. * static_cast<double>(vertex.op.size()) - 2000; };
  return {.title = "letters",
          .direction = Direction::left_to_right,
          .depth = depth,
          .reshapes = true,
          .overlay = overlay_of("letters", "B", number)};
}

const GraphOptions options_of_run{.title = "A run & its numbers", .saved_memory = true, .equations = true};

TEST_CASE("a diagram of a run looks as it did") { check_picture("run", run_with_nan(), options_of_run); }

TEST_CASE("a diagram of a run for other programs looks as it did") {
  check_kept("diagram_run.json", to_json(run_with_nan()), with_six_decimals);
  check_kept("diagram_run_dot.txt", to_dot(run_with_nan(), options_of_run));
}

TEST_CASE("a diagram of folded modules and the sums of an overlay, also for other programs, looks as it did") {
  const GraphOptions options = with_letters(1);
  const GraphView view = GraphView::of(step_of_blocks(), options);
  check_picture("letters", view, options);
  check_kept("diagram_letters.json", to_json(view));
  check_kept("diagram_letters_dot.txt", to_dot(view, options));
  check_kept("diagram_letters.txt", to_text(view));
}

TEST_CASE("a diagram of a training step looks as it did") {
  check_picture("step", step_of_blocks(), {.depth = 3, .saved_memory = true, .equations = true});
  check_picture("folded", step_of_blocks(), {.title = "folded", .depth = 1, .saved_memory = true, .legend = false});
}

TEST_CASE("a diagram of a transformer looks as it did") {
  const nn::EncoderDecoder model{nn::root, 20, 22, {.dim = 8, .ffn = 16, .heads = 2, .layers = 2}};
  // Weights are kept in whole registers, which have 2 to 8 numbers: with 8 queries as much on every processor.
  const Index source({2, 8}, std::int64_t{1}), lengths(Shape{2}, std::int64_t{8}), target({2, 8}, std::int64_t{2});
  const Tensor loss = cross_entropy(model(source, lengths, target), target).named("loss");
  check_picture("transformer", training_step(loss, model.parameters()), {.depth = 1});
}

TEST_CASE("a diagram from left to right, with the colours of an overlay, looks as it did") {
  check_picture("overlay", {step_of_blocks()[0]}, with_letters(3));
}

TEST_CASE("a diagram of numbers that are colours alone looks as it did") {
  Array numbers = normal({5, 5});
  numbers.mutable_data()[3] = not_a_number;
  ValueRecorder values;
  check_picture("colours", {variable(numbers, "w") * 2}, {.values = &values});
}

TEST_CASE("a diagram of a second derivative looks as it did") {
  const Tensor x = variable({1, 2}, "x_1");
  Tensor y = tanh(exp(x)) * Real(0.5);
  for (int order = 1; order <= 2; ++order) y = grad(sum(y), {x}, {.create_graph = true})[0];
  check_picture("derivatives", {y.named("d2y")}, {.expand_rules = true});
}

TEST_CASE("a diagram that moves looks as it did") {
  const Tensor a = variable({1, 2}, "alpha"), b = variable({{3, -4}, {0, 1}}, "b'");
  ValueRecorder values;
  const Tensor y = sum(matmul(relu(b), a) * a).named("y");
  y.backward();
  check_picture("moving", {y}, {.values = &values, .animate = true});
}

TEST_CASE("a table of random layouts looks as it did") {
  std::string table = "seed, width, height and the length of all arrows\n";
  for (std::uint32_t seed = 1; seed <= 60; ++seed) {
    const GraphView view = random_view(seed);
    if (view.edges.size() > 26) continue;  // takes its time
    const GraphLayout layout = GraphLayout::of(view);
    double length = 0;
    for (const GraphCurve& curve : layout.edges) {
      for (std::size_t i = 1; i < curve.points.size(); ++i) {
        length += std::hypot(curve.points[i].x - curve.points[i - 1].x, curve.points[i].y - curve.points[i - 1].y);
      }
    }
    append(table, str(seed, ' ', layout.width, ' ', std::round(layout.height), ' ', std::round(length), '\n'));
  }
  check_kept("diagram_layouts.txt", table);
}

}  // namespace
}  // namespace xgrad::testing
