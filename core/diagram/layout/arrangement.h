// The directions of the arrows of a diagram, and which of them push their ends apart.
//
// A forward pass runs down the page, and its backward pass beside it up again, each gradient at the height of the
// values that it depends on; with more than one backward pass everything runs down.
#pragma once

#include <vector>

#include "../view/view.h"

namespace xgrad::detail {

enum class EdgeKind {
  value,     ///< within the forward pass
  gradient,  ///< within a backward pass
  borrowed,  ///< from a pass to a later one that uses its values
};

/// Two frames that are in the same frame, or in none.
struct FramePair {
  int from;
  int to;
  auto operator<=>(const FramePair&) const = default;
};

/// For a view whose vertices are numbered inputs before results, and which must outlive it.
/// Threads: many may read from one object.
class Arrangement {
 public:
  explicit Arrangement(const GraphView& view);

  EdgeKind kind_of(const GraphEdge& edge) const;
  /// Whether there is one backward pass, which stands beside the forward pass.
  bool runs_up_again() const { return highest_order_ == 1; }

  /// The frames that the edge leads from and to, or those around them that are in the same frame; {-1, -1} if one of
  /// its ends is in no frame that does not contain the other.
  FramePair siblings_of(const GraphEdge& edge) const;

  /// Indices of the vertices directly in the frame and of the frames in it; -1: in no frame.
  const std::vector<int>& vertices_in(int frame) const { return contents_of(frame).vertices; }
  const std::vector<int>& frames_in(int frame) const { return contents_of(frame).frames; }

 private:
  struct Content {
    std::vector<int> vertices;
    std::vector<int> frames;
  };
  const Content& contents_of(int frame) const { return contents_[static_cast<std::size_t>(frame + 1)]; }

  const GraphView& view_;
  int highest_order_ = 0;
  std::vector<Content> contents_;  // by number of the frame; at the front the contents of none
};

}  // namespace xgrad::detail
