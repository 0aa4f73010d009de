// The network simplex method.
#include "network_simplex.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

#include "../../base/assert.h"

namespace xgrad::detail {
namespace {

constexpr int none_yet = -1;
constexpr std::int64_t most_work = 100'000'000;  // distances and numbers visited, for graphs with thousands of numbers
constexpr int most_passes = 50;                  // after that

// The numbers always satisfy all distances; those of a spanning tree are tight. A distance of the tree whose removal
// would let the sum fall is exchanged for the one that then stops the fall.
class NetworkSimplex {
 public:
  NetworkSimplex(int count, const std::vector<Distance>& distances)
      : arcs_(distances),
        x_(static_cast<std::size_t>(count)),
        arcs_at_(x_.size()),
        in_tree_(distances.size()),
        tree_at_(x_.size()),
        parent_(x_.size()),
        entered_(x_.size()),
        left_(x_.size()),
        own_pull_(x_.size()) {
    for (int a = 0; std::cmp_less(a, arcs_.size()); ++a) {
      arcs_at_[arcs_[a].from].push_back(a);
      arcs_at_[arcs_[a].to].push_back(a);
      own_pull_[arcs_[a].to] += arcs_[a].weight;
      own_pull_[arcs_[a].from] -= arcs_[a].weight;
    }
  }

  std::vector<std::int64_t> solve() && {
    if (x_.empty()) return x_;
    satisfy_distances();
    grow_tree();
    const auto work_per_exchange = static_cast<std::int64_t>(x_.size() + arcs_.size());
    bool improved = true;
    for (std::int64_t work = 0; improved && work < most_work; work += work_per_exchange) {
      order_tree();
      improved = improve();
    }
    for (int pass = 0; improved && pass < most_passes; ++pass) {
      order_tree();
      improved = improve_apart();
    }
    const std::int64_t least = *std::ranges::min_element(x_);
    for (std::int64_t& x : x_) x -= least;
    return x_;
  }

 private:
  std::int64_t slack(const Distance& arc) const { return x_[arc.to] - x_[arc.from] - arc.length; }

  // The least numbers that satisfy all distances (Kahn 1962).
  void satisfy_distances() {
    std::vector<int> missing(x_.size()), ready;
    for (const Distance& arc : arcs_) ++missing[arc.to];
    for (int v = 0; std::cmp_less(v, x_.size()); ++v) {
      if (missing[v] == 0) ready.push_back(v);
    }
    for (std::size_t i = 0; i < ready.size(); ++i) {
      for (const int a : arcs_at_[ready[i]]) {
        const Distance& arc = arcs_[a];
        if (arc.from != ready[i]) continue;
        x_[arc.to] = std::max(x_[arc.to], x_[arc.from] + arc.length);
        if (--missing[arc.to] == 0) ready.push_back(arc.to);
      }
    }
    XGRAD_ASSERT(ready.size() == x_.size());  // no cycle
  }

  // From the first number along tight distances; where there are none, the whole tree moves until there is one. Until
  // the end numbers of the tree are relative to how far it has moved.
  void grow_tree() {
    std::vector<bool> reached(x_.size());
    std::vector<int> members;
    std::int64_t moved = 0;
    using Near = std::pair<std::int64_t, int>;  // a slack, were the tree not moved, and the distance
    std::priority_queue<Near, std::vector<Near>, std::greater<>> leaving, entering;
    const auto reach = [&](int v) {
      members.push_back(v);
      reached[v] = true;
      x_[v] -= moved;
    };
    const auto slack_of = [&](const Distance& arc) {
      return slack(arc) + (reached[arc.to] ? moved : 0) - (reached[arc.from] ? moved : 0);
    };
    const auto add = [&](int a) {
      insert(a);
      reach(reached[arcs_[a].from] ? arcs_[a].to : arcs_[a].from);
    };
    // The least slack of a distance that still leads out of the tree.
    const auto nearest_of = [&](auto& distances) {
      while (!distances.empty() && reached[arcs_[distances.top().second].from] == reached[arcs_[distances.top().second].to]) {
        distances.pop();
      }
      return distances.empty() ? Near{0, none_yet} : distances.top();
    };
    reach(0);
    for (std::size_t next = 0;;) {
      for (; next < members.size(); ++next) {
        for (const int a : arcs_at_[members[next]]) {
          const Distance& arc = arcs_[a];
          if (reached[arc.from] == reached[arc.to]) continue;
          if (slack_of(arc) == 0) {
            add(a);
          } else {
            (reached[arc.from] ? leaving : entering).emplace(slack(arc), a);
          }
        }
      }
      Near away = nearest_of(leaving), back = nearest_of(entering);
      away.first -= moved;
      back.first += moved;
      if (away.second == none_yet && back.second == none_yet) break;
      const bool leaves = back.second == none_yet || (away.second != none_yet && away < back);
      moved += leaves ? away.first : -back.first;
      add(leaves ? away.second : back.second);
    }
    for (std::int64_t& x : x_) x += moved;
  }

