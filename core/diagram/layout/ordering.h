// The order of items within each layer of a diagram, so that few arrows cross.
#pragma once

#include <utility>
#include <vector>

#include "../view/frames.h"
#include "layers.h"

namespace xgrad::detail {

/// The contents of each frame, by its number + 1, the page first: items from left to right. Of two that share a layer
/// the first is left of the second, in every layer that they share. Threads: many may read from one object. It refers
/// to the layers, which must outlive it.
class Ordering {
 public:
  /// Starts with the order of the vertices' numbers and moves one item after the other to where fewest arrows
  /// cross, as long as that helps. Frames are right of the frames that they are computed from. Where it costs few
  /// crossings, frames and vertices stand in the order of their numbers.
  explicit Ordering(const Layers& layers);

  const std::vector<int>& in_frame(int frame) const { return contents_[static_cast<std::size_t>(frame + 1)]; }
  /// Vertices, titles and lanes of a layer, from left to right.
  const std::vector<int>& in_layer(int layer) const { return rows_[static_cast<std::size_t>(layer)]; }

 private:
  enum class Side { above, below, both };
  /// Two frames that are in the same frame, or in none.
  struct FramePair {
    int from, to;
    auto operator<=>(const FramePair&) const = default;
  };
  struct Gaps {
    int first, last;
  };
  using Ends = std::pair<std::int64_t, std::int64_t>;  // positions above a gap and below it

  FramePair siblings_of(const GraphEdge& edge) const;
  void find_series(const std::vector<int>& inner);
  void find_places();
  Numbered name_of(int vertex) const;
  void begin();
  void improve();
  bool sweep(Side side);
  std::span<int> movable(std::vector<int>& content) const;
  bool move_to_best(int item, Side side);
  void exchange(int layer, int left, int right);
  void write_rows(int first, int last);
  void write_row(std::vector<int>& row, int layer, int frame) const;
  std::int64_t cost_of(int first, int last, const Gaps& gaps);
  std::int64_t cost();
  template <class Counts>
  std::int64_t cost_of_frames(Counts&& counts) const;
  std::int64_t cost_of_gap(int gap);
  std::int64_t crossings_of(std::vector<Ends>& ends, std::size_t below);
  std::int64_t disorder_in_row(int layer) const;
  bool is_misplaced(const FramePair& pair) const;

  const Layers& layers_;
  std::vector<std::vector<int>> contents_, rows_;
  std::vector<std::vector<int>> links_in_, through_, flat_in_;  // by gap: links, lanes; by layer: arrows
  std::vector<FramePair> left_to_right_, series_of_frames_;     // that must, and that should stand in this order
  std::vector<int> places_, series_;                            // by vertex: from left to right; its series, or -1
  std::vector<std::int64_t> upper_at_, lower_at_, tree_;        // scratch, as is the next
  std::vector<Ends> ends_;
  std::int64_t work_ = 0;
};

}  // namespace xgrad::detail
