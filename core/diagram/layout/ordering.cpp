// The order within the layers of a diagram.
//
// Moving one item at a time to its best position is known as sifting (Matuszewski, Schönfeld, Molitor 1999).
#include "ordering.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <span>
#include <tuple>
#include <utility>

#include "../view/frames.h"
#include "../view/order.h"

namespace xgrad::detail {
namespace {

constexpr std::int64_t price_of_crossing = 1000;
constexpr std::int64_t price_of_exchange = 500;         // a crossing of arrows that end at one box
constexpr std::int64_t price_of_series = 2500;          // two that follow each other by number, in another order
constexpr std::int64_t price_of_frame = 1'000'000;      // that is on the wrong side
constexpr std::int64_t most_comparisons = 400'000'000;  // of positions, for graphs with thousands of vertices
constexpr std::int64_t ports = 64;                      // distinct positions at a box

// Lists of items, one for each frame. An item is moved, and two of a list are compared, without a look at the others.
class Lists {
 public:
  Lists(std::size_t lists, std::size_t items) : first_(lists, nothing), next_(items), before_(items), label_(items) {}

  void assign(int list, const std::vector<int>& items) {
    first_[list] = nothing;
    for (std::size_t i = items.size(); i-- > 0;) {
      label_[items[i]] = static_cast<std::int64_t>(i + 1) * gap;
      link(list, items[i], nothing);
    }
  }
  std::vector<int> items(int list) const {
    std::vector<int> all;
    for (int item = first_[list]; item != nothing; item = next_[item]) all.push_back(item);
    return all;
  }
  int first(int list) const { return first_[list]; }
  /// Increases from item to item; an even number.
  std::int64_t label(int item) const { return label_[item]; }

  /// Puts an item right after another one of the list, or first.
  void move(int list, int item, int after) {
    (before_[item] == nothing ? first_[list] : next_[before_[item]]) = next_[item];
    if (next_[item] != nothing) before_[next_[item]] = before_[item];
    link(list, item, after);
    const std::int64_t low = after == nothing ? 0 : label_[after],
                       high = next_[item] == nothing ? low + 2 * gap : label_[next_[item]];
    label_[item] = (low + high) / 4 * 2;
    if (label_[item] == low || label_[item] == high) assign(list, items(list));
  }

 private:
  static constexpr std::int64_t gap = std::int64_t{1} << 32;

  void link(int list, int item, int after) {
    int& follows = after == nothing ? first_[list] : next_[after];
    before_[item] = after;
    next_[item] = std::exchange(follows, item);
    if (next_[item] != nothing) before_[next_[item]] = item;
  }

  std::vector<int> first_, next_, before_;
  std::vector<std::int64_t> label_;
};

class Sifter {
 public:
  explicit Sifter(const Layers& layers)
      : layers_(layers),
        contents_(layers.view.frames.size() + 1, layers.items.size()),
        residents_(layers.view.frames.size() + 1),
        rows_(layers.count),
        links_in_(layers.count),
        through_(layers.count),
        flat_in_(layers.count),
        upper_at_(layers.items.size()),
        lower_at_(layers.items.size()) {
    for (int i = 0; std::cmp_less(i, layers.links.size()); ++i) links_in_[layers.links[i].gap].push_back(i);
    for (int p = 0; std::cmp_less(p, layers.items.size()); ++p) {
      const Item& item = layers.items[p];
      if (item.kind != ItemKind::lane) continue;
      for (int gap = item.first; gap < item.last; ++gap) through_[gap].push_back(p);
    }
    for (int e = 0; std::cmp_less(e, layers.view.edges.size()); ++e) {
      const GraphEdge& edge = layers.view.edges[e];
      if (layers.is_flat(edge)) flat_in_[layers.items[edge.from].first].push_back(e);
      if (is_leaf(layers.view.vertices[edge.from]) || kind_of(layers.view, edge) == EdgeKind::gradient) continue;
      const FramePair pair = siblings_of(edge);
      if (pair.from != nothing) left_to_right_.push_back(pair);
    }
    std::ranges::sort(left_to_right_);
    left_to_right_.erase(std::unique(left_to_right_.begin(), left_to_right_.end()), left_to_right_.end());
    std::vector<std::vector<int>> frames_in(residents_.size());
    for (int c = 0; std::cmp_less(c, layers.view.frames.size()); ++c) {
      frames_in[layers.view.frames[c].parent + 1].push_back(c);
    }
    for (const std::vector<int>& inner : frames_in) find_series(inner);
    find_preferences();
    begin();
    write_rows(0, layers.count - 1);
    improve();
  }