  void insert(int a) {
    in_tree_[a] = true;
    tree_at_[arcs_[a].from].push_back(a);
    tree_at_[arcs_[a].to].push_back(a);
  }
  void remove(int a) {
    in_tree_[a] = false;
    std::erase(tree_at_[arcs_[a].from], a);
    std::erase(tree_at_[arcs_[a].to], a);
  }

  // The tree from its root at 0: the positions where each number is entered and left, and how strongly its subtree is
  // pulled to smaller numbers, the sum over its numbers.
  void order_tree() {
    pull_ = own_pull_;
    parent_[0] = none_yet;
    std::vector<int> waiting{0};
    order_.clear();
    while (!waiting.empty()) {
      const int v = waiting.back();
      waiting.pop_back();
      entered_[v] = static_cast<int>(order_.size());
      order_.push_back(v);
      for (const int a : tree_at_[v]) {
        if (a == parent_[v]) continue;
        const int child = arcs_[a].from == v ? arcs_[a].to : arcs_[a].from;
        parent_[child] = a;
        waiting.push_back(child);
      }
    }
    for (const int v : order_) left_[v] = entered_[v];
    for (std::size_t i = order_.size(); i-- > 1;) {
      const int v = order_[i], next = above(v);
      pull_[next] += pull_[v];
      left_[next] = std::max(left_[next], left_[v]);
    }
  }

  // The other end of the distance to a number of the tree.
  int above(int v) const { return arcs_[parent_[v]].from == v ? arcs_[parent_[v]].to : arcs_[parent_[v]].from; }

  // How much the sum falls when the subtree of a number moves by 1 away from the other end of the distance to it.
  std::int64_t gain_of(int v) const { return arcs_[parent_[v]].to == v ? -pull_[v] : pull_[v]; }

  bool improve() {
    int worst = none_yet;
    std::int64_t gain = 0;
    for (std::size_t i = 1; i < order_.size(); ++i) {
      const std::int64_t here = gain_of(order_[i]);
      if (here > gain) {
        gain = here;
        worst = order_[i];
      }
    }
    if (worst == none_yet) return false;
    const int nearest = nearest_to(worst);
    if (nearest == none_yet) return false;
    exchange(worst, nearest);
    return true;
  }

  // Improves one subtree after the other, inner ones first, except those that an exchange since order_tree() changed.
  bool improve_apart() {
    std::vector<bool> changed(x_.size());
    const auto change_path = [&](int v) {
      for (; !changed[v]; v = above(v)) {
        changed[v] = true;
        if (parent_[v] == none_yet) break;
      }
    };
    bool improved = false;
    for (std::size_t i = order_.size(); i-- > 1;) {
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

  const std::vector<Distance>& arcs_;
  std::vector<std::int64_t> x_;
  std::vector<std::vector<int>> arcs_at_;
  std::vector<bool> in_tree_;
  std::vector<std::vector<int>> tree_at_;
  std::vector<int> parent_;          // the distance to it
  std::vector<int> entered_, left_;  // positions in order_
  std::vector<std::int64_t> own_pull_, pull_;
  std::vector<int> order_;
};

}  // namespace

std::vector<std::int64_t> as_near_as_possible(int count, const std::vector<Distance>& distances) {
  return NetworkSimplex(count, distances).solve();
}

}  // namespace xgrad::detail
