// Pairs of bytes: merging those of a word, and learning which to merge. The files are in bpe_files.cpp.
#include <algorithm>
#include <functional>
#include <map>
#include <queue>
#include <set>

#include <xgrad/kit/text/pattern.h>
#include <xgrad/kit/text/tokenizer.h>
#include <xgrad/kit/unicode/unicode.h>

namespace xgrad::kit {
namespace {

/// Calls `between` with each part of a text that is no special token, and `special` with the id of each special token,
/// from the first to the last: where several begin, the longest.
void split_at_special(std::string_view text, const Tokens& tokens, const std::vector<std::int64_t>& ids,
                      const std::function<void(std::string_view)>& between,
                      const std::function<void(std::int64_t)>& special) {
  struct Place {
    std::size_t at = std::string_view::npos;
    std::string_view token = {};
    std::int64_t id = 0;
  };
  std::vector<Place> places;  // of each token the next one
  for (const std::int64_t id : ids) {
    const std::string_view token = tokens[static_cast<std::size_t>(id)];
    places.push_back({text.find(token), token, id});
  }
  for (std::size_t from = 0; from < text.size();) {
    Place first;
    for (Place& place : places) {
      if (place.at < from) place.at = text.find(place.token, from);
      if (place.at < first.at || (place.at == first.at && place.token.size() > first.token.size())) first = place;
    }
    between(text.substr(from, first.at - from));
    if (first.at == text.npos) break;
    special(first.id);
    from = first.at + first.token.size();
  }
}

/// Ids are at most 2^31.
std::uint64_t pair_key(std::int64_t left, std::int64_t right) {
  return static_cast<std::uint64_t>(left) << 32 | static_cast<std::uint64_t>(right);
}

/// One word of the text that is learnt from, as the ids that it consists of so far.
struct CountedWord {
  std::vector<std::int64_t> ids = {};
  std::int64_t count = 0;
};

/// Counts the pairs of neighbours in all words, and keeps the counts while pairs are merged.
class Pairs {
 public:
  explicit Pairs(std::vector<CountedWord> words) : words_(std::move(words)) {
    for (std::size_t i = 0; i < words_.size(); ++i) count(i, +1);
    for (const auto& [pair, count] : counts_) queue_.push({count, pair});
  }

  using Pair = std::array<std::int64_t, 2>;
  /// A pair and how often it is seen.
  struct Candidate {
    std::int64_t count = 0;
    Pair pair{};

    /// The order of the queue: the greatest count stands first, then the smallest ids.
    bool operator<(const Candidate& other) const {
      return count != other.count ? count < other.count : pair > other.pair;
    }
  };

  /// Takes the pair that is seen most often; count 0 if there is none left.
  Candidate take() {
    while (!queue_.empty()) {
      const Candidate top = queue_.top();
      queue_.pop();
      const auto now = counts_.find(top.pair);
      if (now == counts_.end() || now->second <= 0) continue;
      if (now->second == top.count) return top;
      queue_.push({now->second, top.pair});  // it was merged away somewhere since it was put there
    }
    return {};
  }

  /// Replaces the pair by a token in all words.
  void merge(const Pair& pair, std::int64_t result) {
    std::set<Pair> grown;
    const std::set<std::size_t> holders = std::exchange(holders_[pair], {});
    for (const std::size_t i : holders) {
      std::vector<std::int64_t>& ids = words_[i].ids;
      count(i, -1);
      std::size_t written = 0;
      for (std::size_t from = 0; from < ids.size(); ++written) {
        const bool found = from + 1 < ids.size() && ids[from] == pair[0] && ids[from + 1] == pair[1];
        ids[written] = found ? result : ids[from];
        from += found ? 2 : 1;
      }
      ids.resize(written);
      count(i, +1);
      for (std::size_t j = 0; j + 1 < ids.size(); ++j) {
        if (ids[j] == result || ids[j + 1] == result) grown.insert({ids[j], ids[j + 1]});
      }
    }
    for (const Pair& next : grown) queue_.push({counts_[next], next});
  }

