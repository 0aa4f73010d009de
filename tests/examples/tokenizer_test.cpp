// Text as ids: characters, words, and byte-level BPE beside what the package `tokenizers` gives.
#include <doctest/doctest.h>

#include <filesystem>
#include <functional>

#include <nlohmann/json.hpp>

#include <xgrad/core/array/random.h>
#include <xgrad/kit/program/error.h>
#include <xgrad/kit/text/byte_text.h>
#include <xgrad/kit/text/tokenizer.h>
#include <xgrad/kit/text/unicode.h>

#include "support.h"
#include "support/fixtures.h"

using namespace xgrad::kit;
using nlohmann::json;
using xgrad::FormatError;
using xgrad::Index;
using xgrad::Shape;
using xgrad::ShapeError;
using xgrad::ValueError;
using xgrad::kit::testing::read_text;
using xgrad::kit::testing::TemporaryFolder;
using xgrad::kit::testing::write_text;

namespace {

std::filesystem::path fixture(const std::string& name) { return xgrad::testing::fixture_path("tokenizer/" + name); }

const std::string& novel() {
  static const std::string text = load_text(std::filesystem::path(XGRAD_EXAMPLES_DIR) / "data/pride_and_prejudice.txt");
  return text;
}

BpeTokenizer from_files() { return BpeTokenizer::read(fixture("vocab.json"), fixture("merges.txt")); }

Index ids_in(const json& list) { return Index(list.get<std::vector<std::int64_t>>()); }

std::vector<std::string> split(std::string_view text) {
  const std::vector<std::string_view> words = gpt2_words(text);
  return {words.begin(), words.end()};
}

/// Every byte, and sequences that begin as UTF-8 and go wrong.
std::string all_bytes() {
  std::string bytes = "\xF0\x9F\x98 \xE2\x82 x\xC3\xA9\xED\xA0\x80\xC0\x80\xF5";
  for (int byte = 0; byte < 256; ++byte) bytes += static_cast<char>(byte);
  return bytes;
}

/// The message of the FormatError that reading throws, without the folder.
std::string refusal(const TemporaryFolder& folder, const std::function<void()>& read) {
  try {
    read();
  } catch (const FormatError& error) {
    std::string message = error.what();
    const std::string path = folder.path().string() + "/";
    const std::size_t at = message.find(path);
    REQUIRE(at != std::string::npos);
    return message.erase(at, path.size());
  }
  return "accepted";
}

/// The error of reading the two files after `change` was made to them.
std::string pair_refusal(const std::function<void(json& vocab, std::string& merges)>& change,
                         const BpeOptions& options = {}) {
  const TemporaryFolder folder;
  json vocab = json::parse(read_text(fixture("vocab.json")));
  std::string merges = read_text(fixture("merges.txt"));
  change(vocab, merges);
  write_text(folder / "vocab.json", vocab.dump());
  write_text(folder / "merges.txt", merges);
  return refusal(folder, [&] { BpeTokenizer::read(folder / "vocab.json", folder / "merges.txt", options); });
}

}  // namespace

TEST_CASE("characters have ids in the order of Unicode, and come back as they were") {
  const CharacterTokenizer tokenizer("ça va 猫?");
  CHECK(tokenizer.characters() == " ?avç猫");
  CHECK(tokenizer.size() == 6);
  CHECK(equal(tokenizer.encode("va 猫"), Index({4}, {3, 2, 0, 5})));
  CHECK(tokenizer.decode(tokenizer.encode("ça va 猫?")) == "ça va 猫?");
  CHECK(CharacterTokenizer(tokenizer.characters()).characters() == tokenizer.characters());
  CHECK(tokenizer.encode("").shape() == Shape{0});
  CHECK(CharacterTokenizer("").size() == 0);
}

