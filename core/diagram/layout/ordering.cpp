// The order within the layers of a diagram.
//
// Moving one item at a time to its best position is known as sifting (Matuszewski, Schönfeld, Molitor 1999).
#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <random>
#include <tuple>
#include <utility>

#include "../view/frames.h"
#include "../view/topology.h"
#include "steps.h"

namespace xgrad::detail {
namespace {

constexpr std::int64_t price_of_crossing = 1000;
constexpr std::int64_t price_of_exchange = 500;         // a crossing of arrows that end at one box
constexpr std::int64_t price_of_series = 2500;          // two that follow each other by index, in another order
constexpr std::int64_t price_of_frame = 1'000'000;      // that is on the wrong side
constexpr std::int64_t most_comparisons = 400'000'000;  // of positions, for graphs with thousands of vertices
constexpr std::int64_t most_ports = 64;                 // distinct positions at a box

class Sifter {
 public:
  explicit Sifter(const Layers& layers)
      : layers_(layers),
        contents_(layers.view.frames.count() + 1),
        label_(layers.items.count()),
        residents_(layers.view.frames.count() + 1),
        rows_(layers.count),
        links_in_(layers.count),
        through_(layers.count),
        flat_in_(layers.count),
        wishes_of_(layers.items.count()),
        upper_at_(layers.items.count()),
        lower_at_(layers.items.count()) {
    for (int i = 0; i < layers.links.count(); ++i) links_in_[layers.links[i].gap].push_back(i);
    for (int p = 0; p < layers.items.count(); ++p) {
      const Item& item = layers.items[p];
      if (item.kind != ItemKind::lane) continue;
      for (int gap = item.first; gap < item.last; ++gap) through_[gap].push_back(p);
    }
    for (int e = 0; e < layers.view.edges.count(); ++e) {
      const GraphEdge& edge = layers.view.edges[e];
      if (layers.is_flat(edge)) flat_in_[layers.items[edge.from].first].push_back(e);
    }
    wish_for_frames();
    wish_for_series();
    begin();
    improve();
  }

  Ordering result() && { return {std::move(contents_), std::move(rows_)}; }

 private:
  enum class Side { above, below, both };
  // Two items of one frame, the first of which should stand left of the second.
  struct Wish {
    int left, right;
    std::int64_t price;
  };
  struct Gaps {
    int first, last;
  };
  using Ends = std::pair<std::int64_t, std::int64_t>;  // positions above a gap and below it

  const Item& at(int item) const { return layers_.items[item]; }
  bool is_vertex(int item) const { return at(item).kind == ItemKind::vertex; }
  bool is_title(int item) const { return at(item).kind == ItemKind::title; }

  // ---- What should stand left of what ----

  void wish(int left, int right, std::int64_t price) {
    if (at(left).first > at(right).last || at(right).first > at(left).last) return;  // in no layer together
    for (const int item : {left, right}) wishes_of_[item].push_back({left, right, price});
  }

  // A frame should stand right of those that it is computed from. Neighbours of which neither is computed from the
  // other should stand in the order of their indices, and a gradient right of its module.
  void wish_for_frames() {
    const GraphView& view = layers_.view;
    std::map<std::pair<int, int>, std::int64_t> prices;
    for (const GraphEdge& edge : view.edges) {
      if (is_leaf(view.vertices[edge.from]) || kind_of(view, edge) == EdgeKind::gradient) continue;
      // The frames that the edge leads from and to, or those around them that are in the same frame.
      int from = view.vertices[edge.from].frame, to = view.vertices[edge.to].frame, left = nothing, right = nothing;
      while (from != to) {  // parents have smaller indices
        if (from > to) {
          left = std::exchange(from, view.frames[from].parent);
        } else {
          right = std::exchange(to, view.frames[to].parent);
        }
      }
      if (left != nothing && right != nothing) prices[{left, right}] = price_of_frame;
    }
    std::map<int, int> neighbours;                          // by frame: the last of those in it
    std::map<std::pair<int, std::string_view>, int> first;  // by frame and path
    for (int c = 0; c < view.frames.count(); ++c) {
      const GraphFrame& frame = view.frames[c];
      const auto [neighbour, is_first] = neighbours.try_emplace(frame.parent, c);
      const int before = std::exchange(neighbour->second, c);
      if (!is_first && view.frames[before].order == frame.order && !prices.contains({c, before})) {
        prices.try_emplace({before, c}, price_of_series);
      }
      const auto [module, is_forward] = first.try_emplace({frame.parent, frame.path}, c);
      if (!is_forward) prices.try_emplace({module->second, c}, price_of_series);
    }
    for (const auto& [pair, price] : prices) {
      wish(layers_.frame_item(pair.first), layers_.frame_item(pair.second), price);
    }
  }