 private:
  void count(std::size_t word, std::int64_t sign) {
    const CountedWord& counted = words_[word];
    for (std::size_t j = 0; j + 1 < counted.ids.size(); ++j) {
      const Pair pair{counted.ids[j], counted.ids[j + 1]};
      counts_[pair] += sign * counted.count;
      if (sign > 0) holders_[pair].insert(word);
    }
  }

  std::vector<CountedWord> words_;
  std::map<Pair, std::int64_t> counts_;
  std::map<Pair, std::set<std::size_t>> holders_;  // the words that have the pair, and perhaps some that had it
  std::priority_queue<Candidate> queue_;
};

}  // namespace

BpeTokenizer::BpeTokenizer(Parts parts) : parts_(std::move(parts)) {
  if (!parts_.pattern) parts_.pattern = std::make_shared<const Pattern>(gpt2_pattern);
  const std::set<std::int64_t> special(parts_.special.begin(), parts_.special.end());
  for (std::int64_t id = 0; id < size(); ++id) {
    const std::string& token = parts_.tokens[static_cast<std::size_t>(id)];
    if (special.contains(id)) continue;
    if (token.size() == 1) bytes_[static_cast<unsigned char>(token[0])] = id;
    if (parts_.whole_words) words_.emplace(token, id);
  }
  for (std::size_t rank = 0; rank < parts_.merges.size(); ++rank) {
    const auto [left, right] = parts_.merges[rank];
    merges_.try_emplace(pair_key(left, right), Merge{static_cast<std::int64_t>(rank), parts_.results[rank]});
  }
}

std::string BpeTokenizer::token(std::int64_t id) const {
  if (id < 0 || id >= size()) fail<ValueError>("token", "id ", id, " is not in [0, ", size(), ")");
  return parts_.tokens[static_cast<std::size_t>(id)];
}

std::int64_t BpeTokenizer::special(std::string_view wanted) const {
  const auto found = std::ranges::find_if(parts_.special, [&](std::int64_t id) { return token(id) == wanted; });
  if (found == parts_.special.end()) fail<ValueError>("special", "no special token '", wanted, "'");
  return *found;
}

std::string BpeTokenizer::decode(const Index& ids) const {
  check_ids(ids);
  std::string bytes;
  for (const std::int64_t id : ids) bytes += parts_.tokens[static_cast<std::size_t>(id)];
  return bytes;
}

Index BpeTokenizer::encode(std::string_view text) const {
  if (parts_.composes) require_utf8("encode", text);
  std::vector<std::int64_t> ids = parts_.start;
  split_at_special(
      text, parts_.tokens, parts_.special, [&](std::string_view part) { encode_plain(part, ids); },
      [&](std::int64_t id) { ids.push_back(id); });
  return Index(ids);
}

void BpeTokenizer::encode_plain(std::string_view text, std::vector<std::int64_t>& ids) const {
  const std::string composed = parts_.composes ? composed_form(text) : "";
  if (parts_.composes) text = composed;
  // Where the ids of a word that was met before stand.
  std::unordered_map<std::string_view, std::array<std::size_t, 2>> known;
  for (const std::string_view word : parts_.pattern->split(text)) {
    const auto [found, is_new] = known.try_emplace(word, std::array{ids.size(), ids.size()});
    auto& [begin, end] = found->second;
    if (is_new) {
      merge_word(word, ids);
      end = ids.size();
    } else {
      for (std::size_t i = begin; i < end; ++i) ids.push_back(ids[i]);
    }
  }
}

void BpeTokenizer::merge_word(std::string_view word, std::vector<std::int64_t>& ids) const {
  if (parts_.whole_words) {
    if (const auto found = words_.find(std::string(word)); found != words_.end()) {
      ids.push_back(found->second);
      return;
    }
  }
  // Each token is linked to its neighbours; one that was merged into the left one has id -1.
  struct Link {
    std::int64_t id, before, after;
  };
  const std::int64_t n = std::ssize(word);
  std::vector<Link> links;
  links.reserve(word.size());
  for (std::int64_t i = 0; i < n; ++i) {
    const auto byte = static_cast<unsigned char>(word[static_cast<std::size_t>(i)]);
    links.push_back({bytes_[byte], i - 1, i + 1 < n ? i + 1 : -1});
  }
  const auto link = [&](std::int64_t i) -> Link& { return links[static_cast<std::size_t>(i)]; };

  // Pairs that could be merged, by rank and from the left: n log n steps for n bytes.
  using Candidate = std::array<std::int64_t, 2>;  // rank, place
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> queue;
  const auto merge_at = [&](std::int64_t i) {
    if (i < 0 || link(i).id < 0 || link(i).after < 0) return merges_.end();
    return merges_.find(pair_key(link(i).id, link(link(i).after).id));
  };
  const auto offer = [&](std::int64_t i) {
    if (const auto merge = merge_at(i); merge != merges_.end()) queue.push({merge->second.rank, i});
  };
  for (std::int64_t i = 0; i < n; ++i) offer(i);
  while (!queue.empty()) {
    const auto [rank, i] = queue.top();
    queue.pop();
    const auto merge = merge_at(i);
    if (merge == merges_.end() || merge->second.rank != rank) continue;  // another pair stands there by now
    Link& gone = link(link(i).after);
    link(i).id = merge->second.result;
    link(i).after = gone.after;
    if (gone.after >= 0) link(gone.after).before = i;
    gone.id = -1;
    offer(link(i).before);
    offer(i);
  }
  for (const Link& left : links) {
    if (left.id >= 0) ids.push_back(left.id);
  }
}

BpeTokenizer BpeTokenizer::train(std::string_view text, const TrainingOptions& options) {
  constexpr const char* op = "BpeTokenizer::train";
  const std::int64_t least = 256 + std::ssize(options.special);
  if (options.size < least || options.size > std::int64_t{1} << 31) {
    fail<ValueError>(op, "needs a size from ", least, " (bytes and special tokens) to 2^31, got ", options.size);
  }
  Parts parts;
  for (const std::string& token : options.special) {
    if (token.empty()) fail<ValueError>(op, "a special token is empty");
    if (std::ranges::count(options.special, token) > 1) fail<ValueError>(op, "token '", token, "' is given twice");
    parts.special.push_back(std::ssize(parts.tokens));
    parts.tokens.push_back(token);
  }

  // The bytes in the order of the characters by which files show them.
  std::array<std::string, 256> bytes;
  for (int byte = 0; byte < 256; ++byte) bytes[static_cast<std::size_t>(byte)] = static_cast<char>(byte);
  std::ranges::sort(bytes, {}, detail::byte_text);
  std::array<std::int64_t, 256> id_of{};
  for (const std::string& byte : bytes) {
    id_of[static_cast<unsigned char>(byte[0])] = std::ssize(parts.tokens);
    parts.tokens.push_back(byte);
  }

  const Pattern pattern(gpt2_pattern);
  std::map<std::string_view, std::int64_t> counts;
  const auto count_words = [&](std::string_view part) {
    for (const std::string_view word : pattern.split(part)) ++counts[word];
  };
  split_at_special(text, parts.tokens, parts.special, count_words, [](std::int64_t) {});
  std::vector<CountedWord> words;
  for (const auto& [word, count] : counts) {
    words.push_back({.count = count});
    for (const char byte : word) words.back().ids.push_back(id_of[static_cast<unsigned char>(byte)]);
  }

  Pairs pairs(std::move(words));
  std::map<std::string, std::int64_t, std::less<>> ids;  // two pairs may give the same token: a|bc and ab|c
  while (std::ssize(parts.tokens) < options.size) {
    const Pairs::Candidate best = pairs.take();
    if (best.count == 0 || best.count < options.min_freq) break;
    const auto part = [&](std::size_t i) { return parts.tokens[static_cast<std::size_t>(best.pair[i])]; };
    const auto [found, is_new] = ids.try_emplace(part(0) + part(1), std::ssize(parts.tokens));
    if (is_new) parts.tokens.push_back(found->first);
    parts.merges.push_back(best.pair);
    parts.results.push_back(found->second);
    pairs.merge(best.pair, found->second);
  }
  return BpeTokenizer(std::move(parts));
}

}  // namespace xgrad::kit