TEST_CASE("characters refuse what they do not know") {
  const CharacterTokenizer tokenizer("abc");
  CHECK_THROWS_WITH_AS(CharacterTokenizer("ab\xC3"), "CharacterTokenizer: the text is not UTF-8 at byte 2", ValueError);
  CHECK_THROWS_WITH_AS(tokenizer.encode("\xFF"), "encode: the text is not UTF-8 at byte 0", ValueError);
  CHECK_THROWS_WITH_AS(tokenizer.encode("aé"), "encode: the character 'é' is not among the 3 known ones", ValueError);
  CHECK_THROWS_WITH_AS(tokenizer.decode(Index({1}, {3})), "decode: id 3 is not in [0, 3)", ValueError);
  CHECK_THROWS_WITH_AS(tokenizer.decode(Index({1}, {-1})), "decode: id -1 is not in [0, 3)", ValueError);
  CHECK_THROWS_WITH_AS(tokenizer.decode(Index({1, 1}, {0})), "decode: needs ids (N), got [1, 1]", ShapeError);
}

TEST_CASE("words of running text are letters, marks, digits and the apostrophes between them") {
  CHECK(running_words("Don't stop!") == Tokens{"don't", "stop", "!"});
  CHECK(running_words("'Tis the l’été,\n\nn'est-ce pas? 3.5") ==
        Tokens{"'", "tis", "the", "l’été", ",", "n'est", "-", "ce", "pas", "?", "3", ".", "5"});
  CHECK(running_words("the dogs' ''x''") == Tokens{"the", "dogs", "'", "'", "'", "x", "'", "'"});
  CHECK(running_words("ЖАР e\u0301E\u0301\u00A0क्षि") == Tokens{"жар", "e\u0301e\u0301", "क्षि"});
  CHECK(running_words(" \t\n").empty());
  CHECK_THROWS_WITH_AS(running_words("a\xE9"), "running_words: the text is not UTF-8 at byte 1", ValueError);
}

TEST_CASE("words have the ids of a vocabulary") {
  const WordTokenizer tokenizer("The cat and the dog.", {.min_freq = 1, .reserved = {"<unk>", "<mask>"}});
  CHECK(tokenizer.vocab().tokens() == Tokens{"<unk>", "<mask>", "the", ".", "and", "cat", "dog"});
  CHECK(tokenizer.size() == 7);
  const Index ids = tokenizer.encode("The bird and THE cat.");
  CHECK(equal(ids, Index({6}, {2, 0, 4, 2, 5, 3})));
  CHECK(tokenizer.decode(ids) == "the <unk> and the cat .");
  CHECK(equal(WordTokenizer(tokenizer.vocab()).encode("dog"), tokenizer.encode("dog")));
  CHECK(WordTokenizer("a a b", {.min_freq = 2}).vocab().tokens() == Tokens{"<unk>", "a"});

  CHECK_THROWS_WITH_AS(WordTokenizer("a", {.reserved = {}}).encode("b"), "vocab: unknown token 'b' and no <unk>",
                       ValueError);
  CHECK_THROWS_AS(WordTokenizer("a", {.reserved = {"x", "x"}}), ValueError);
  CHECK_THROWS_AS(WordTokenizer("\xFF"), ValueError);
  CHECK_THROWS_AS(tokenizer.encode("\xFF"), ValueError);
  CHECK_THROWS_AS(tokenizer.decode(Index({1}, {7})), ValueError);
  CHECK_THROWS_AS(tokenizer.decode(Index({1, 1}, {0})), ShapeError);
}

TEST_CASE("the pattern of GPT-2 splits at contractions, classes and spaces") {
  CHECK(split("Hello, world!") == Tokens{"Hello", ",", " world", "!"});
  CHECK(split("I'm she'll I'M 'tis") == Tokens{"I", "'m", " she", "'ll", " I", "'", "M", " '", "tis"});
  CHECK(split("x2 = 10") == Tokens{"x", "2", " =", " 10"});
  CHECK(split("a   b  ") == Tokens{"a", "  ", " b", "  "});
  CHECK(split("a\n\n b") == Tokens{"a", "\n\n", " b"});
  CHECK(split("a\n\nb") == Tokens{"a", "\n", "\n", "b"});
  CHECK(split("a\u3000\u3000b") == Tokens{"a", "\u3000", "\u3000", "b"});
  CHECK(split("e\u0301!") == Tokens{"e", "\u0301!"});
  CHECK(split("\xFF\xFE z") == Tokens{"\xFF\xFE", " z"});
  CHECK(split("").empty());
}