  Ordering result() && {
    Ordering ordering{{}, std::move(rows_)};
    for (int list = 0; std::cmp_less(list, residents_.size()); ++list) ordering.frames.push_back(contents_.items(list));
    return ordering;
  }

 private:
  enum class Side { above, below, both };
  // Two frames that are in the same frame, or in none.
  struct FramePair {
    int from, to;
    auto operator<=>(const FramePair&) const = default;
  };
  struct Gaps {
    int first, last;
  };
  using Ends = std::pair<std::int64_t, std::int64_t>;  // positions above a gap and below it

  // The frames that the edge leads from and to, or those around them that are in the same frame; {-1, -1} if one of its
  // ends is in no frame that does not contain the other.
  FramePair siblings_of(const GraphEdge& edge) const {
    const GraphView& view = layers_.view;
    FramePair pair{nothing, nothing};
    int from = view.vertices[edge.from].frame, to = view.vertices[edge.to].frame;
    while (from != to) {  // parents have smaller numbers
      if (from > to) {
        pair.from = std::exchange(from, view.frames[from].parent);
      } else {
        pair.to = std::exchange(to, view.frames[to].parent);
      }
    }
    return pair.from != nothing && pair.to != nothing ? pair : FramePair{nothing, nothing};
  }

  // Neighbours among the frames in a frame, neither of which is computed from the other; a module and its gradient.
  void find_series(const std::vector<int>& inner) {
    const auto leads = [this](const FramePair& pair) { return std::ranges::binary_search(left_to_right_, pair); };
    for (std::size_t i = 1; i < inner.size(); ++i) {
      const FramePair pair{inner[i - 1], inner[i]};
      const bool one_pass = layers_.view.frames[pair.from].order == layers_.view.frames[pair.to].order;
      if (one_pass && !leads(pair) && !leads({pair.to, pair.from})) series_of_frames_.push_back(pair);
    }
    std::map<std::string_view, int> modules;
    for (const int c : inner) {
      const auto [module, is_first] = modules.try_emplace(layers_.view.frames[c].path, c);
      if (!is_first) series_of_frames_.push_back({module->second, c});
    }
  }