  // x1 or a^{1} should stand left of x2 or a^{2} in its layer.
  void wish_for_series() {
    const Indexed<GraphVertex>& vertices = layers_.view.vertices;
    const auto name_of = [&](int v) {
      const std::string_view name = vertices[v].name;
      return numbered(name.substr(0, name.size() - name.ends_with('}')));
    };
    std::map<std::tuple<int, int, std::string_view>, Indexed<int>> series;
    for (int v = 0; v < vertices.count(); ++v) {
      if (const Numbered name = name_of(v); !name.stem.empty())
        series[{at(v).frame, at(v).first, name.stem}].push_back(v);
    }
    for (auto& [where, members] : series) {
      std::ranges::stable_sort(members, {}, [&](int v) {
        const std::string_view digits = name_of(v).digits;
        return std::tuple(vertices[v].order, digits.size(), digits);
      });
      for (int i = 1; i < members.count(); ++i) wish(members[i - 1], members[i], price_of_series);
    }
  }

  // ---- Items in their frames and layers ----

  int first_layer_of(int frame) const { return frame == nothing ? 0 : at(layers_.frame_item(frame)).first; }

  // Titles come first, then everything by the indices of its vertices.
  void begin() {
    Indexed<double> middle(layers_.items.count());
    for (int p = 0; p < layers_.items.count(); ++p) {
      const Item& item = at(p);
      contents_[item.frame + 1].push_back(p);
      Indexed<Indexed<int>>& layers = residents_[item.frame + 1];
      const int begin = first_layer_of(item.frame);
      while (layers.count() <= item.last - begin) layers.emplace_back();
      for (int layer = item.first; layer <= item.last; ++layer) layers[layer - begin].push_back(p);
      if (is_title(p)) middle[p] = -1;
      if (is_vertex(p)) middle[p] = item.index;
      if (item.kind != ItemKind::lane) continue;
      const GraphEdge& edge = layers_.view.edges[item.index];
      middle[p] = 0.5 * (edge.from + edge.to) + 1;
    }
    Indexed<int> members(layers_.view.frames.count());
    for (int v = 0; v < layers_.view.vertices.count(); ++v) {
      for (int c = at(v).frame; c != nothing; c = layers_.view.frames[c].parent) {
        double& mean = middle[layers_.frame_item(c)];
        mean += (v - mean) / ++members[c];
      }
    }
    for (Indexed<int>& items : contents_) {
      std::ranges::stable_sort(items, {}, [&](int p) { return middle[p]; });
    }
    write_all();
  }

  // Neighbours in a frame differ by 2.
  void write_labels(const Indexed<int>& items) {
    for (int i = 0; i < items.count(); ++i) label_[items[i]] = 2 * i;
  }
  void write_all() {
    for (const Indexed<int>& items : contents_) write_labels(items);
    write_rows(0, layers_.count - 1);
  }

  // What is in a frame and in a layer, or one of several layers, from left to right.
  Indexed<int> residents(int frame, int first, int last) const {
    Indexed<int> all;
    for (int layer = first; layer <= last; ++layer) {
      const Indexed<int>& here = residents_[frame + 1][layer - first_layer_of(frame)];
      all.insert(all.end(), here.begin(), here.end());
    }
    std::ranges::sort(all, {}, [this](int p) { return label_[p]; });
    if (first < last) all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
  }

  void write_row(Indexed<int>& row, int layer, int frame) const {
    for (const int p : residents(frame, layer, layer)) {
      if (at(p).kind == ItemKind::frame) {
        write_row(row, layer, at(p).index);
      } else {
        row.push_back(p);
      }
    }
  }
  void write_rows(int first, int last) {
    for (int layer = first; layer <= last; ++layer) {
      rows_[layer].clear();
      write_row(rows_[layer], layer, nothing);
      work_ += std::ssize(rows_[layer]);
    }
  }

  // ---- Costs ----

  // The number of pairs with another order above than below; pairs with an end in common cross nowhere.
  std::int64_t crossings_of(Indexed<Ends>& ends) {
    std::ranges::sort(ends);
    std::int64_t crossings = 0;
    below_.clear();  // the ends below of those further left, in order
    for (const auto& [above, below] : ends) {
      const auto right = std::ranges::upper_bound(below_, below);
      crossings += below_.end() - right;
      below_.insert(right, below);
    }
    work_ += 8 * std::ssize(ends);
    return crossings;
  }