TEST_CASE("bytes are shown by characters as in GPT-2's files") {
  CHECK(byte_text(" the\n") == "ĠtheĊ");
  CHECK(byte_text("é") == "Ã©");
  CHECK(byte_text(std::string_view("\0\x7F\xAD", 3)) == "ĀġŃ");
  const std::string bytes = all_bytes();
  CHECK(bytes_of_text(byte_text(bytes)) == bytes);
  CHECK_FALSE(bytes_of_text("a b"));
  CHECK_FALSE(bytes_of_text("猫"));
}

TEST_CASE("classes and small letters of characters are those of Unicode") {
  using enum CharacterClass;
  for (const char32_t c : U"aÉλЖ猫あʰªǅ") {
    if (c != 0) CHECK(character_class(c) == letter);
  }
  for (const char32_t c : U"0½²Ⅷ٣") {
    if (c != 0) CHECK(character_class(c) == number);
  }
  for (const char32_t c : U" \t\n\v\f\r\u0085\u00A0\u1680\u2003\u2028\u2029\u202F\u205F\u3000") {
    if (c != 0) CHECK(character_class(c) == space);
  }
  for (const char32_t c : U"\u0301\u093F\u20DD") {
    if (c != 0) CHECK(character_class(c) == mark);
  }
  for (const char32_t c :
       {U'.', U'_', U'\x1C', U'\u200B', U'\uFEFF', U'😀', U'\uE000', char32_t{0}, char32_t{0x110000}}) {
    CHECK(character_class(c) == other);
  }
  CHECK(lower_case(U'Ж') == U'ж');
  CHECK(lower_case(U'ß') == U'ß');
  CHECK(lower_case(U'猫') == U'猫');
}

TEST_CASE("texts of all kinds have the ids that the package tokenizers gives") {
  const json cases = json::parse(read_text(fixture("encodings.json")));
  REQUIRE(cases.size() > 250);
  const BpeTokenizer pair = from_files();
  const BpeTokenizer whole = BpeTokenizer::read(fixture("tokenizer.json"));
  CHECK(pair.size() == 500);
  CHECK(whole.size() == 501);
  std::size_t in_both = 0;
  for (const json& one : cases) {
    const auto text = one["text"].get<std::string>();
    CAPTURE(text);
    const Index ids = ids_in(one["ids"]);
    CHECK(equal(whole.encode(text), ids));
    CHECK(whole.decode(ids) == text);
    if (text.find("<|pad to here|>") != text.npos) continue;  // which the pair of files does not have
    CHECK(equal(pair.encode(text), ids));
    ++in_both;
  }
  CHECK(in_both + 1 == cases.size());
}

TEST_CASE("learning gives the tokens and merges that the package tokenizers learns") {
  const BpeTokenizer learnt = BpeTokenizer::train(novel(), {.size = 500}), reference = from_files();
  REQUIRE(learnt.size() == reference.size());
  for (std::int64_t id = 0; id < learnt.size(); ++id) CHECK(learnt.token(id) == reference.token(id));
  CHECK(learnt.merges() == reference.merges());
}

