// Graphs whose values, gradients and steps are filled in by hand, for the tests of what shows them.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <xgrad/core/diagram/view/view.h>

namespace xgrad::testing {

/// Every text of a graph but attributes.
inline std::vector<std::string*> texts_of(GraphView& view) {
  std::vector<std::string*> all;
  for (GraphVertex& v : view.vertices) {
    all.insert(all.end(), {&v.op, &v.name, &v.path, &v.text.note, &v.text.what, &v.text.formula, &v.text.derivative,
                           &v.record.gradient_state});
  }
  for (GraphFrame& frame : view.frames) all.insert(all.end(), {&frame.path, &frame.title, &frame.what});
  return all;
}

/// The summary of these numbers, as a run would have it.
inline SharedSummary summary_of(const Shape& shape, const std::vector<Real>& numbers) {
  return shared_summary_of(Array(shape, numbers));
}

/// Some numbers between -1 and 1.
inline SharedSummary some_numbers(const Shape& shape, int seed) {
  std::vector<Real> numbers;
  for (std::int64_t i = 0; i < shape.numel(); ++i) {
    numbers.push_back(
        static_cast<Real>(std::round(1000 * std::sin(1.7 * double(i) + seed) * std::cos(0.3 * seed)) / 1000));
  }
  return summary_of(shape, numbers);
}

/// Values and steps as a run would give them: forward in the order of the graph, then gradients the other way.
inline void fill_run(GraphView& view) {
  int step = 0;
  for (std::size_t v = 0; v < view.vertices.size(); ++v) {
    GraphVertex& vertex = view.vertices[v];
    if (!vertex.shape) continue;
    vertex.record.value = some_numbers(*vertex.shape, static_cast<int>(v));
    if (is_operation(vertex)) vertex.record.step = step++;
  }
  for (std::size_t v = view.vertices.size(); v-- > 0;) {
    GraphVertex& vertex = view.vertices[v];
    const bool has_gradient = vertex.role == GraphRole::operation || vertex.role == GraphRole::parameter;
    if (!has_gradient || !vertex.shape) continue;
    vertex.record.gradient = some_numbers(*vertex.shape, static_cast<int>(v) + 100);
    vertex.record.gradient_step = step++;
  }
  for (std::size_t e = 0; e < view.edges.size(); ++e) {
    GraphEdge& edge = view.edges[e];
    if (view.vertices[edge.from].record.gradient) edge.gradient = some_numbers(edge.shape, static_cast<int>(e) + 200);
  }
}

/// net: in (Linear), block with a residual around mid (Linear), out (Linear), then the mean squared error. A value is
/// infinite, a gradient NaN, and one is zero.
inline GraphView small_run() {
  GraphView view;
  const auto frame = [&](const std::string& path, int parent, const std::string& what) {
    view.frames.push_back({.path = path, .title = path.substr(path.rfind('.') + 1), .parent = parent, .what = what});
    return static_cast<int>(view.frames.size()) - 1;
  };
  const int net = frame("net", -1, "Net"), in = frame("net.in", net, "Linear 3 -> 4"),
            block = frame("net.block", net, "Residual"), mid = frame("net.block.mid", block, "Linear 4 -> 4"),
            out = frame("net.out", net, "Linear 4 -> 1");
  const auto path_of = [&](int frame) { return frame < 0 ? std::string() : view.frames[frame].path; };
  const auto leaf = [&](GraphRole role, const std::string& name, const Shape& shape, int frame) {
    view.vertices.push_back(
        {.role = role, .op = {}, .name = name, .path = path_of(frame), .shape = shape, .frame = frame});
    return static_cast<int>(view.vertices.size()) - 1;
  };
  const auto operation = [&](const std::string& op, const std::vector<int>& inputs, const Shape& shape, int frame) {
    view.vertices.push_back({.op = op, .name = {}, .path = path_of(frame), .shape = shape, .frame = frame});
    const int number = static_cast<int>(view.vertices.size()) - 1;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      view.edges.push_back(
          {.from = inputs[i], .to = number, .input = static_cast<int>(i), .shape = *view.vertices[inputs[i]].shape});
    }
    return number;
  };
  const Shape hidden{2, 2, 4}, outer{2, 2, 1};
  const int x = leaf(GraphRole::input, "x", {2, 2, 3}, -1);
  const int in_weight = leaf(GraphRole::parameter, "weight", {4, 3}, in),
            in_bias = leaf(GraphRole::parameter, "bias", {4}, in);
  const int first = operation("linear", {x, in_weight, in_bias}, hidden, in);
  const int squashed = operation("tanh", {first}, hidden, block);
  const int mid_weight = leaf(GraphRole::parameter, "weight", {4, 4}, mid);
  const int middle = operation("linear", {squashed, mid_weight}, hidden, mid);
  const int sum = operation("add", {squashed, middle}, hidden, block);
  const int out_weight = leaf(GraphRole::parameter, "weight", {1, 4}, out);
  const int y = operation("linear", {sum, out_weight}, outer, out);
  const int target = leaf(GraphRole::input, "target", outer, -1);
  const int error = operation("sub", {y, target}, outer, -1);
  const int squares = operation("mul", {error, error}, outer, -1);
  const int loss = operation("mean", {squares}, Shape{}, -1);
  fill_run(view);
  view.vertices[squashed].text.formula = "tanh x";
  view.vertices[squashed].text.derivative = "1 - y^2";
  view.vertices[squashed].totals.saved_bytes = 128;
  view.vertices[loss].name = "loss";
  view.vertices[loss].is_result = true;
  view.vertices[loss].text.attributes = {{"axis", "all"}, {"keepdim", ""}};
  view.vertices[in_bias].record.gradient = summary_of({4}, {0, 0, 0, 0});
  view.vertices[in_bias].record.gradient_state = "zero";
  const Real infinite = std::numeric_limits<Real>::infinity(), nan = std::numeric_limits<Real>::quiet_NaN();
  view.vertices[squares].record.value = summary_of(outer, {1, Real(0.25), -infinite, 2});
  view.vertices[out_weight].record.gradient = summary_of({1, 4}, {1, nan, 3, -2});
  return view;
}

}  // namespace xgrad::testing