  // The forward pass before the backward pass, operations before leaves, x1 before x2, others by their numbers.
  void find_preferences() {
    const std::vector<GraphVertex>& vertices = layers_.view.vertices;
    std::map<std::string_view, std::vector<int>> series;
    for (int v = 0; std::cmp_less(v, vertices.size()); ++v) series[name_of(v).stem].push_back(v);
    series.erase(std::string_view());
    series_.assign(vertices.size(), nothing);
    for (const auto& [stem, members] : series) {
      for (const int v : members) series_[v] = members.front();
    }
    std::vector<int> order(vertices.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::sort(order, {}, [&](int v) {
      const std::string_view number = series_[v] == nothing ? std::string_view() : name_of(v).number;
      return std::tuple(vertices[v].order, is_leaf(vertices[v]),
                        series_[v] == nothing ? v : series_[v], number.size(), number, v);
    });
    preference_.resize(vertices.size());
    for (std::size_t i = 0; i < order.size(); ++i) preference_[order[i]] = static_cast<int>(i);
  }

  // The name and number of x1 or a^{1}.
  Numbered name_of(int vertex) const {
    const std::string_view name = layers_.view.vertices[vertex].name;
    return numbered(name.substr(0, name.size() - name.ends_with('}')));
  }

  void begin() {
    const std::vector<Item>& items = layers_.items;
    std::vector<double> at(items.size()), sum(items.size());
    std::vector<int> members(items.size());
    const auto add = [&](int item, double where) { at[item] = (sum[item] += where) / ++members[item]; };
    for (std::size_t v = 0; v < layers_.view.vertices.size(); ++v) add(static_cast<int>(v), static_cast<double>(v));
    for (std::size_t e = 0; e < layers_.view.edges.size(); ++e) {
      const GraphEdge& edge = layers_.view.edges[e];
      for (const int link : layers_.ways[e]) {
        const int lower = layers_.links[link].lower;
        if (items[lower].kind == ItemKind::lane) add(lower, 0.5 * (edge.from + edge.to) + 1);
      }
    }
    for (std::size_t p = items.size(); p-- > 0;) {  // frames come after vertices, inner ones after those around them
      if (items[p].kind == ItemKind::lane || items[p].kind == ItemKind::title || items[p].frame == nothing) continue;
      const int frame = layers_.frame_item(items[p].frame);
      sum[frame] += sum[p];
      members[frame] += members[p];
      at[frame] = sum[frame] / std::max(members[frame], 1);
    }
    std::vector<std::vector<int>> contents(residents_.size());
    for (int p = 0; std::cmp_less(p, items.size()); ++p) {
      contents[items[p].frame + 1].push_back(p);
      std::vector<std::vector<int>>& layers = residents_[items[p].frame + 1];
      if (layers.empty()) layers.resize(layer_count_of(items[p].frame));
      for (int layer = items[p].first; layer <= items[p].last; ++layer) {
        layers[layer - first_layer_of(items[p].frame)].push_back(p);
      }
    }
    for (int list = 0; std::cmp_less(list, contents.size()); ++list) {
      std::ranges::stable_sort(contents[list], [&](int a, int b) {
        const bool title_a = items[a].kind == ItemKind::title, title_b = items[b].kind == ItemKind::title;
        return title_a != title_b ? title_a : at[a] < at[b];
      });
      contents_.assign(list, contents[list]);
    }
  }

  int first_layer_of(int frame) const { return frame == nothing ? 0 : layers_.items[layers_.frame_item(frame)].first; }
  int layer_count_of(int frame) const {
    return frame == nothing ? layers_.count : layers_.items[layers_.frame_item(frame)].last - first_layer_of(frame) + 1;
  }

  // What is in a frame and in a layer, or one of several layers, from left to right.
  std::vector<int> residents(int frame, int first, int last) const {
    std::vector<int> all;
    const int begin = first_layer_of(frame);
    for (int layer = first; layer <= last; ++layer) {
      const std::vector<int>& here = residents_[frame + 1][layer - begin];
      all.insert(all.end(), here.begin(), here.end());
    }
    std::ranges::sort(all, {}, [this](int p) { return contents_.label(p); });
    if (first < last) all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
  }

  void write_row(std::vector<int>& row, int layer, int frame) const {
    for (const int p : residents(frame, layer, layer)) {
      if (layers_.items[p].kind == ItemKind::frame) {
        write_row(row, layer, layers_.items[p].number);
      } else {
        row.push_back(p);
      }
    }
  }

  void write_rows(int first, int last) {
    for (int layer = first; layer <= last; ++layer) {
      rows_[layer].clear();
      write_row(rows_[layer], layer, nothing);
      work_ += static_cast<std::int64_t>(rows_[layer].size());
    }
  }

  // The number of pairs with another order above than below; pairs with an end in common cross nowhere.
  std::int64_t crossings_of(std::vector<Ends>& ends, std::size_t below) {
    constexpr std::size_t few = 48;  // compared one by one, which takes less than sorting them
    std::int64_t crossings = 0;
    if (ends.size() <= few) {
      for (std::size_t i = 1; i < ends.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
          crossings += (ends[i].first - ends[j].first) * (ends[i].second - ends[j].second) < 0;
        }
      }
      work_ += static_cast<std::int64_t>(ends.size() * ends.size() / 2);
      return crossings;
    }
    std::ranges::sort(ends);
    // Counts with a Fenwick tree, over positions below the gap, of those that were met so far.
    tree_.assign(std::bit_ceil(below * ports + 1), 0);
    std::int64_t met = 0;
    for (std::size_t i = 0; i < ends.size();) {
      std::size_t end = i;
      for (; end < ends.size() && ends[end].first == ends[i].first; ++end) {
        std::int64_t not_right = 0;
        for (auto at = ends[end].second + 1; at > 0; at &= at - 1) not_right += tree_[at];
        crossings += met - not_right;
      }
      for (; i < end; ++i, ++met) {
        for (auto at = ends[i].second + 1; std::cmp_less(at, tree_.size()); at += at & -at) ++tree_[at];
      }
    }
    work_ += static_cast<std::int64_t>(tree_.size() + 16 * ends.size());
    return crossings;
  }

