// A pair from each line, and a source sentence on one side of the split alone.
#include <xgrad/kit/text/pairs.h>

#include <algorithm>
#include <set>

#include <xgrad/kit/files/text_file.h>
#include <xgrad/kit/program/error.h>
#include <xgrad/kit/text/text.h>
#include <xgrad/kit/unicode/unicode.h>

namespace xgrad::kit {
namespace {

std::string trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(' ') - first + 1));
}

/// The pair on one line; throws DataError.
SentencePair parsed(const std::string& line, const std::filesystem::path& path, std::size_t number) {
  const auto refuse = [&](const std::string& why) -> DataError {
    return DataError(path, number, "expected source<TAB>target, found " + why);
  };
  const std::size_t tab = line.find('\t');
  if (tab == std::string::npos) throw refuse("no tab in " + in_quotes(line));
  const std::size_t end = std::min(line.find('\t', tab + 1), line.size());
  SentencePair pair{trimmed(plain_spaces(line.substr(0, tab))),
                    trimmed(plain_spaces(line.substr(tab + 1, end - tab - 1)))};
  if (pair.source.empty()) throw refuse("an empty source");
  if (pair.target.empty()) throw refuse("an empty target");
  return pair;
}

}  // namespace

std::vector<SentencePair> read_pairs(const std::filesystem::path& path) {
  std::vector<SentencePair> pairs;
  std::size_t number = 0;
  for (const std::string& line : read_lines(path)) {
    ++number;
    if (line.find_first_not_of(" \t") != line.npos) pairs.push_back(parsed(line, path, number));
  }
  return pairs;
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
