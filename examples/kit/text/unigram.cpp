// Unigram (Kudo, "Subword regularization", 2018), as SentencePiece has it: of all ways to make a text of tokens the one
// whose probability is greatest,  argmax sum log p(token), found by Viterbi's method.
#include <xgrad/kit/text/tokenizer_parts.h>

#include <algorithm>
#include <limits>

#include <nlohmann/json.hpp>

#include <xgrad/kit/text/utf8.h>

namespace xgrad::kit {
namespace {

constexpr double unknown_penalty = 10;

class UnigramModel {
 public:
  explicit UnigramModel(const JsonField& field) {
    const JsonField vocab = field["vocab"];
    TokenIds ids;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < vocab.list().size(); ++i) {
      const JsonField entry = vocab[i];
      if (entry.list().size() != 2) entry.refuse(cat("expected a token and its score, found ", entry.list().size()));
      const auto id = static_cast<std::int64_t>(i);
      const std::string token = entry[0].text();
      if (const auto [found, is_new] = ids.emplace(token, id); !is_new) {
        entry.refuse(cat(in_quotes(token), " is token ", found->second, ", too"));
      }
      sorted_.push_back({token, entry[1].number(), id});
      least = std::min(least, sorted_.back().score);
    }
    if (const JsonField unknown = field["unk_id"]; !unknown.empty()) {
      unknown_ = unknown.id();
      if (unknown_ >= std::ssize(sorted_)) unknown.refuse(cat("there are ", sorted_.size(), " tokens"));
    }
    unknown_score_ = least - unknown_penalty;
    std::ranges::sort(sorted_, {}, &Entry::token);
    ids_ = std::make_shared<const TokenIds>(std::move(ids));
    if (field["byte_fallback"].truth(false)) bytes_ = byte_ids(*ids_);
  }

  const std::shared_ptr<const TokenIds>& ids() const { return ids_; }

  void operator()(std::string_view text, std::vector<std::int64_t>& ids) const {
    // The best way to each byte: its score, and where its last token begins.
    struct Way {
      double score = 0;
      std::int64_t id = -1;
      std::size_t from = std::string_view::npos;
    };
    std::vector<Way> ways(text.size() + 1);
    const auto offer = [&](std::size_t from, std::size_t to, double score, std::int64_t id) {
      const double sum = score + ways[from].score;
      if (ways[to].from == text.npos || sum > ways[to].score) ways[to] = {sum, id, from};
    };
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t character = decode_first(text.substr(at)).length;
      bool is_known = false;
      each_token(text.substr(at), [&](const Entry& entry) {
        offer(at, at + entry.token.size(), entry.score, entry.id);
        is_known = is_known || entry.token.size() == character;
      });
      if (!is_known) {
        if (unknown_ < 0) {
          fail<ValueError>("encode", "the character ", in_quotes(text.substr(at, character)),
                           " has no token, and none stands for it");
        }
        offer(at, at + character, unknown_score_, unknown_);
      }
      at += character;
    }

    std::vector<Span> best;  // from the last to the first; `match` is set for unknown characters
    for (std::size_t end = text.size(); end > 0; end = ways[end].from) {
      const bool unknown = ways[end].id == unknown_;
      if (unknown && !best.empty() && best.back().match) {
        best.back().begin = ways[end].from;
      } else {
        best.push_back({ways[end].from, end, unknown});
      }
    }
    std::ranges::reverse(best);
    for (const Span& span : best) put(text.substr(span.begin, span.end - span.begin), ids);
  }

 private:
  struct Entry {
    std::string token;
    double score;
    std::int64_t id;
  };

  /// Calls f with each token that is a beginning of a text, the shortest first.
  template <class F>
  void each_token(std::string_view text, const F& f) const {
    auto first = sorted_.begin(), last = sorted_.end();
    for (std::size_t depth = 0; depth < text.size() && first != last; ++depth) {
      // Of the tokens that begin like the text, those that also have its next byte.
      const auto byte = [depth](const Entry& entry) {
        return depth < entry.token.size() ? int{static_cast<unsigned char>(entry.token[depth])} : -1;
      };
      const int wanted = static_cast<unsigned char>(text[depth]);
      first = std::ranges::lower_bound(first, last, wanted, {}, byte);
      last = std::ranges::upper_bound(first, last, wanted, {}, byte);
      if (first != last && first->token.size() == depth + 1) f(*first);
    }
  }

  void put(std::string_view token, std::vector<std::int64_t>& ids) const {
    if (const auto found = ids_->find(token); found != ids_->end()) {
      ids.push_back(found->second);
    } else if (has_bytes(token)) {
      for (const char byte : token) ids.push_back(byte_id(byte));
    } else {
      ids.push_back(unknown_);
    }
  }

  std::int64_t byte_id(char byte) const { return bytes_[static_cast<unsigned char>(byte)]; }
  bool has_bytes(std::string_view token) const {
    return !bytes_.empty() && std::ranges::all_of(token, [&](char byte) { return byte_id(byte) >= 0; });
  }

  std::shared_ptr<const TokenIds> ids_;
  std::vector<Entry> sorted_;
  std::vector<std::int64_t> bytes_;
  std::int64_t unknown_ = -1;
  double unknown_score_ = 0;
};

}  // namespace

SubwordModel read_unigram(const JsonField& field) {
  const auto model = std::make_shared<const UnigramModel>(field);
  return {model->ids(), [model](std::string_view word, std::vector<std::int64_t>& ids) { (*model)(word, ids); }};
}

}  // namespace xgrad::kit
