// Byte pairs as text, and bits for a byte.
#include <doctest/doctest.h>

#include <cmath>

#include <byte_pairs/pieces.h>

namespace byte_pairs {
namespace {

// Gage's example, as encyclopedias have it: Z = aa, Y = ab, X = ZY give XdXac.
TEST_CASE("aaabdaaabac has the merges aa, ab and aaab, and is aaab d aaab a c") {
  const auto tokenizer = kit::BpeTokenizer::train("aaabdaaabac", {.size = 259, .special = {}});
  CHECK(merges(tokenizer) == "1: a·a  a·b  aa·ab\n");
  CHECK(in_pieces(tokenizer, "aaabdaaabac") == "aaab|d|aaab|a|c");
  CHECK(in_pieces(tokenizer, "d b\n") == "d|␣|b|↵");
}

TEST_CASE("A model that knows nothing needs log2 V bits for a token, shared among its bytes") {
  const std::string part = "aaabdaaabac ";
  std::string text;
  for (int i = 0; i < 40; ++i) text += part;
  const auto tokenizer = kit::BpeTokenizer::train(text, {.size = 260, .special = {}});
  const nn::Gpt model{nn::root, {.vocabulary = 260, .context = T, .dim = 4, .heads = 1, .layers = 1}};
  model.embedding.weight.assign(zeros({260, 4}).value());
  const double per_byte = static_cast<double>(tokenizer.encode(text).size()) / static_cast<double>(text.size());
  REQUIRE(per_byte < 0.7);
  CHECK(bits_per_byte(model, tokenizer, text) == doctest::Approx(std::log2(260.0) * per_byte).epsilon(1e-4));
}

}  // namespace
}  // namespace byte_pairs
