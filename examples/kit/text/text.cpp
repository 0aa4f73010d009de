// Reading text files with care, and the steps from sentences to ids.
#include <xgrad/kit/text/text.h>

#include <algorithm>
#include <set>

#include <xgrad/core/files/file.h>
#include <xgrad/kit/data/packed.h>
#include <xgrad/kit/program/error.h>
#include <xgrad/kit/text/unicode.h>
#include <xgrad/kit/text/utf8.h>

namespace xgrad::kit {
namespace {

using Path = std::filesystem::path;

/// A text file, plain or gzip, read from the first byte to the last. Packing makes text three or four times shorter;
/// a file that unpacks to a hundred times its size was made to fill memories.
class TextFile : public PackedFile {
 public:
  explicit TextFile(const Path& path) : PackedFile(path) {
    constexpr std::int64_t always = 16 << 20, times = 100;
    if (packed()) most_ = std::max(always, packed_bytes() * times);
  }

  std::size_t read(std::span<char> buffer) {
    const std::size_t count = PackedFile::read(buffer);
    read_ += static_cast<std::int64_t>(count);
    if (read_ > most_) {
      fail<LimitError>("read_text", path().string(), ": ", packed_bytes(), " bytes packed by gzip become more than ",
                       most_);
    }
    return count;
  }

  /// Throws LimitError for a plain file that memory cannot hold.
  void require_memory() const {
    if (!packed() && most_bytes() > machine_memory()) {
      fail<LimitError>("read_text", path().string(), ": no memory for ", most_bytes(), " bytes");
    }
  }

 private:
  std::int64_t most_ = std::numeric_limits<std::int64_t>::max();
  std::int64_t read_ = 0;
};

/// The lines of a text file, plain or gzip, one after the other and without their ends.
class Lines {
 public:
  explicit Lines(const Path& path) : file_(path) {}

  /// Moves on to the next line; false at the end of the file.
  bool next() {
    line_.clear();
    if (!fill()) return false;
    ++number_;
    std::size_t end;
    do {
      end = unread_.find('\n');
      line_ += unread_.substr(0, end);
      unread_.remove_prefix(std::min(end, unread_.size() - 1) + 1);
      if (line_.size() > longest) throw DataError(file_.path(), number_, "longer than 1 MiB: not a text file?");
    } while (end == std::string_view::npos && fill());
    if (line_.ends_with('\r')) line_.pop_back();
    if (number_ == 1 && line_.starts_with("\xEF\xBB\xBF")) line_.erase(0, 3);
    return true;
  }

  const TextFile& file() const { return file_; }
  const std::string& line() const { return line_; }
  std::size_t number() const { return number_; }

 private:
  static constexpr std::size_t longest = 1 << 20;

  /// Makes sure that `unread_` is not empty; false at the end of the file.
  bool fill() {
    if (!unread_.empty()) return true;
    unread_ = std::string_view(buffer_.data(), file_.read(buffer_));
    return !unread_.empty();
  }

  TextFile file_;
  std::string buffer_ = std::string(1 << 16, '\0');
  std::string_view unread_;  // the rest of the buffer, in no line yet
  std::string line_;
  std::size_t number_ = 0;
};

std::string plain_spaces(std::string_view text) {
  std::u32string characters = decode_utf8(text);
  std::replace(characters.begin(), characters.end(), U'\u00A0', U' ');
  std::replace(characters.begin(), characters.end(), U'\u202F', U' ');
  return encode_utf8(characters);
}

std::string trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(' ') - first + 1));
}

/// The pair on one line; throws DataError.
SentencePair parsed(const std::string& line, const Path& path, std::size_t number) {
  const auto refuse = [&](const std::string& why) -> DataError {
    return DataError(path, number, "expected source<TAB>target, found " + why);
  };
  if (!is_utf8(line)) throw refuse("bytes that are not UTF-8");
  if (line.find('\0') != std::string::npos) throw refuse("a zero byte");
  const std::size_t tab = line.find('\t');
  if (tab == std::string::npos) throw refuse("no tab in \"" + fit_columns(line, 60) + '"');
  const std::size_t end = std::min(line.find('\t', tab + 1), line.size());
  SentencePair pair{trimmed(plain_spaces(line.substr(0, tab))),
                    trimmed(plain_spaces(line.substr(tab + 1, end - tab - 1)))};
  if (pair.source.empty()) throw refuse("an empty source");
  if (pair.target.empty()) throw refuse("an empty target");
  return pair;
}

}  // namespace

std::vector<std::string> read_lines(const Path& path) {
  std::vector<std::string> texts;
  Lines lines(path);
  lines.file().require_memory();
  while (lines.next()) {
    if (!is_utf8(lines.line())) throw DataError(path, lines.number(), "bytes that are not UTF-8");
    if (lines.line().find('\0') != std::string::npos) throw DataError(path, lines.number(), "a zero byte");
    texts.push_back(lines.line());
  }
  return texts;
}

std::vector<SentencePair> read_pairs(const Path& path, std::size_t count) {
  std::vector<SentencePair> pairs;
  Lines lines(path);
  while (pairs.size() < count && lines.next()) {
    if (lines.line().find_first_not_of(" \t") == std::string::npos) continue;
    pairs.push_back(parsed(lines.line(), path, lines.number()));
  }
  return pairs;
}

