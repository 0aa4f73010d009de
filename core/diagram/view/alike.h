// The similarity of vertices and modules of a view.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "view.h"

namespace xgrad::detail {

/// The edges into each vertex of a view, which must outlive it.
/// Threads: many may read from one object.
class Inputs {
 public:
  explicit Inputs(const GraphView& view);
  std::span<const GraphEdge> operator[](int v) const {
    const auto [first, last] = ranges_[static_cast<std::size_t>(v)];
    return std::span(view_.edges).subspan(first, last - first);
  }

 private:
  const GraphView& view_;
  std::vector<std::pair<std::size_t, std::size_t>> ranges_;
};

/// Everything that two vertices must share to be drawn as one: all but names and numbers of places, where a part begins
/// that is cut out, and the key of random numbers.
std::string kind_of(const GraphVertex& vertex);
/// Drops the last two, for a vertex that stands for several operations.
void forget_place(GraphVertex& vertex);
/// Also true for slices of one tensor that differ only in their positions.
bool alike_but_for_places(const GraphVertex& a, const GraphVertex& b);
/// "blocks" and 3 for "blocks.3", "block" and 11 for "block11", "cell" and 2 for "cell (2)", the second call of a
/// module; no stem if there is no number.
struct Numbered {
  std::string_view stem, number;
  bool is_call() const { return stem.ends_with('('); }
  bool is_listed() const { return stem.ends_with('.'); }
  bool is_numbered() const { return stem.ends_with('_'); }  ///< "layer_0"
};
Numbered numbered(std::string_view title);

/// By frame: the frame at this level that it is or that contains it, or -1.
std::vector<int> blocks_at(const GraphView& view, int level);

}  // namespace xgrad::detail