  // For pairs of links, and of links and lanes, whose ends have another order above the gap than below it.
  std::int64_t cost_of_gap(int gap) {
    const Indexed<int>&above = rows_[gap], &below = rows_[gap + 1];
    for (int i = 0; i < above.count(); ++i) upper_at_[above[i]] = most_ports * i;
    for (int i = 0; i < below.count(); ++i) lower_at_[below[i]] = most_ports * i;
    ends_.clear();
    for (const int lane : through_[gap]) ends_.emplace_back(upper_at_[lane], lower_at_[lane]);
    for (const int l : links_in_[gap]) {
      const Link& link = layers_.links[l];
      const std::int64_t port = std::clamp<std::int64_t>(layers_.arguments[link.edge], 0, most_ports - 1);
      const GraphEdge& edge = layers_.view.edges[link.edge];
      ends_.emplace_back(upper_at_[link.upper] + (link.upper == edge.to ? port : 0),
                         lower_at_[link.lower] + (link.lower == edge.to ? port : 0));
    }
    const std::int64_t crossings = crossings_of(ends_);
    // Operands in another order than their ports.
    const Indexed<int>& links = links_in_[gap];
    std::int64_t exchanged = 0;
    for (int i = 0; i < links.count(); ++i) {
      const Link& link = layers_.links[links[i]];
      if (layers_.arguments[link.edge] == nothing || layers_.view.edges[link.edge].to != link.lower) continue;
      for (int j = i + 1; j < links.count() && layers_.links[links[j]].lower == link.lower; ++j) {
        exchanged += upper_at_[link.upper] > upper_at_[layers_.links[links[j]].upper];
      }
    }
    return price_of_crossing * crossings - (price_of_crossing - price_of_exchange) * exchanged;
  }

  // For arrows that stay in the layer: those to the left, and vertices between their ends. At a lower price: vertices
  // right of a side path, and neighbours that do not stand in this order: the forward pass before the backward pass,
  // operations before leaves, then by their indices.
  std::int64_t disorder_in_row(int layer) const {
    const Indexed<int>& row = rows_[layer];
    std::int64_t price = 0;
    for (const int e : flat_in_[layer]) {
      const GraphEdge& edge = layers_.view.edges[e];
      auto from = std::ranges::find(row, edge.from), to = std::ranges::find(row, edge.to);
      if (to < from) price += price_of_crossing;
      if (to < from) std::swap(from, to);
      price += price_of_crossing * std::count_if(from + 1, to, [&](int p) { return is_vertex(p); });
    }
    const auto preference = [&](int v) {
      const GraphVertex& vertex = layers_.view.vertices[v];
      return std::tuple(vertex.order, is_leaf(vertex), v);
    };
    int left = nothing;
    for (const int p : row) {
      if (!is_vertex(p)) continue;
      price += left != nothing && at(left).frame == at(p).frame && preference(left) > preference(p);
      left = p;
    }
    for (int i = 0; i < row.count(); ++i) {
      const Item& lane = at(row[i]);
      if (lane.kind != ItemKind::lane || !lane.side_path) continue;
      price += std::count_if(row.begin() + i + 1, row.end(),
                             [&](int p) { return is_vertex(p) && at(p).frame >= lane.frame; });
    }
    return price;
  }

  // The cost of the layers, and of those gaps next to them that count.
  std::int64_t cost_of(int first, int last, const Gaps& gaps) {
    std::int64_t cost = 0;
    for (int gap = std::max(first - 1, gaps.first); gap <= std::min(last, gaps.last); ++gap) cost += cost_of_gap(gap);
    for (int layer = first; layer <= last; ++layer) cost += disorder_in_row(layer);
    return cost;
  }

  // Of an item that has this label.
  std::int64_t cost_of_wishes(int item, int label) const {
    std::int64_t cost = 0;
    for (const auto& [left, right, price] : wishes_of_[item]) {
      if ((left == item ? label : label_[left]) > (right == item ? label : label_[right])) cost += price;
    }
    return cost;
  }

  std::int64_t cost() {
    std::int64_t cost = cost_of(0, layers_.count - 1, {0, layers_.count - 2});
    for (int p = 0; p < label_.count(); ++p) cost += cost_of_wishes(p, label_[p]) / 2;
    return cost;
  }

  // ---- Moves ----

  // Exchanges two neighbours in a frame.
  void exchange(int layer, int left, int right) {
    const auto is_of = [&](int item) {
      return [this, item](int p) {
        while (p != item && at(p).frame != nothing) p = layers_.frame_item(at(p).frame);
        return p == item;
      };
    };
    Indexed<int>& row = rows_[layer];
    const auto first = std::ranges::find_if(row, is_of(left));
    const auto middle = std::find_if_not(first, row.end(), is_of(left));
    std::rotate(first, middle, std::find_if_not(middle, row.end(), is_of(right)));
  }

