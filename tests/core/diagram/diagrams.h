// Utilities for tests of diagrams: small graphs, names that would break a careless writer, and what stands in a view.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <xgrad/core/base/scope.h>
#include <xgrad/core/diagram/render/svg.h>
#include <xgrad/core/diagram/view/values.h>
#include <xgrad/core/graph/grad.h>
#include <xgrad/ops/ops.h>

#include "support/check.h"
#include "support/files.h"

namespace xgrad::testing {

using Strings = std::vector<std::string>;

/// How often a part is in a text.
inline std::size_t count(std::string_view text, std::string_view part) {
  std::size_t result = 0;
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + part.size())) ++result;
  return result;
}

/// The first vertex of that operation or name.
inline const GraphVertex& the(const GraphView& view, std::string_view what) {
  const auto is_it = [&](const GraphVertex& vertex) { return vertex.op == what || vertex.name == what; };
  const auto found = std::ranges::find_if(view.vertices, is_it);
  REQUIRE_MESSAGE(found != view.vertices.end(), what);
  return *found;
}

/// The operations of all vertices, in the order of the view.
inline Strings ops(const GraphView& view) {
  Strings result;
  for (const GraphVertex& vertex : view.vertices) result.push_back(vertex.op);
  return result;
}

/// The operations of this role, sorted.
inline Strings ops_of(const GraphView& view, GraphRole role = GraphRole::operation) {
  Strings result;
  for (const GraphVertex& vertex : view.vertices) {
    if (vertex.role == role) result.push_back(vertex.op);
  }
  std::ranges::sort(result);
  return result;
}

inline std::ptrdiff_t count_of(const GraphView& view, GraphRole role) {
  return std::ranges::count(view.vertices, role, &GraphVertex::role);
}

/// "0>2 1>2" for two arrows into vertex 2.
inline std::string arrows(const GraphView& view) {
  std::string result;
  for (const GraphEdge& edge : view.edges) append(result, str(result.empty() ? "" : " ", edge.from, '>', edge.to));
  return result;
}

inline std::string svg_of(const Tensors& results, const GraphOptions& options = {}) {
  return to_svg(GraphView::of(results, options), options);
}

/// A number for each operation, and none for leaves.
inline GraphOverlay overlay_of(const std::string& title, const std::string& unit,
                               const std::function<double(const GraphVertex&)>& number) {
  return {.title = title, .unit = unit, .of = [number](const GraphVertex& vertex) -> std::optional<double> {
            if (!is_operation(vertex)) return std::nullopt;
            return number(vertex);
          }};
}

/// tanh(weight x), in a module of that path and kind.
inline Tensor layer(const std::string& path, const Tensor& x, const std::string& kind = {}) {
  const Tensor weight = variable(Array(x.shape(), Real(2)), path + ".weight");
  const Scope scope(intern(path, kind));
  return tanh(weight * x);
}

/// Modules in modules, and arrows between any of them.
inline GraphView random_view(std::uint32_t seed) {
  std::minstd_rand random(seed);
  const auto below = [&](std::size_t end) { return static_cast<int>(random() % end); };
  GraphView view;
  const int frames = below(6), vertices = 4 + below(26);
  for (int c = 0; c < frames; ++c) {
    const int parent = below(2) == 0 || c == 0 ? -1 : below(static_cast<std::size_t>(c));
    view.frames.push_back({.path = str('f', c), .title = str("frame ", c), .parent = parent, .what = "Module 3 -> 4"});
  }
  for (int v = 0; v < vertices; ++v) {
    GraphVertex vertex{.op = str("op", v), .shape = Shape{2, 3}};
    vertex.frame = frames > 0 && below(3) > 0 ? std::min(v * frames / vertices + below(2), frames - 1) : -1;
    const int inputs = v == 0 ? 0 : below(4);
    if (inputs == 0) vertex.role = GraphRole::parameter;
    for (int input = 0; input < inputs; ++input)
      view.edges.push_back({below(static_cast<std::size_t>(v)), v, input, Shape{2, 3}});
    view.vertices.push_back(vertex);
  }
  std::vector<bool> used(static_cast<std::size_t>(frames));
  for (const GraphVertex& vertex : view.vertices) {
    for (int c = vertex.frame; c >= 0; c = view.frames[static_cast<std::size_t>(c)].parent)
      used[static_cast<std::size_t>(c)] = true;
  }
  for (int c = 0; c < frames; ++c) {
    if (!used[static_cast<std::size_t>(c)]) view.vertices.push_back({.op = "alone", .frame = c});
  }
  return view;
}

/// A result with its gradients, recorded.
inline Tensors training_step(const Tensor& loss, const Tensors& parameters) {
  Tensors all = grad(loss, parameters, {.create_graph = true});
  all.insert(all.begin(), loss);
  return all;
}

/// Names with the signs of every format that is written, broken UTF-8, and so many of random bytes.
inline Strings hostile_names(int random_ones = 0) {
  Strings names{"\"", "'", "\\", "end\\", "\"]; x [shape=box", "<b>", "</svg>", "</style><script>alert(1)</script>",
                "\" onload=\"alert(1)", "{a|b}", "two\nlines", "tab\tand\rreturn", std::string("nul\0byte", 8),
                "\xff\xfe", "\xc0\x80", "\xed\xa0\x80", "\xef\xbf\xbf", "\xef\xbf\xbe", "\xf4\x90\x80\x80", "\xe2\x82",
                "&amp;", "&", "&#0;", "&lt;", "#quot;", " ", "-->", "--", "]]>", "]", "]]", "<![CDATA[", "<!--",
                "<!DOCTYPE x>", "<?php ?>", "<script", "--></style>", "\\N \\G \\E", "\\u003c/script>", "%%{init}%%",
                "`x`", "{{script}}", "{{", "${window.hacked=1}", ")embedded\"", "caf\u00e9 \u6f22", "\u2028\u2029",
                "\x1b[31m", "\x7f", std::string(10'000, 'x')};
  std::mt19937 random(7);
  for (int i = 0; i < random_ones; ++i) {
    std::string& name = names.emplace_back();
    for (auto length = 1 + random() % 12; length-- > 0;) {
      static constexpr std::string_view likely = "<>&\"'\\-]![/x;#";
      name += random() % 2 == 0 ? likely[random() % likely.size()] : static_cast<char>(random());
    }
  }
  return names;
}

}  // namespace xgrad::testing
