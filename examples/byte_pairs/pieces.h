// What a byte-pair encoding has learnt, as text, and how well a model predicts a text in its tokens.
#pragma once

#include <numbers>
#include <string>

#include <xgrad/kit/text/tokenizer.h>
#include <xgrad/xgrad.h>

namespace byte_pairs {

using namespace xgrad;

constexpr std::int64_t T = 64;  // tokens of a window

// A token with its spaces as ␣ and its line ends as ↵.
inline std::string visible(const kit::BpeTokenizer& tokenizer, std::int64_t id) {
  std::string text;
  for (const char c : tokenizer.token(id)) text += c == ' ' ? "␣" : c == '\n' ? "↵" : std::string(1, c);
  return text;
}

// Both parts of each merge with a dot between them, in the order in which they were learnt, ten in a line.
inline std::string merges(const kit::BpeTokenizer& tokenizer) {
  std::string text;
  for (std::size_t i = 0; i < tokenizer.merges().size(); ++i) {
    const auto& [left, right] = tokenizer.merges()[i];
    text += i % 10 != 0 ? "  " : i == 0 ? "1: " : str("\n", i + 1, ": ");
    text += visible(tokenizer, left) + "·" + visible(tokenizer, right);
  }
  return text + "\n";
}

// The tokens of a text with bars between them.
inline std::string in_pieces(const kit::BpeTokenizer& tokenizer, const std::string& text) {
  std::string pieces;
  for (const std::int64_t id : tokenizer.encode(text)) pieces += (pieces.empty() ? "" : "|") + visible(tokenizer, id);
  return pieces;
}

// How many bits the model needs for a byte of the text: the mean of -log2 p over the tokens, shared among their bytes.
inline double bits_per_byte(const nn::LanguageModel& model, const kit::BpeTokenizer& tokenizer,
                            const std::string& text) {
  const NoGrad off;
  const Index ids = tokenizer.encode(text);
  const std::int64_t n = (ids.size() - 1) / T;
  const Index x = ids[{slice(0, n * T)}].reshaped({n, T}), y = ids[{slice(1, n * T + 1)}].reshaped({n, T});
  const double bits = cross_entropy(model(x), y).item() / std::numbers::ln2;
  return bits * ids.size() / text.size();
}

}  // namespace byte_pairs