  // Passes one by one its neighbours, those in its frame that share layers with it: only there anything changes.
  bool move_to_best(int item, Side side) {
    const Item& moved = at(item);
    const Gaps gaps{side == Side::below ? moved.first : std::max(moved.first - 1, 0),
                    std::min(side == Side::above ? moved.last - 1 : moved.last, layers_.count - 2)};
    const Indexed<int> neighbours = residents(moved.frame, moved.first, moved.last);
    const std::ptrdiff_t now = std::ranges::find(neighbours, item) - neighbours.begin();
    const Indexed<Indexed<int>> rows_before(rows_.begin() + moved.first, rows_.begin() + moved.last + 1);
    const std::int64_t wishes_now = cost_of_wishes(item, label_[item]);
    std::int64_t least = 0;  // of the changes of the cost
    std::ptrdiff_t best = now;
    for (const int direction : {-1, 1}) {
      std::int64_t change = 0;
      for (std::ptrdiff_t next = now + direction; next >= 0 && next < std::ssize(neighbours); next += direction) {
        const int passed = neighbours[next];
        if (is_title(passed)) break;  // stays the first
        const int first = std::max(moved.first, at(passed).first), last = std::min(moved.last, at(passed).last);
        change -= cost_of(first, last, gaps);
        for (int layer = first; layer <= last; ++layer) {
          direction < 0 ? exchange(layer, passed, item) : exchange(layer, item, passed);
        }
        change += cost_of(first, last, gaps);
        const std::int64_t with_wishes = change + cost_of_wishes(item, label_[passed] + direction) - wishes_now;
        if (with_wishes >= least) continue;
        least = with_wishes;
        best = next;
      }
      std::ranges::copy(rows_before, rows_.begin() + moved.first);
    }
    if (best == now) return false;
    Indexed<int>& items = contents_[moved.frame + 1];
    items.erase(std::ranges::find(items, item));
    items.insert(std::ranges::find(items, neighbours[best]) + (best > now), item);
    write_labels(items);
    write_rows(moved.first, moved.last);
    return true;
  }

  bool sweep(Side side) {
    Indexed<int> items;
    for (int p = 0; p < layers_.items.count(); ++p) {
      if (!is_title(p)) items.push_back(p);
    }
    std::ranges::stable_sort(items, {}, [&](int p) { return side == Side::below ? -at(p).last : at(p).first; });
    bool moved = false;
    for (const int p : items) moved |= work_ < most_comparisons && move_to_best(p, side);
    return moved;
  }

  // From the present order, then from random exchanges of neighbours in the best one, with half of the frames mirrored.
  void improve() {
    constexpr int attempts = 48;
    constexpr std::array sides{Side::both, Side::below, Side::above};
    Indexed<Indexed<int>> best;
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    std::minstd_rand random;
    for (int attempt = 0; attempt < attempts && least > 0 && (attempt == 0 || work_ < most_comparisons); ++attempt) {
      if (attempt >= std::ssize(sides)) {
        contents_ = best;
        for (Indexed<int>& items : contents_) mix(items, random);
        write_all();
      }
      sweep(sides[static_cast<std::size_t>(attempt) % sides.size()]);
      while (sweep(Side::both)) {
      }
      if (const std::int64_t now = cost(); now < least) {
        least = now;
        best = contents_;
      }
    }
    contents_ = best;
    write_all();
  }
  void mix(Indexed<int>& items, std::minstd_rand& random) const {
    const auto first = items.begin() + (!items.empty() && is_title(items[0]));  // stays where it is
    if (random() % 2 == 0) std::reverse(first, items.end());
    for (auto item = first; item != items.end() && item + 1 != items.end(); ++item) {
      if (random() % 4 == 0) std::swap(*item, *(item + 1));
    }
  }

  const Layers& layers_;
  Indexed<Indexed<int>> contents_;            // by index of the frame + 1, from left to right
  Indexed<int> label_;                        // by item: its position in its frame
  Indexed<Indexed<Indexed<int>>> residents_;  // in each frame + 1, in each of its layers
  Indexed<Indexed<int>> rows_;
  Indexed<Indexed<int>> links_in_, through_, flat_in_;  // by gap: links, lanes; by layer: arrows
  Indexed<Indexed<Wish>> wishes_of_;                    // by item: those that it occurs in
  Indexed<std::int64_t> upper_at_, lower_at_, below_;   // scratch, as is the next
  Indexed<Ends> ends_;
  std::int64_t work_ = 0;
};

}  // namespace

Ordering ordered(const Layers& layers) { return Sifter(layers).result(); }

}  // namespace xgrad::detail
