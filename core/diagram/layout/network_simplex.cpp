// The network simplex method.
#include <algorithm>
#include <utility>

#include "../../base/assert.h"
#include "steps.h"

namespace xgrad::detail {
namespace {

constexpr int none_yet = -1;
constexpr std::size_t most_work = 20'000'000;  // distances and numbers visited, for graphs with thousands of numbers

// The numbers always satisfy all distances; those of a spanning tree are tight. A distance of the tree whose removal
// would let the sum fall is exchanged for the one that then stops the fall.
class NetworkSimplex {
 public:
  NetworkSimplex(int count, int root, const Indexed<Distance>& distances)
      : root_(root),
        arcs_(distances),
        x_(count),
        arcs_at_(x_.count()),
        tree_at_(x_.count()),
        parent_(x_.count()),
        entered_(x_.count()),
        left_(x_.count()),
        own_pull_(x_.count()) {
    for (int a = 0; a < arcs_.count(); ++a) {
      arcs_at_[arcs_[a].from].push_back(a);
      arcs_at_[arcs_[a].to].push_back(a);
      own_pull_[arcs_[a].to] += arcs_[a].weight;
      own_pull_[arcs_[a].from] -= arcs_[a].weight;
    }
  }

  Indexed<std::int64_t> solve() && {
    begin();
    bool improved = true;
    for (std::size_t work = 0; improved && work < most_work; work += x_.size() + arcs_.size()) {
      order_tree();
      improved = improve();
    }
    const std::int64_t least = *std::ranges::min_element(x_);
    for (std::int64_t& x : x_) x -= least;
    return x_;
  }

 private:
  std::int64_t slack(const Distance& arc) const { return x_[arc.to] - x_[arc.from] - arc.length; }

  // The least numbers that satisfy all distances from the root (Kahn 1962), and the tree of those that hold them there.
  // A number that no distance leads to is moved up until one that leads away from it is tight.
  void begin() {
    Indexed<int> leading(x_.count()), missing(x_.count()), held_by(x_.count(), none_yet), ready{root_};
    for (const Distance& arc : arcs_) ++leading[arc.to];
    const auto is_free = [&](int v) { return v != root_ && leading[v] == 0; };
    for (const Distance& arc : arcs_) missing[arc.to] += !is_free(arc.from);
    for (int i = 0; i < ready.count(); ++i) {
      for (const int a : arcs_at_[ready[i]]) {
        const Distance& arc = arcs_[a];
        if (arc.from != ready[i]) continue;
        if (held_by[arc.to] == none_yet || slack(arc) < 0) {
          x_[arc.to] = x_[arc.from] + arc.length;
          held_by[arc.to] = a;
        }
        if (--missing[arc.to] == 0) ready.push_back(arc.to);
      }
    }
    for (int v = 0; v < x_.count(); ++v) {
      if (v == root_) continue;
      if (is_free(v)) {
        held_by[v] = *std::ranges::min_element(arcs_at_[v], {}, [&](int a) { return slack(arcs_[a]); });
        x_[v] += slack(arcs_[held_by[v]]);
      }
      XGRAD_ASSERT(held_by[v] != none_yet);  // no cycle, and the root leads there
      insert(held_by[v]);
    }
  }

  void insert(int a) {
    tree_at_[arcs_[a].from].push_back(a);
    tree_at_[arcs_[a].to].push_back(a);
  }
  void remove(int a) {
    std::erase(tree_at_[arcs_[a].from], a);
    std::erase(tree_at_[arcs_[a].to], a);
  }

  // The tree from its root: the positions where each number is entered and left, and how strongly its subtree is
  // pulled to smaller numbers, the sum over its numbers.
  void order_tree() {
    pull_ = own_pull_;
    parent_[root_] = none_yet;
    Indexed<int> waiting{root_};
    order_.clear();
    while (!waiting.empty()) {
      const int v = waiting.back();
      waiting.pop_back();
      entered_[v] = order_.count();
      order_.push_back(v);
      for (const int a : tree_at_[v]) {
        if (a == parent_[v]) continue;
        const int child = arcs_[a].from == v ? arcs_[a].to : arcs_[a].from;
        parent_[child] = a;
        waiting.push_back(child);
      }
    }
    for (const int v : order_) left_[v] = entered_[v];
    for (int i = order_.count(); i-- > 1;) {
      const int v = order_[i], next = above(v);
      pull_[next] += pull_[v];
      left_[next] = std::max(left_[next], left_[v]);
    }
  }

  // The other end of the distance to a number of the tree.
  int above(int v) const { return arcs_[parent_[v]].from == v ? arcs_[parent_[v]].to : arcs_[parent_[v]].from; }

  // How much the sum falls when the subtree of a number moves by 1 away from the other end of the distance to it.
  std::int64_t gain_of(int v) const { return arcs_[parent_[v]].to == v ? -pull_[v] : pull_[v]; }

  // Improves one subtree after the other, inner ones first, except those that an exchange since order_tree() changed.
  bool improve() {
    Indexed<bool> changed(x_.count());
    const auto change_path = [&](int v) {
      for (; !changed[v]; v = above(v)) {
        changed[v] = true;
        if (parent_[v] == none_yet) break;
      }
    };
    bool improved = false;
    for (int i = order_.count(); i-- > 1;) {
      const int v = order_[i];
      if (changed[v] || gain_of(v) <= 0) continue;
      const int nearest = nearest_to(v);
      if (nearest == none_yet) continue;
      change_path(above(v));
      change_path(hangs_on(arcs_[nearest].from, v) ? arcs_[nearest].to : arcs_[nearest].from);
      for (int at = entered_[v]; at <= left_[v]; ++at) changed[order_[at]] = true;
      exchange(v, nearest);
      improved = true;
    }
    return improved;
  }

  bool hangs_on(int v, int top) const { return entered_[v] >= entered_[top] && entered_[v] <= left_[top]; }

  // The distance that stops the subtree of a number when it moves.
  int nearest_to(int top) const {
    const bool grows = arcs_[parent_[top]].to == top;
    int nearest = none_yet;
    for (int i = entered_[top]; i <= left_[top]; ++i) {
      for (const int a : arcs_at_[order_[i]]) {
        const Distance& arc = arcs_[a];
        const bool from = hangs_on(arc.from, top), to = hangs_on(arc.to, top);
        if (from == to || from != grows) continue;
        if (nearest == none_yet || std::pair(slack(arc), a) < std::pair(slack(arcs_[nearest]), nearest)) nearest = a;
      }
    }
    return nearest;
  }

  // Moves the subtree of a number until a distance stops it, which then connects it.
  void exchange(int top, int nearest) {
    const std::int64_t shift = arcs_[parent_[top]].to == top ? slack(arcs_[nearest]) : -slack(arcs_[nearest]);
    for (int i = entered_[top]; i <= left_[top]; ++i) x_[order_[i]] += shift;
    remove(parent_[top]);
    insert(nearest);
  }

  const int root_;
  const Indexed<Distance>& arcs_;
  Indexed<std::int64_t> x_;
  Indexed<Indexed<int>> arcs_at_;
  Indexed<Indexed<int>> tree_at_;
  Indexed<int> parent_;          // the distance to it
  Indexed<int> entered_, left_;  // positions in order_
  Indexed<std::int64_t> own_pull_, pull_;
  Indexed<int> order_;
};

}  // namespace

Indexed<std::int64_t> as_near_as_possible(int count, int root, const Indexed<Distance>& distances) {
  return NetworkSimplex(count, root, distances).solve();
}

}  // namespace xgrad::detail
