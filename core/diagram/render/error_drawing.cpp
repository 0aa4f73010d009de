// Remembering unused results, and drawing them.
#include "error_drawing.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <utility>

#include "../../base/error.h"
#include "drawing.h"

namespace xgrad {
namespace {

constexpr std::size_t most_unused = 8;
constexpr int most_vertices = 2000;

// The shapes that a message names: [2, 3] and so on.
std::vector<Shape> shapes_in(std::string_view message) {
  std::vector<Shape> shapes;
  for (std::size_t begin = message.find('['); begin != message.npos; begin = message.find('[', begin + 1)) {
    const std::string_view inside = message.substr(begin + 1, message.find(']', begin) - begin - 1);
    if (inside.find_first_not_of("0123456789, ") != inside.npos) continue;
    Shape shape;
    for (const char* at = inside.data(); at < inside.data() + inside.size();) {
      std::int64_t size = 0;
      const auto [end, error] = std::from_chars(at, inside.data() + inside.size(), size);
      if (error == std::errc()) shape.push_back(size);
      at = std::max(end, at + 1);
    }
    shapes.push_back(shape);
  }
  return shapes;
}

// The operation that failed, in the frame of the module that called it.
GraphVertex failed_vertex(const GraphView& view, std::string_view op, const std::string& message) {
  GraphVertex vertex{.role = GraphRole::operation, .op = std::string(op), .name = {}, .path = {}};
  vertex.failed = true;
  if (const Place* place = current_place()) {
    vertex.path = place->path;
    const auto frame = std::ranges::find(view.frames, place->path, &GraphFrame::path);
    if (frame != view.frames.end()) vertex.frame = static_cast<int>(frame - view.frames.begin());
  }
  std::string_view rest = message;
  if (rest.starts_with(op)) rest.remove_prefix(std::min(op.size() + 2, rest.size()));  // "op: "
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    vertex.remarks.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return vertex;
}

}  // namespace

ErrorDrawing::ErrorDrawing(std::string path) : path_(std::move(path)) { check_extension(path_); }

void ErrorDrawing::operation(const OperationRun& run) {
  const auto is_input = [&](const Tensor& result) {
    return std::ranges::any_of(run.inputs,
                               [&](const Tensor* input) { return input->defined() && input->node() == result.node(); });
  };
  std::erase_if(unused_, is_input);
  if (!run.output.node()) return;
  if (unused_.size() == most_unused) unused_.erase(unused_.begin());
  unused_.push_back(run.output);
}

void ErrorDrawing::error(std::string_view op, const std::string& message) noexcept {
  const detail::With quiet(&detail::Context::on_error, nullptr);  // errors of the drawing itself are not drawn
  try {
    draw(op, message);
  } catch (const std::exception& error) {
    std::fputs(cat("xgrad: the graph behind an error could not be drawn: ", error.what(), "\n").c_str(), stderr);
  }
}

void ErrorDrawing::draw(std::string_view op, const std::string& message) const {
  GraphView view;
  if (!unused_.empty()) view = GraphView::of(unused_, {.max_nodes = most_vertices}, "error_drawing");
  std::vector<int> results;
  for (int v = 0; std::cmp_less(v, view.vertices.size()); ++v) {
    if (std::exchange(view.vertices[static_cast<std::size_t>(v)].is_result, false)) results.push_back(v);
  }
  // The operands have the shapes that the message names; if it names none, each result may be one.
  const std::vector<Shape> shapes = shapes_in(message);
  std::vector<int> operands = shapes.empty() ? results : std::vector<int>();
  for (const Shape& shape : shapes) {
    const auto is_operand = [&](int v) { return view.vertices[static_cast<std::size_t>(v)].shape == shape; };
    if (const auto found = std::ranges::find_if(results, is_operand); found != results.end()) {
      operands.push_back(*found);
      results.erase(found);
    } else {
      operands.push_back(static_cast<int>(view.vertices.size()));
      view.vertices.push_back({.role = GraphRole::input, .op = "leaf", .name = {}, .path = {}, .shape = shape});
    }
  }
  const auto failed = static_cast<int>(view.vertices.size());
  int input = 0;
  for (const int v : operands) {
    const Shape shape = view.vertices[static_cast<std::size_t>(v)].shape.value_or(Shape{});
    view.edges.push_back({.from = v, .to = failed, .input = input++, .shape = shape});
  }
  view.vertices.push_back(failed_vertex(view, op, message));
  save_view(path_, view, {.title = cat("The graph when ", op, " failed")});
}

void detail::draw_errors_if_asked() {
  const char* path = std::getenv("XGRAD_VIZ");
  if (!path || !*path) return;
  thread_local std::optional<ErrorDrawing> of_thread;
  try {
    of_thread.emplace(path);
  } catch (const std::exception& error) {
    std::fputs(cat("xgrad: XGRAD_VIZ: ", error.what(), "\n").c_str(), stderr);
  }
}

}  // namespace xgrad
