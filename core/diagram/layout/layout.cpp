// The places of everything in a diagram, by the program dot.
#include "layout.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <utility>

#include "../../base/error.h"
#include "../view/label_size.h"
#include "dot.h"
#include "routes.h"

namespace xgrad {
namespace {

using namespace detail;

// What dot answers.
class PlanReader {
 public:
  PlanReader(const GraphView& view, const GraphOptions& options, const std::string& text)
      : view_(view), options_(options), plan_(Json::parse(text)) {}

  GraphLayout read() && {
    const std::vector<double> page = numbers_of(plan_.at("bb"));
    layout_.width = page.at(2);
    layout_.height = page.at(3);
    layout_.vertices.resize(view_.vertices.size());
    layout_.edges.resize(view_.edges.size());
    layout_.frames.resize(view_.frames.size());
    layout_.titles.resize(view_.frames.size());
    if (plan_.contains("objects")) {
      for (const Json& object : plan_["objects"]) read_object(object);
    }
    if (plan_.contains("edges")) {
      for (const Json& edge : plan_["edges"]) read_edge(edge);
    }
    const bool all =
        std::ranges::none_of(layout_.vertices, [](const GraphBox& box) { return box.width == 0; }) &&
        std::ranges::none_of(layout_.edges, [](const GraphCurve& curve) { return curve.points.empty(); }) &&
        std::ranges::none_of(layout_.frames, [](const GraphBox& box) { return box.width == 0; });
    if (!all) throw std::out_of_range("not everything has a place");
    return std::move(layout_);
  }

 private:
  using Json = nlohmann::json;

  static std::vector<double> numbers_of(const Json& words) { return numbers(words.get_ref<const std::string&>()); }
  static std::vector<double> numbers(std::string_view text) {
    std::vector<double> result;
    for (const char* at = text.data(); at < text.data() + text.size();) {
      double number = 0;
      const auto [end, error] = std::from_chars(at, text.data() + text.size(), number);
      if (error == std::errc()) result.push_back(number);
      at = std::max(end, at + 1);
    }
    return result;
  }
  // dot counts from below.
  GraphPoint point(const std::vector<double>& xy, std::size_t i = 0) const {
    return {xy.at(i), layout_.height - xy.at(i + 1)};
  }
  static GraphBox around(const GraphPoint& center, const LabelSize& size) {
    return {center.x - size.width / 2, center.y - size.height / 2, size.width, size.height};
  }

  void read_object(const Json& object) {
    const std::string& name = object.at("name").get_ref<const std::string&>();
    if (const std::size_t number = name.rfind('_'); number != name.npos) {
      const std::size_t c = std::stoul(name.substr(number + 1));
      const std::vector<double> box = numbers_of(object.at("bb"));
      layout_.frames.at(c) = {box.at(0), layout_.height - box.at(3), box.at(2) - box.at(0), box.at(3) - box.at(1)};
      layout_.titles.at(c) = around(point(numbers_of(object.at("lp"))), size_of_title(view_.frames[c]));
    } else {
      const std::size_t v = std::stoul(name.substr(1));
      layout_.vertices.at(v) =
          around(point(numbers_of(object.at("pos"))), size_of_vertex(view_.vertices.at(v), options_));
    }
  }

  // "s,x,y" or "e,x,y" is the tip of an arrow at the start or the end, then the curve follows.
  void read_edge(const Json& edge) {
    GraphCurve& curve = layout_.edges.at(std::stoul(edge.at("id").get_ref<const std::string&>()));
    const std::string& words = edge.at("pos").get_ref<const std::string&>();
    const std::vector<double> all = numbers(words);
    curve.tip = point(all);
    for (std::size_t i = 2; i + 1 < all.size(); i += 2) curve.points.push_back(point(all, i));
    if (words.starts_with('s')) std::ranges::reverse(curve.points);
    if (edge.contains("lp")) curve.label = point(numbers_of(edge["lp"]));
  }

  const GraphView& view_;
  const GraphOptions& options_;
  const Json plan_;
  GraphLayout layout_;
};

}  // namespace

GraphLayout GraphLayout::of(const GraphView& view, const GraphOptions& options, const DrawingLimits& limits,
                            std::string_view caller) {
  if (limits.processor_seconds < 1 || limits.seconds < 1 || limits.memory < 1) {
    fail<ValueError>(caller, "limits of ", limits.processor_seconds, " s, ", limits.seconds, " s and ", limits.memory,
                     " bytes: one is not positive");
  }
  const ProgramResult plan = run_program({"dot", "-Tjson0"}, in_dot(view, options, DotFor::layout), limits, caller);
  if (!plan.is_there) fail<IoError>(caller, plan.failure, ": install the package graphviz");
  if (!plan.failure.empty()) {
    fail<IoError>(caller, plan.failure, " on ", view.vertices.size(), " vertices and ", view.edges.size(),
                  " arrows; fold modules with .depth");
  }
  try {
    GraphLayout layout = PlanReader(view, options, plan.output).read();
    route_between_frames(view, options.direction, layout.vertices, layout.frames, layout.edges);
    return layout;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    fail<IoError>(caller, "dot gave no layout: ", printable(error.what()));
  }
}

}  // namespace xgrad
