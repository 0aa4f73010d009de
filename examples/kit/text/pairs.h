// Sentence pairs: reading them, and holding some out. Private.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <xgrad/core/base/error.h>

namespace xgrad::kit {

/// A sentence and one of its translations.
struct SentencePair {
  std::string source;
  std::string target;

  friend bool operator==(const SentencePair&, const SentencePair&) = default;
};

/// The pairs of a file with lines `source<TAB>target`, as Tatoeba and ManyThings.org give them: UTF-8, further columns
/// ignored, empty lines skipped, a byte order mark, CRLF and no-break spaces (U+00A0, U+202F) accepted, gzip unpacked on
/// the way. Throws what `read_lines` throws, and DataError with the line for one that is no pair.
std::vector<SentencePair> read_pairs(const std::filesystem::path& path);

/// Pairs to train on, and pairs held out to test the result.
struct Split {
  std::vector<SentencePair> train;
  std::vector<SentencePair> held_out;
};

/// The first `count` pairs for training, those of the others whose source sentence (preprocessed) is not among them
/// held out.
Split split_at(std::span<const SentencePair> pairs, std::size_t count);

}  // namespace xgrad::kit
