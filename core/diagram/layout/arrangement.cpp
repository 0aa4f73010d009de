// How the arrows of a diagram arrange it.
#include "arrangement.h"

#include <algorithm>
#include <utility>

#include "../view/order.h"

namespace xgrad::detail {

Arrangement::Arrangement(const GraphView& view) : view_(view), contents_(view.frames.size() + 1) {
  for (int v = 0; std::cmp_less(v, view.vertices.size()); ++v) {
    highest_order_ = std::max(highest_order_, view.vertices[v].order);
    contents_[view.vertices[v].frame + 1].vertices.push_back(v);
  }
  for (int c = 0; std::cmp_less(c, view.frames.size()); ++c) {
    contents_[view.frames[c].parent + 1].frames.push_back(c);
  }
  if (view.frames.size() > 1) find_frames_side_by_side();
}

EdgeKind Arrangement::kind_of(const GraphEdge& edge) const {
  const int from = view_.vertices[edge.from].order;
  const int to = view_.vertices[edge.to].order;
  return from != to ? EdgeKind::borrowed : to > 0 ? EdgeKind::gradient : EdgeKind::value;
}

bool Arrangement::upwards(const GraphEdge& edge) const {
  return highest_order_ == 1 && kind_of(edge) == EdgeKind::gradient;
}

std::string Arrangement::attributes(const GraphEdge& edge) const {
  std::string text;
  const EdgeKind kind = kind_of(edge);
  if (kind == EdgeKind::borrowed && highest_order_ == 1) append(text, ", minlen=0");
  if (side_by_side(edge)) append(text, ", constraint=false");
  if (upwards(edge)) append(text, ", dir=back");
  return text;
}

std::optional<FramePair> Arrangement::side_by_side(const GraphEdge& edge) const {
  if (side_by_side_.empty() || kind_of(edge) == EdgeKind::borrowed) return std::nullopt;
  const FramePair pair = siblings_of(edge);
  if (!std::ranges::binary_search(side_by_side_, pair)) return std::nullopt;
  return pair;
}

FramePair Arrangement::siblings_of(const GraphEdge& edge) const {
  FramePair pair{nothing, nothing};
  int from = view_.vertices[edge.from].frame;
  int to = view_.vertices[edge.to].frame;
  while (from != to) {  // parents have smaller numbers
    if (from > to) {
      pair.from = std::exchange(from, view_.frames[from].parent);
    } else {
      pair.to = std::exchange(to, view_.frames[to].parent);
    }
  }
  const bool both = pair.from != nothing && pair.to != nothing && view_.frames[pair.from].parent == from &&
                    view_.frames[pair.to].parent == from;
  return both ? pair : FramePair{nothing, nothing};
}

bool Arrangement::is_inside(int vertex, int frame) const {
  int inner = view_.vertices[vertex].frame;
  while (inner > frame) inner = view_.frames[inner].parent;
  return inner == frame;
}

bool Arrangement::is_leaf(int vertex) const {
  return into_[vertex].empty() && view_.vertices[vertex].role <= GraphRole::constant;
}

void Arrangement::find_frames_side_by_side() {
  into_.resize(view_.vertices.size());
  std::vector<FramePair> pairs;
  for (const GraphEdge& edge : view_.edges) {
    into_[edge.to].push_back(edge.from);
    if (kind_of(edge) != EdgeKind::value || is_leaf(edge.from)) continue;
    if (const FramePair pair = siblings_of(edge); pair.from != nothing) pairs.push_back(pair);
  }
  std::ranges::sort(pairs);
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  for (const FramePair& pair : pairs) {
    if (!stands_beside(pair)) continue;
    side_by_side_.push_back(pair);
    // Gradients flow between the frames of the same names the other way.
    const auto gradient_frame = [&](int frame) {
      const auto same = [&](const GraphFrame& other) {
        return other.order == 1 && other.path == view_.frames[frame].path;
      };
      return static_cast<int>(std::ranges::find_if(view_.frames, same) - view_.frames.begin());
    };
    side_by_side_.push_back({gradient_frame(pair.to), gradient_frame(pair.from)});
  }
  std::ranges::sort(side_by_side_);
}

// The second frame has a line of operations on data of its own before it meets what comes from the first, and a page
// with both side by side is clearly shorter than one where everything of the second that follows stands below the
// first.
bool Arrangement::stands_beside(const FramePair& pair) const {
  struct Depths {
    bool after_first = false;  // whether it depends on the first frame
    int first = 0;             // the longest line of operations that leads to it, in the first frame
    int own = 0;               // in the second, on data of its own
    int joint = 0;             // in the second, on what comes from the first, too
  };
  std::vector<Depths> depths_of(view_.vertices.size());
  int first = 0, own = 0, joint = 0;
  for (int v = 0; std::cmp_less(v, view_.vertices.size()); ++v) {
    if (view_.vertices[v].order > 0 || is_leaf(v)) continue;
    Depths& here = depths_of[v];
    const bool in_first = is_inside(v, pair.from);
    const bool in_second = is_inside(v, pair.to);
    bool has_data = into_[v].empty();  // a module with inputs that are not drawn
    for (const int from : into_[v]) {
      const Depths& before = depths_of[from];
      here.after_first |= before.after_first;
      has_data |= view_.vertices[from].role == GraphRole::input || before.own > 0;
      here.first = std::max(here.first, before.first);
      if (in_first && is_inside(from, pair.to)) return false;
      if (in_second && is_inside(from, pair.from)) first = std::max(first, before.first);
    }
    for (const int from : into_[v]) {
      here.own = std::max(here.own, depths_of[from].own);
      here.joint = std::max(here.joint, depths_of[from].joint);
    }
    if (in_first) {
      here.after_first = true;
      ++here.first;
    } else if (in_second && here.after_first) {
      joint = std::max(joint, ++here.joint);
    } else if (in_second && has_data) {
      own = std::max(own, ++here.own);
    }
  }
  return own >= 3 && 8 * std::max(first, own + joint) <= 7 * (first + joint);
}

}  // namespace xgrad::detail
