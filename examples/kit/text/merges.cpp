// A queue of possible merges over a linked list of tokens.
#include <xgrad/kit/text/merges.h>

#include <array>
#include <functional>
#include <queue>

namespace xgrad::kit {
namespace {

std::uint64_t pair_key(std::int64_t left, std::int64_t right) {
  return static_cast<std::uint64_t>(left) << 32 | static_cast<std::uint64_t>(right);
}

}  // namespace

void Merges::add(std::int64_t left, std::int64_t right, std::int64_t result) {
  merges_.try_emplace(pair_key(left, right), Merge{std::ssize(merges_), result});
}

const Merges::Merge* Merges::find(std::int64_t left, std::int64_t right) const {
  const auto found = merges_.find(pair_key(left, right));
  return found == merges_.end() ? nullptr : &found->second;
}

void Merges::apply(std::vector<std::int64_t>& word) const {
  // Each token is linked to its neighbours; one that was merged into the left one has id -1.
  struct Link {
    std::int64_t id, before, after;
  };
  const std::int64_t n = std::ssize(word);
  std::vector<Link> links;
  links.reserve(word.size());
  for (std::int64_t i = 0; i < n; ++i) {
    links.push_back({word[static_cast<std::size_t>(i)], i - 1, i + 1 < n ? i + 1 : -1});
  }
  const auto link = [&](std::int64_t i) -> Link& { return links[static_cast<std::size_t>(i)]; };

  // Pairs that could be merged: the one that was learnt first comes first, then the leftmost.
  using Candidate = std::array<std::int64_t, 2>;  // rank, place
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> queue;
  const auto merge_at = [&](std::int64_t i) {
    return i < 0 || link(i).id < 0 || link(i).after < 0 ? nullptr : find(link(i).id, link(link(i).after).id);
  };
  const auto offer = [&](std::int64_t i) {
    if (const Merge* merge = merge_at(i)) queue.push({merge->rank, i});
  };
  for (std::int64_t i = 0; i < n; ++i) offer(i);
  while (!queue.empty()) {
    const auto [rank, i] = queue.top();
    queue.pop();
    const Merge* merge = merge_at(i);
    if (merge == nullptr || merge->rank != rank) continue;  // another pair stands there by now
    Link& gone = link(link(i).after);
    link(i).id = merge->result;
    link(i).after = gone.after;
    if (gone.after >= 0) link(gone.after).before = i;
    gone.id = -1;
    offer(link(i).before);
    offer(i);
  }
  word.clear();
  for (const Link& left : links) {
    if (left.id >= 0) word.push_back(left.id);
  }
}

}  // namespace xgrad::kit
