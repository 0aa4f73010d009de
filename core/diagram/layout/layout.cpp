// The positions of everything in a diagram.
#include "layout.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <utility>

#include "../../base/error.h"
#include "../view/order.h"
#include "dot.h"
#include "routes.h"

namespace xgrad {
namespace {

using namespace detail;

std::vector<double> numbers_of(const nlohmann::json& words) {
  const std::string_view text = words.get_ref<const std::string&>();
  std::vector<double> result;
  for (const char* at = text.data(); at < text.data() + text.size();) {
    double number = 0;
    const auto [end, error] = std::from_chars(at, text.data() + text.size(), number);
    if (error == std::errc()) result.push_back(number);
    at = std::max(end, at + 1);
  }
  return result;
}

// The centres of the vertices in the output of dot, whose y axis points up.
std::vector<GraphPoint> read_centers(const std::string& answer, std::size_t vertices) {
  const nlohmann::json plan = nlohmann::json::parse(answer);
  const double height = numbers_of(plan.at("bb")).at(3);
  std::vector<GraphPoint> centers(vertices);
  std::size_t found = 0;
  if (plan.contains("objects")) {
    for (const nlohmann::json& object : plan["objects"]) {
      if (!object.contains("pos")) continue;  // a frame
      const std::vector<double> middle = numbers_of(object["pos"]);
      const std::size_t v = std::stoul(object.at("name").get_ref<const std::string&>().substr(1));
      centers.at(v) = {middle.at(0), height - middle.at(1)};
      ++found;
    }
  }
  if (found != vertices) throw std::out_of_range("not everything has a place");
  return centers;
}

GraphLayout layout_around(const std::vector<GraphPoint>& centers, const GraphView& view, const GraphOptions& options) {
  const Arrangement arrangement(view);
  const Layers layers(view, options, arrangement, centers);
  const Ordering ordering(layers, centers);
  const Placing placing = placed(layers, ordering);
  const bool sideways = layers.sideways;
  constexpr double title_inset = 6;
  const auto box = [&](double across, double along, double width, double height) {
    return sideways ? GraphBox{along, across, height, width} : GraphBox{across, along, width, height};
  };
  const auto turn = [&](GraphPoint& point) {
    if (sideways) std::swap(point.x, point.y);
  };
  GraphLayout layout;
  layout.width = sideways ? placing.page_along : placing.page_across;
  layout.height = sideways ? placing.page_across : placing.page_along;
  for (std::size_t v = 0; v < view.vertices.size(); ++v) {
    const Item& item = layers.items[v];
    layout.vertices.push_back(box(placing.across[v] - item.across / 2,
                                  placing.layers[item.first].middle() - item.along / 2, item.across, item.along));
  }
  for (std::size_t c = 0; c < view.frames.size(); ++c) {
    const Extent &across = placing.frames_across[c], &along = placing.frames_along[c];
    layout.frames.push_back(box(across.begin, along.begin, across.size(), along.size()));
    const Item& title = layers.items[layers.title_item(static_cast<int>(c))];
    layout.titles.push_back(
        box(across.begin + title_inset, placing.layers[title.first].begin, title.across, title.along));
  }
  layout.edges = routes(layers, placing, ordering);
  for (GraphCurve& curve : layout.edges) {
    std::ranges::for_each(curve.points, turn);
    turn(curve.tip);
  }
  return layout;
}

}  // namespace

GraphLayout GraphLayout::of(const GraphView& view, const GraphOptions& options, const DrawingLimits& limits,
                            std::string_view caller) {
  if (limits.processor_seconds < 1 || limits.seconds < 1 || limits.memory < 1) {
    fail<ValueError>(caller, "limits of ", limits.processor_seconds, " s, ", limits.seconds, " s and ", limits.memory,
                     " bytes: one is not positive");
  }
  std::vector<bool> filled(view.frames.size());
  for (const GraphVertex& vertex : view.vertices) {
    for (int f = vertex.frame; f != nothing && !filled[f]; f = view.frames[f].parent) filled[f] = true;
  }
  if (const auto empty = std::ranges::find(filled, false); empty != filled.end()) {
    fail<ValueError>(caller, "the frame '", printable(view.frames[empty - filled.begin()].path), "' holds no vertex");
  }
  const ProgramResult plan = run_program({"dot", "-Tjson0"}, in_dot(view, options, DotFor::layout), limits, caller);
  if (!plan.is_there) fail<IoError>(caller, plan.failure, ": install the package graphviz");
  if (!plan.failure.empty()) {
    fail<IoError>(caller, plan.failure, " on ", view.vertices.size(), " vertices and ", view.edges.size(),
                  " arrows; fold modules with .depth");
  }
  try {
    return layout_around(read_centers(plan.output, view.vertices.size()), view, options);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    fail<IoError>(caller, "dot gave no layout: ", printable(error.what()));
  }
}

void detail::check_layout(const GraphView& view, const GraphLayout& layout, std::string_view caller) {
  const auto needs = [caller](std::string_view what, std::size_t in_layout, std::size_t in_view) {
    if (in_layout == in_view) return;
    fail<ValueError>(caller, "the layout belongs to another view: it has ", in_layout, ' ', what, ", the view has ",
                     in_view);
  };
  needs("vertices", layout.vertices.size(), view.vertices.size());
  needs("edges", layout.edges.size(), view.edges.size());
  needs("frames", layout.frames.size(), view.frames.size());
  needs("titles", layout.titles.size(), view.frames.size());
}

}  // namespace xgrad