TEST_CASE("any bytes come back from their ids") {
  const BpeTokenizer tokenizer = from_files();
  CHECK(tokenizer.decode(tokenizer.encode(all_bytes())) == all_bytes());
  std::string noise;
  for (const std::int64_t byte : xgrad::random_integers(0, 256, {20'000}, {.seed = 1}))
    noise += static_cast<char>(byte);
  CHECK(tokenizer.decode(tokenizer.encode(noise)) == noise);
  CHECK(tokenizer.encode("").shape() == Shape{0});
  CHECK(tokenizer.decode(Index(Shape{0})).empty());
  CHECK_THROWS_WITH_AS(tokenizer.decode(Index({1}, {500})), "decode: id 500 is not in [0, 500)", ValueError);
  CHECK_THROWS_WITH_AS(tokenizer.decode(Index({1}, {-1})), "decode: id -1 is not in [0, 500)", ValueError);
  CHECK_THROWS_WITH_AS(tokenizer.decode(Index({1, 2}, {1, 2})), "decode: needs ids (N), got [1, 2]", ShapeError);
  CHECK_THROWS_WITH_AS(tokenizer.token(500), "token: id 500 is not in [0, 500)", ValueError);
}

TEST_CASE("special tokens are found in a text, the longest where several begin") {
  const BpeTokenizer tokenizer = BpeTokenizer::train("aab<s><s><s> aab", {.size = 260, .special = {"<s>", "<s><s>"}});
  CHECK(tokenizer.special("<s>") == 0);
  CHECK(tokenizer.special("<s><s>") == 1);
  CHECK(tokenizer.token(258) == "aa");  // and nothing of "<s>", which is there more often
  CHECK(tokenizer.token(259) == "aab");
  CHECK(equal(tokenizer.encode("<s>aab<s><s><s>"), Index({4}, {0, 259, 1, 0})));
  CHECK(tokenizer.decode(tokenizer.encode("x<s>y")) == "x<s>y");
  CHECK_THROWS_WITH_AS(tokenizer.special("<pad>"), "special: no special token '<pad>'", ValueError);
}

TEST_CASE("learning stops where there is nothing to merge, and refuses sizes without room") {
  const BpeTokenizer tokenizer = BpeTokenizer::train("ab ab", {.size = 1000, .special = {}});
  CHECK(tokenizer.size() == 258);
  CHECK(tokenizer.token(257) == " ab");
  CHECK(BpeTokenizer::train("ab ab", {.size = 1000, .min_freq = 2, .special = {}}).size() == 257);
  CHECK(BpeTokenizer::train("", {.special = {}}).size() == 256);
  CHECK_THROWS_WITH_AS(BpeTokenizer::train("a", {.size = 256}),
                       "BpeTokenizer::train: needs a size from 257 (bytes and special tokens) to 2^31, got 256",
                       ValueError);
  CHECK_THROWS_WITH_AS(BpeTokenizer::train("a", {.special = {""}}), "BpeTokenizer::train: a special token is empty",
                       ValueError);
  CHECK_THROWS_WITH_AS(BpeTokenizer::train("a", {.special = {"x", "x"}}),
                       "BpeTokenizer::train: token 'x' is given twice", ValueError);
}

TEST_CASE("what was learnt is written in the form of GPT-2 and read again") {
  const TemporaryFolder folder;
  const BpeTokenizer tokenizer =
      BpeTokenizer::train(novel().substr(0, 20'000), {.size = 400, .special = {"<a b>", "猫"}});
  tokenizer.save(folder / "vocab.json", folder / "merges.txt");
  const BpeTokenizer again =
      BpeTokenizer::read(folder / "vocab.json", folder / "merges.txt", {.special = {"<a b>", "猫"}});
  CHECK(again.merges() == tokenizer.merges());
  const std::string text = novel().substr(0, 5000) + "<a b>猫" + all_bytes();
  CHECK(equal(again.encode(text), tokenizer.encode(text)));
  CHECK(again.decode(again.encode(text)) == text);
  CHECK_THROWS_WITH_AS(BpeTokenizer::train("a", {.special = {"!"}}).save(folder / "v", folder / "m"),
                       "BpeTokenizer::save: two tokens are written as \"!\"", ValueError);
  CHECK_FALSE(std::filesystem::exists(folder / "v"));

  from_files().save(folder / "vocab.json", folder / "merges.txt");
  CHECK(json::parse(read_text(folder / "vocab.json")) == json::parse(read_text(fixture("vocab.json"))));
  CHECK(read_text(folder / "merges.txt") == read_text(fixture("merges.txt")));
}

// A merge that goes over the whole word again would take hours.
TEST_CASE("a word of a million characters is encoded, and read back") {
  const BpeTokenizer tokenizer = from_files();
  const std::string word(1'000'000, 'e');
  CHECK(tokenizer.decode(tokenizer.encode(word)) == word);
}

TEST_CASE("files that cannot be read are IoErrors") {
  const TemporaryFolder folder;
  CHECK_THROWS_AS(BpeTokenizer::read(fixture("vocab.json"), folder / "none"), xgrad::IoError);
}

TEST_CASE("vocabularies that do not belong together are refused with file, place and reason") {
  CHECK(pair_refusal([](json&, std::string&) {}) == "accepted");
  CHECK(pair_refusal([](json& vocab, std::string&) { vocab["he"] = 1; }) ==
        "BpeTokenizer::read: vocab.json: id 1 is given to \"!\" and to \"he\"");
  CHECK(pair_refusal([](json& vocab, std::string&) { vocab["he"] = 5000; }) ==
        "BpeTokenizer::read: vocab.json: 500 tokens have ids up to 5000: id 258 is left out");
  CHECK(pair_refusal([](json& vocab, std::string&) { vocab["he"] = std::int64_t{1} << 40; }) ==
        "BpeTokenizer::read: vocab.json: expected an id for \"he\", found 1099511627776");
  CHECK(pair_refusal([](json& vocab, std::string&) { vocab["he"] = -1; }) ==
        "BpeTokenizer::read: vocab.json: expected an id for \"he\", found -1");
  CHECK(pair_refusal([](json& vocab, std::string&) { vocab["he"] = "x"; }) ==
        "BpeTokenizer::read: vocab.json: expected an id for \"he\", found \"x\"");
  CHECK(pair_refusal([](json& vocab, std::string&) {
          vocab["xy"] = vocab["Ċ"];
          vocab.erase("Ċ");
        }) == "BpeTokenizer::read: vocab.json: no token for byte 10, \"Ċ\"");
  CHECK(pair_refusal([](json& vocab, std::string&) {
          vocab["h e"] = vocab["he"];
          vocab.erase("he");
        }) == "merges.txt:3: merge of \"h\" and \"e\": \"he\" is not in the vocabulary");
  CHECK(pair_refusal([](json& vocab, std::string&) { vocab["猫"] = 500; }) ==
        "BpeTokenizer::read: vocab.json: token \"猫\" has a character that stands for no byte");
  CHECK(pair_refusal([](json& vocab, std::string&) { vocab[""] = 500; }) ==
        "BpeTokenizer::read: vocab.json: token \"\" has a character that stands for no byte");
  CHECK(pair_refusal([](json& vocab, std::string&) { vocab = json::array({1}); }) ==
        "BpeTokenizer::read: vocab.json: expected an object, found [1]");
  CHECK(pair_refusal([](json&, std::string& merges) { merges += "xq zq\n"; }) ==
        "merges.txt:245: merge of \"xq\" and \"zq\": \"xq\" is not in the vocabulary");
  CHECK(pair_refusal([](json&, std::string& merges) { merges += "h e\n"; }) ==
        "merges.txt:245: merge of \"h\" and \"e\" is given twice");
  CHECK(pair_refusal([](json&, std::string& merges) { merges += "h e r\n"; }) ==
        "merges.txt:245: expected two tokens with a space between them, found \"h e r\"");
  CHECK(pair_refusal([](json&, std::string& merges) { merges += "\n"; }) ==
        "merges.txt:245: expected two tokens with a space between them, found \"\"");
  CHECK(pair_refusal([](json&, std::string& merges) { merges += "\xFF\n"; }) ==
        "merges.txt:245: bytes that are not UTF-8");
  CHECK(pair_refusal([](json&, std::string&) {}, {.special = {"<pad>"}}) ==
        "BpeTokenizer::read: vocab.json: the special token \"<pad>\" is not in the vocabulary");
  CHECK(pair_refusal([](json&, std::string&) {}, {.special = {"<|endoftext|>", "<|endoftext|>"}}) ==
        "BpeTokenizer::read: vocab.json: token \"<|endoftext|>\" is given twice");
}

TEST_CASE("100,000 brackets in brackets are refused") {
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  const TemporaryFolder folder;
  for (const std::string& text : {deep, "{\"a\": " + deep + "}"}) {
    write_text(folder / "vocab.json", text);
    CHECK(refusal(folder, [&] { BpeTokenizer::read(folder / "vocab.json", fixture("merges.txt")); }) ==
          "BpeTokenizer::read: vocab.json: brackets are nested deeper than 64");
  }
}

TEST_CASE("the bundled text is what its description says") {
  CHECK(novel().size() == 200'638);
  CHECK(novel().starts_with("Chapter 1\n\nIt is a truth universally acknowledged"));
  CHECK(testing::count_of("\nChapter ", novel()) == 19);
  CHECK(CharacterTokenizer(novel()).size() == 74);
}