std::string load_text(const Path& path) {
  TextFile file(path);
  file.require_memory();
  std::string text;
  for (std::string piece(1 << 16, '\0'); const std::size_t count = file.read(piece);) text.append(piece, 0, count);
  const auto refuse_at = [&](std::size_t at, const char* what) {
    const auto before = std::string_view(text).substr(0, at);
    throw DataError(path, static_cast<std::size_t>(std::ranges::count(before, '\n')) + 1, what);
  };
  if (const std::size_t at = utf8_prefix(text); at < text.size()) refuse_at(at, "bytes that are not UTF-8");
  if (const std::size_t at = text.find('\0'); at != text.npos) refuse_at(at, "a zero byte");
  if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);
  std::size_t written = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\r' || i + 1 == text.size() || text[i + 1] != '\n') text[written++] = text[i];
  }
  text.resize(written);
  return text;
}

std::string lower_case(std::string_view text) {
  std::u32string characters = decode_utf8(text);
  for (char32_t& c : characters) c = lower_case(c);
  return encode_utf8(characters);
}

std::string preprocess(std::string_view sentence) {
  const std::string text = lower_case(plain_spaces(sentence));
  std::string spaced;
  for (const char c : text) {
    const bool mark = c == ',' || c == '.' || c == '!' || c == '?';
    if (mark && !spaced.empty() && spaced.back() != ' ') spaced += ' ';
    spaced += c;
  }
  return spaced;
}

Tokens words(std::string_view text) {
  Tokens tokens;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    if (!word.empty()) tokens.emplace_back(word);
    text.remove_prefix(std::min(word.size() + 1, text.size()));
  }
  return tokens;
}

std::string joined(std::span<const std::string> tokens) {
  std::string text;
  for (const std::string& token : tokens) text += (text.empty() ? "" : " ") + token;
  return text;
}

Vocab::Vocab(std::span<const Tokens> sentences, const Options& options) {
  std::map<std::string, std::int64_t> counts;
  for (const Tokens& sentence : sentences) {
    for (const std::string& token : sentence) ++counts[token];
  }
  for (const std::string& token : options.reserved) counts.erase(token);

  std::vector<std::pair<std::string, std::int64_t>> ranked(counts.begin(), counts.end());
  std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  Tokens tokens = options.reserved;
  for (const auto& [token, count] : ranked) {
    if (count >= options.min_freq) tokens.push_back(token);
  }
  *this = Vocab(std::move(tokens));
}

Vocab::Vocab(Tokens tokens_by_id) : tokens_(std::move(tokens_by_id)) {
  for (const std::string& token : tokens_) {
    const auto id = static_cast<std::int64_t>(ids_.size());
    if (!ids_.emplace(token, id).second) fail<ValueError>("vocab", "token '", token, "' is given twice");
  }
}

std::int64_t Vocab::id(std::string_view token) const {
  auto found = ids_.find(token);
  if (found == ids_.end()) found = ids_.find("<unk>");
  if (found == ids_.end()) fail<ValueError>("vocab", "unknown token '", token, "' and no <unk>");
  return found->second;
}

std::string Vocab::token(std::int64_t id) const {
  if (id < 0 || id >= size()) fail<ValueError>("vocab", "id ", id, " is not in [0, ", size(), ")");
  return tokens_[static_cast<std::size_t>(id)];
}

SentenceArray to_array(std::span<const Tokens> sentences, const Vocab& vocab, std::int64_t steps) {
  if (steps < 1) fail<ValueError>("to_array", "needs at least one step, got ", steps);
  const auto reserved = [&vocab](std::string_view token) {
    if (!vocab.contains(token)) fail<ValueError>("to_array", "the vocabulary has no ", token);
    return vocab.id(token);
  };
  const std::int64_t padding = reserved("<pad>"), eos = reserved("<eos>");

  const std::int64_t N = std::ssize(sentences);
  SentenceArray array{.ids = Index({N, steps}, padding), .lengths = Index(Shape{N})};
  std::int64_t* row = array.ids.mutable_data();
  for (std::int64_t i = 0; i < N; ++i, row += steps) {
    const Tokens& sentence = sentences[static_cast<std::size_t>(i)];
    const std::int64_t words = std::ssize(sentence);
    for (std::int64_t t = 0; t < std::min(words, steps); ++t) row[t] = vocab.id(sentence[static_cast<std::size_t>(t)]);
    if (words < steps) row[words] = eos;
    array.lengths.mutable_data()[i] = std::min(words + 1, steps);
  }
  return array;
}

Split split_at(std::span<const SentencePair> pairs, std::size_t count) {
  Split split;
  std::set<std::string> seen;
  for (const SentencePair& pair : pairs) {
    const std::string source = preprocess(pair.source);
    if (split.train.size() < count) {
      split.train.push_back(pair);
      seen.insert(source);
    } else if (!seen.contains(source)) {
      split.held_out.push_back(pair);
    }
  }
  return split;
}

}  // namespace xgrad::kit