  // For pairs of links, and of links and lanes, whose ends have another order above the gap than below it.
  std::int64_t cost_of_gap(int gap) {
    const std::vector<int>&above = rows_[gap], &below = rows_[gap + 1];
    for (std::size_t i = 0; i < above.size(); ++i) upper_at_[above[i]] = ports * static_cast<std::int64_t>(i);
    for (std::size_t i = 0; i < below.size(); ++i) lower_at_[below[i]] = ports * static_cast<std::int64_t>(i);
    ends_.clear();
    for (const int lane : through_[gap]) ends_.emplace_back(upper_at_[lane], lower_at_[lane]);
    for (const int l : links_in_[gap]) {
      const Link& link = layers_.links[l];
      const std::int64_t port = std::clamp<std::int64_t>(layers_.arguments[link.edge], 0, ports - 1);
      const GraphEdge& edge = layers_.view.edges[link.edge];
      ends_.emplace_back(upper_at_[link.upper] + (link.upper == edge.to ? port : 0),
                         lower_at_[link.lower] + (link.lower == edge.to ? port : 0));
    }
    const std::int64_t crossings = crossings_of(ends_, below.size());
    // Operands in another order than their ports.
    const std::vector<int>& links = links_in_[gap];
    std::int64_t exchanged = 0;
    for (std::size_t i = 0; i < links.size(); ++i) {
      const Link& link = layers_.links[links[i]];
      if (layers_.arguments[link.edge] == nothing || layers_.view.edges[link.edge].to != link.lower) continue;
      for (std::size_t j = i + 1; j < links.size() && layers_.links[links[j]].lower == link.lower; ++j) {
        exchanged += upper_at_[link.upper] > upper_at_[layers_.links[links[j]].upper];
      }
    }
    return price_of_crossing * crossings - (price_of_crossing - price_of_exchange) * exchanged;
  }

  // For arrows that stay in the layer: those to the left, and vertices between their ends; vertices of a series in
  // another order. At a lower price: vertices right of a side path, and neighbours in another order than they should.
  std::int64_t disorder_in_row(int layer) const {
    const std::vector<int>& row = rows_[layer];
    std::int64_t price = 0;
    for (const int e : flat_in_[layer]) {
      const GraphEdge& edge = layers_.view.edges[e];
      auto from = std::ranges::find(row, edge.from), to = std::ranges::find(row, edge.to);
      if (to < from) price += price_of_crossing;
      if (to < from) std::swap(from, to);
      price += price_of_crossing *
               std::count_if(from + 1, to, [&](int p) { return layers_.items[p].kind == ItemKind::vertex; });
    }
    int left = nothing;
    for (auto at = row.begin(); at != row.end(); ++at) {
      const int p = *at;
      if (layers_.items[p].kind != ItemKind::vertex) continue;
      const auto precedes = [&](int other) {
        return other != nothing && preference_[other] > preference_[p] &&
               layers_.items[other].frame == layers_.items[p].frame;
      };
      price += precedes(left);
      left = p;
      if (series_[p] == nothing) continue;
      const auto in_series = [&](int other) {
        return layers_.items[other].kind == ItemKind::vertex && series_[other] == series_[p] && precedes(other);
      };
      price += price_of_series * std::count_if(row.begin(), at, in_series);
    }
    for (std::size_t i = 0; i < row.size(); ++i) {
      const Item& lane = layers_.items[row[i]];
      if (lane.kind != ItemKind::lane || !lane.side_path) continue;
      for (std::size_t j = i + 1; j < row.size(); ++j) {
        const Item& other = layers_.items[row[j]];
        price += other.kind == ItemKind::vertex && other.frame >= lane.frame;
      }
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

  std::int64_t cost() {
    const auto label = [this](int item) { return contents_.label(item); };
    return cost_of(0, layers_.count - 1, {0, layers_.count - 2}) +
           cost_of_frames([](const FramePair&) { return true; }, label);
  }

  // The cost of the order of those pairs that count, where an item stands at its label.
  template <class Counts, class Label>
  std::int64_t cost_of_frames(Counts&& counts, Label&& label) const {
    const auto misplaced = [&](const FramePair& pair) { return counts(pair) && is_misplaced(pair, label); };
    return price_of_frame * std::ranges::count_if(left_to_right_, misplaced) +
           price_of_series * std::ranges::count_if(series_of_frames_, misplaced);
  }

  // Whether the first stands right of the second in a layer that both are in.
  template <class Label>
  bool is_misplaced(const FramePair& pair, Label&& label) const {
    const int from = layers_.frame_item(pair.from), to = layers_.frame_item(pair.to);
    const Item &one = layers_.items[from], &other = layers_.items[to];
    if (one.first > other.last || other.first > one.last) return false;
    return label(from) > label(to);
  }

  // Exchanges two neighbours in a frame.
  void exchange(int layer, int left, int right) {
    const auto is_of = [&](int item) {
      return [this, item](int p) {
        while (p != item && layers_.items[p].frame != nothing) p = layers_.frame_item(layers_.items[p].frame);
        return p == item;
      };
    };
    std::vector<int>& row = rows_[layer];
    const auto first = std::ranges::find_if(row, is_of(left));
    const auto middle = std::find_if_not(first, row.end(), is_of(left));
    std::rotate(first, middle, std::find_if_not(middle, row.end(), is_of(right)));
  }

  // Passes one by one its neighbours, those in its frame that share layers with it: only there anything changes.
  bool move_to_best(int item, Side side) {
    const Item& moved = layers_.items[item];
    const Gaps gaps{side == Side::below ? moved.first : std::max(moved.first - 1, 0),
                    std::min(side == Side::above ? moved.last - 1 : moved.last, layers_.count - 2)};
    const auto is_moved = [&](const FramePair& pair) { return pair.from == moved.number || pair.to == moved.number; };
    const auto price_at = [&](std::int64_t where) {
      if (moved.kind != ItemKind::frame) return std::int64_t{0};
      return cost_of_frames(is_moved, [&](int p) { return p == item ? where : contents_.label(p); });
    };
    const auto is_title = [this](int p) { return layers_.items[p].kind == ItemKind::title; };
    const int list = moved.frame + 1;
    std::vector<int> neighbours = residents(moved.frame, moved.first, moved.last);
    const std::ptrdiff_t now = std::ranges::find(neighbours, item) - neighbours.begin(), count = std::ssize(neighbours);
    const std::vector<std::vector<int>> rows_before(rows_.begin() + moved.first, rows_.begin() + moved.last + 1);
    const std::int64_t cost_now = cost_of(moved.first, moved.last, gaps);
    std::vector<std::int64_t> costs(neighbours.size(), std::numeric_limits<std::int64_t>::max());  // by position
    costs[now] = cost_now + price_at(contents_.label(item));
    for (const int direction : {-1, 1}) {
      struct {
        int first = nothing, last = nothing;
        std::int64_t cost = 0;
      } changed;  // the layers that changed last
      std::int64_t cost = cost_now;
      for (std::ptrdiff_t next = now + direction; next >= 0 && next < count; next += direction) {
        const int passed = neighbours[next];
        const Item& other = layers_.items[passed];
        if (is_title(passed)) break;  // stays the first
        const int first = std::max(moved.first, other.first), last = std::min(moved.last, other.last);
        const bool is_changed = first == changed.first && last == changed.last;
        cost -= is_changed ? changed.cost : cost_of(first, last, gaps);
        for (int layer = first; layer <= last; ++layer) {
          direction < 0 ? exchange(layer, passed, item) : exchange(layer, item, passed);
        }
        changed = {first, last, cost_of(first, last, gaps)};
        cost += changed.cost;
        // Right after the neighbour before it; first, where no title is.
        if (next > 0 || !is_title(contents_.first(list))) costs[next] = cost + price_at(contents_.label(passed) + direction);
      }
      std::ranges::copy(rows_before, rows_.begin() + moved.first);
    }
    const std::ptrdiff_t best = std::ranges::min_element(costs) - costs.begin();
    if (costs[best] == costs[now]) return false;
    contents_.move(list, item, best > now ? neighbours[best] : best > 0 ? neighbours[best - 1] : nothing);
    write_rows(moved.first, moved.last);
    return true;
  }

  bool sweep(Side side) {
    std::vector<int> items;
    for (int p = 0; std::cmp_less(p, layers_.items.size()); ++p) {
      if (layers_.items[p].kind != ItemKind::title) items.push_back(p);
    }
    const auto layer = [&](int p) { return side == Side::below ? -layers_.items[p].last : layers_.items[p].first; };
    std::ranges::stable_sort(items, {}, layer);
    bool moved = false;
    for (const int p : items) moved |= work_ < most_comparisons && move_to_best(p, side);
    return moved;
  }

  void improve() {
    Lists best = contents_;
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    const auto settle = [&](Side first) {
      sweep(first);
      while (sweep(Side::both)) {
      }
      if (const std::int64_t now = cost(); now < least) {
        least = now;
        best = contents_;
      }
    };
    const Lists begin = contents_;
    for (const bool mirrored : {false, true}) {
      contents_ = begin;
      if (mirrored) arrange([](std::span<int> items) { std::ranges::reverse(items); });
      write_rows(0, layers_.count - 1);
      for (const Side side : {Side::both, Side::below, Side::above, Side::below, Side::above}) settle(side);
    }
    constexpr int attempts = 40;  // each starts from random exchanges of neighbours, with half of the frames mirrored
    std::minstd_rand random;
    for (int attempt = 0; attempt < attempts && least > 0 && work_ < most_comparisons; ++attempt) {
      contents_ = best;
      arrange([&](std::span<int> items) {
        if (random() % 2 == 0) std::ranges::reverse(items);
        for (std::size_t i = 1; i < items.size(); ++i) {
          if (random() % 4 == 0) std::swap(items[i - 1], items[i]);
        }
      });
      write_rows(0, layers_.count - 1);
      settle(attempt % 2 == 0 ? Side::below : Side::above);
    }
    contents_ = best;
    write_rows(0, layers_.count - 1);
  }

  // Changes the order in each frame; its title stays the first.
  template <class Change>
  void arrange(Change&& change) {
    for (int list = 0; std::cmp_less(list, residents_.size()); ++list) {
      std::vector<int> items = contents_.items(list);
      const bool has_title = !items.empty() && layers_.items[items[0]].kind == ItemKind::title;
      change(std::span(items).subspan(has_title));
      contents_.assign(list, items);
    }
  }

  const Layers& layers_;
  Lists contents_;                                         // by number of the frame + 1
  std::vector<std::vector<std::vector<int>>> residents_;  // in each frame + 1, in each of its layers
  std::vector<std::vector<int>> rows_;
  std::vector<std::vector<int>> links_in_, through_, flat_in_;  // by gap: links, lanes; by layer: arrows
  std::vector<FramePair> left_to_right_, series_of_frames_;     // that must, and that should stand in this order
  std::vector<int> preference_, series_;                        // by vertex: its wanted position; its series, or -1
  std::vector<std::int64_t> upper_at_, lower_at_, tree_;        // scratch, as is the next
  std::vector<Ends> ends_;
  std::int64_t work_ = 0;
};

}  // namespace

Ordering ordered(const Layers& layers) { return Sifter(layers).result(); }

}  // namespace xgrad::detail
