// Text as ids: characters, words, byte-level BPE and WordPiece, beside what the package `tokenizers` gives; damaged
// files.
#include <doctest/doctest.h>

#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <functional>

#include <nlohmann/json.hpp>

#include <xgrad/core/array/random.h>
#include <xgrad/kit/files/text_file.h>
#include <xgrad/kit/program/error.h>
#include <xgrad/kit/text/pattern.h>
#include <xgrad/kit/text/tokenizer.h>
#include <xgrad/kit/text/wordpiece.h>
#include <xgrad/kit/unicode/unicode.h>

#include "support.h"
#include "support/fixtures.h"

namespace xgrad::kit::testing {
namespace {

using detail::byte_text, detail::bytes_of_text;

using nlohmann::json;
using Words = std::vector<std::string_view>;

constexpr std::array bpe_kinds{"gpt2", "llama3", "qwen2", "o200k"};
constexpr std::array bert_kinds{"bert_uncased", "bert_cased"};

std::string learnt(const std::string& name) { return xgrad::testing::fixture_path("tokenizer/" + name); }
std::string published(const std::string& name) { return xgrad::testing::fixture_path("published_tokenizers/" + name); }
json parsed(const std::string& path) { return json::parse(read_text(path)); }

const std::string& novel() {
  static const std::string text = load_text(std::filesystem::path(XGRAD_EXAMPLES_DIR) / "data/pride_and_prejudice.txt");
  return text;
}

BpeTokenizer from_files() { return BpeTokenizer::read(learnt("vocab.json"), learnt("merges.txt")); }

BpeTokenizer read_bpe(const std::string& kind) { return BpeTokenizer::read(published(kind + ".json")); }

WordPieceTokenizer read_bert(const std::string& kind) {
  return WordPieceTokenizer(published(kind + ".txt"), {.lower_case = kind == "bert_uncased"});
}

Index ids_in(const json& list) { return Index(list.get<std::vector<std::int64_t>>()); }

/// Every byte, and sequences that begin as UTF-8 and go wrong.
std::string all_bytes() {
  std::string bytes = "\xF0\x9F\x98 \xE2\x82 x\xC3\xA9\xED\xA0\x80\xC0\x80\xF5";
  for (int byte = 0; byte < 256; ++byte) bytes += static_cast<char>(byte);
  return bytes;
}

/// Compares the ids and the texts of all lines with those that the package gave.
void check_lines(const std::string& kind, const Tokenizer& tokenizer) {
  CAPTURE(kind);
  const json lines = parsed(published("lines.json"));
  const json wanted = parsed(published("ids.json")).at(kind);
  REQUIRE(lines.size() > 100);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto line = lines[i].get<std::string>();
    CAPTURE(line);
    const Index ids = ids_in(wanted["ids"][i]);
    CHECK(equal(tokenizer.encode(line), ids));
    const json& decoded = wanted["decoded"][i];
    CHECK(tokenizer.decode(ids) == (decoded.is_null() ? line : decoded.get<std::string>()));
  }
}

/// A change to a file in JSON: the value at a place, or none there.
struct Change {
  std::string place;
  json value;

  json operator()(json file) const {
    if (value.is_null()) return file.patch(json::array({json::object({{"op", "remove"}, {"path", place}})}));
    file[json::json_pointer(place)] = value;
    return file;
  }
  /// The place as errors have it: added_tokens[1].lstrip of /added_tokens/1/lstrip.
  std::string field() const {
    std::string name;
    for (json::json_pointer part(place); !part.empty(); part.pop_back()) {
      const bool is_number = std::isdigit(static_cast<unsigned char>(part.back()[0])) != 0;
      const std::string before = name.empty() || name[0] == '[' ? name : "." + name;
      name = (is_number ? "[" + part.back() + "]" : part.back()) + before;
    }
    return name;
  }
};

/// The error of reading a vocabulary and merges.
std::string refusal_of_pair(const json& vocab, const std::string& merges, const BpeOptions& options = {}) {
  const TemporaryFolder folder;
  write_text(folder / "vocab.json", vocab.dump());
  write_text(folder / "merges.txt", merges);
  return refusal<FormatError>(folder,
                              [&] { BpeTokenizer::read(folder / "vocab.json", folder / "merges.txt", options); });
}

/// The error of reading a tokenizer.json, without its begin.
std::string refusal_of_text(std::string_view text) {
  const TemporaryFolder folder;
  const auto path = write_text(folder / "tokenizer.json", text);
  const std::string message = refusal<FormatError>(folder, [&] { BpeTokenizer::read(path); });
  const std::string begin = "BpeTokenizer::read: tokenizer.json: ";
  return message.starts_with(begin) ? message.substr(begin.size()) : message;
}

std::string refusal_of(const std::string& kind, const std::function<json(json)>& change) {
  return refusal_of_text(change(parsed(published(kind + ".json"))).dump());
}

}  // namespace

TEST_CASE("characters have ids in the order of Unicode, and come back as they were") {
  const CharacterTokenizer tokenizer("ça va 猫?");
  CHECK(tokenizer.decode(Index({6}, {0, 1, 2, 3, 4, 5})) == " ?avç猫");
  CHECK(tokenizer.size() == 6);
  CHECK(equal(tokenizer.encode("va 猫"), Index({4}, {3, 2, 0, 5})));
  CHECK(tokenizer.decode(tokenizer.encode("ça va 猫?")) == "ça va 猫?");
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

  CHECK_REFUSED(ValueError, WordTokenizer("a", {.reserved = {}}).encode("b"), "vocab",
                "unknown token 'b' and no <unk>");
  CHECK_THROWS_AS(WordTokenizer("a", {.reserved = {"x", "x"}}), ValueError);
  CHECK_THROWS_AS(WordTokenizer("\xFF"), ValueError);
  CHECK_THROWS_AS(tokenizer.encode("\xFF"), ValueError);
  CHECK_THROWS_AS(tokenizer.decode(Index({1}, {7})), ValueError);
  CHECK_THROWS_AS(tokenizer.decode(Index({1, 1}, {0})), ShapeError);
}

TEST_CASE("the pattern of GPT-2 splits at contractions, classes and spaces") {
  const Pattern pattern(gpt2_pattern);
  const auto gpt2_words = [&](std::string_view text) { return pattern.split(text); };
  CHECK(gpt2_words("Hello, world!") == Words{"Hello", ",", " world", "!"});
  CHECK(gpt2_words("I'm she'll I'M 'tis") == Words{"I", "'m", " she", "'ll", " I", "'", "M", " '", "tis"});
  CHECK(gpt2_words("x2 = 10") == Words{"x", "2", " =", " 10"});
  CHECK(gpt2_words("a   b  ") == Words{"a", "  ", " b", "  "});
  CHECK(gpt2_words("a\n\n b") == Words{"a", "\n\n", " b"});
  CHECK(gpt2_words("a\n\nb") == Words{"a", "\n", "\n", "b"});
  CHECK(gpt2_words("a\u3000\u3000b") == Words{"a", "\u3000", "\u3000", "b"});
  CHECK(gpt2_words("e\u0301!") == Words{"e", "\u0301!"});
  CHECK(gpt2_words("\xFF\xFE z") == Words{"\xFF\xFE", " z"});
  CHECK(gpt2_words("").empty());
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
  for (const char32_t c : std::u32string_view(U"azAZÉλЖ猫あʰªǅ09½²Ⅷ٣\u0301\u093F\u20DD")) {
    CHECK(is_word_character(c));
    CHECK_FALSE(is_space(c));
  }
  for (const char32_t c : std::u32string_view(U" \t\n\v\f\r\u0085\u00A0\u1680\u2003\u2028\u2029\u202F\u205F\u3000")) {
    CHECK(is_space(c));
    CHECK_FALSE(is_word_character(c));
  }
  for (const char32_t c :
       {U'\x08', U'\x0E', U'.', U'/', U':', U'@', U'[', U'_', U'`', U'{', U'\x1C', U'\u200B', U'\uFEFF', U'😀', U'\uE000', char32_t{0}, char32_t{0x110000}}) {
    CHECK_FALSE(is_word_character(c));
    CHECK_FALSE(is_space(c));
  }
  CHECK(lower_case(U'Ж') == U'ж');
  CHECK(lower_case(U'ß') == U'ß');
  CHECK(lower_case(U'猫') == U'猫');
}

TEST_CASE("texts of all kinds have the ids that the package tokenizers gives") {
  const json cases = parsed(learnt("encodings.json"));
  REQUIRE(cases.size() > 250);
  const BpeTokenizer pair = from_files();
  const BpeTokenizer whole = BpeTokenizer::read(learnt("tokenizer.json"));
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
  for (const std::int64_t byte : randint(0, 256, {20'000}, {.seed = 1})) noise += static_cast<char>(byte);
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
  constexpr std::int64_t most = std::int64_t{1} << 31;
  CHECK(BpeTokenizer::train("", {.size = most, .special = {}}).size() == 256);
  CHECK_THROWS_AS(BpeTokenizer::train("", {.size = most + 1}), ValueError);
  constexpr const char* train = "BpeTokenizer::train";
  CHECK_REFUSED(ValueError, BpeTokenizer::train("a", {.size = 256}), train, "a size from 257", "to 2^31, got 256");
  CHECK_REFUSED(ValueError, BpeTokenizer::train("a", {.special = {""}}), train, "a special token is empty");
  CHECK_REFUSED(ValueError, BpeTokenizer::train("a", {.special = {"x", "x"}}), train, "token 'x' is given twice");
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
  CHECK_REFUSED(ValueError, BpeTokenizer::train("a", {.special = {"!"}}).save(folder / "v", folder / "m"),
                "BpeTokenizer::save", "two tokens are written as \"!\"");
  CHECK_FALSE(std::filesystem::exists(folder / "v"));

  from_files().save(folder / "vocab.json", folder / "merges.txt");
  CHECK(parsed((folder / "vocab.json").string()) == parsed(learnt("vocab.json")));
  CHECK(read_text(folder / "merges.txt") == read_text(learnt("merges.txt")));
}

// A merge that goes over the whole word again would take hours.
TEST_CASE("a word of a million characters is encoded, and read back") {
  const BpeTokenizer tokenizer = from_files();
  const std::string word(1'000'000, 'e');
  CHECK(tokenizer.decode(tokenizer.encode(word)) == word);
}

TEST_CASE("vocabularies that do not belong together are refused with file, place and reason") {
  const json vocab = parsed(learnt("vocab.json"));
  const std::string merges = read_text(learnt("merges.txt")), read = "BpeTokenizer::read: vocab.json: ";
  CHECK(refusal_of_pair(vocab, merges) == "accepted");
  const std::vector<std::pair<Change, const char*>> vocabularies{
      {{"/he", 1}, "id 1 is given to \"!\" and to \"he\""},
      {{"/he", 5000}, "500 tokens have ids up to 5000: id 258 is left out"},
      {{"/<|endoftext|>", 5000}, "500 tokens have ids up to 5000: id 0 is left out"},
      {{"/he", std::int64_t{1} << 31}, "500 tokens have ids up to 2147483648: id 258 is left out"},
      {{"/he", (std::int64_t{1} << 31) + 1}, "expected an id for \"he\", found 2147483649"},
      {{"/he", -1}, "expected an id for \"he\", found -1"},
      {{"/he", "x"}, "expected an id for \"he\", found \"x\""},
      {{"/猫", 500}, "token \"猫\" has a character that stands for no byte"},
      {{"/", 500}, "token \"\" has a character that stands for no byte"},
      {{"", json::array({1})}, "expected an object, found [1]"}};
  for (const auto& [change, why] : vocabularies) CHECK(refusal_of_pair(change(vocab), merges) == read + why);
  const auto renamed = [&](const char* from, const char* to, const BpeOptions& options = {}) {
    json other = vocab;
    other[to] = other[from];
    other.erase(from);
    return refusal_of_pair(other, merges, options);
  };
  CHECK(renamed("Ċ", "xy") == read + "no token for byte 10, \"Ċ\"");
  CHECK(renamed("Ċ", "ĊĊ") == read + "no token for byte 10, \"Ċ\"");  // which longer tokens do not make up for
  CHECK(renamed("Ċ", "\n", {.special = {"\n"}}) == read + "no token for byte 10, \"Ċ\"");  // nor special ones
  CHECK(renamed("he", "h e") == "merges.txt:3: merge of \"h\" and \"e\": \"he\" is not in the vocabulary");
  const std::vector<std::pair<const char*, const char*>> last_lines{
      {"xq zq", "merge of \"xq\" and \"zq\": \"xq\" is not in the vocabulary"},
      {"h e", "merge of \"h\" and \"e\" is given twice"},
      {"h e r", "expected two tokens with a space between them, found \"h e r\""},
      {"", "expected two tokens with a space between them, found \"\""},
      {"\xFF", "bytes that are not UTF-8"}};
  for (const auto& [line, why] : last_lines) {
    CHECK(refusal_of_pair(vocab, merges + line + "\n") == std::string("merges.txt:245: ") + why);
  }
  CHECK(refusal_of_pair(vocab, merges, {.special = {"<pad>"}}) ==
        read + "the special token \"<pad>\" is not in the vocabulary");
  CHECK(refusal_of_pair(vocab, merges, {.special = {"<|endoftext|>", "<|endoftext|>"}}) ==
        read + "token \"<|endoftext|>\" is given twice");
  CHECK_THROWS_AS(BpeTokenizer::read(learnt("vocab.json"), TemporaryFolder() / "none"), IoError);
}

TEST_CASE("the bundled text is what its description says") {
  CHECK(novel().size() == 200'638);
  CHECK(novel().starts_with("Chapter 1\n\nIt is a truth universally acknowledged"));
  CHECK(count_of("\nChapter ", novel()) == 19);
  CHECK(CharacterTokenizer(novel()).size() == 74);
}

TEST_CASE("published tokenizers give the ids and the texts of the package tokenizers") {
  for (const char* kind : bpe_kinds) check_lines(kind, read_bpe(kind));
  for (const char* kind : bert_kinds) {
    const WordPieceTokenizer tokenizer = read_bert(kind);
    check_lines(kind, tokenizer);
    const json wanted = parsed(published("ids.json")).at(kind);
    const EncodedPair pair = tokenizer.encode_pair("A text.", "Another one");
    CHECK(equal(pair.ids, ids_in(wanted["pair"])));
    CHECK(equal(pair.segments, ids_in(wanted["segments"])));
  }
}

TEST_CASE("a vocabulary of WordPiece names its tokens, and special ones are left out of texts") {
  const TemporaryFolder folder;
  write_text(folder / "vocab.txt", read_text(published("bert_uncased.txt")));
  const WordPieceTokenizer tokenizer(folder.path());
  CHECK(tokenizer.size() == 420);
  CHECK(tokenizer.vocab().id("[CLS]") == 2);
  CHECK(tokenizer.vocab().token(3) == "[SEP]");
  const Index ids = tokenizer.encode("Hello , world !");
  CHECK(tokenizer.decode(ids) == "hello, world!");
  CHECK(tokenizer.decode(Index(Shape{0})).empty());
  CHECK_THROWS_WITH_AS(tokenizer.decode(Index({1}, {420})), "decode: id 420 is not in [0, 420)", ValueError);
  CHECK_THROWS_WITH_AS(tokenizer.decode(Index({1, 1}, {0})), "decode: needs ids (N), got [1, 1]", ShapeError);
}

TEST_CASE("a Chinese character is a word, to the ends of its blocks; a word of more than 100 characters is unknown") {
  const std::u32string
      first_and_last =
          U"\U00004E00\U00009FFF\U00003400\U00004DBF\U00020000\U0002A6DF\U0002A700\U0002B73F\U0002B740\U0002B81F"
          U"\U0002B920\U0002CEAF\U0000F900\U0000FAFF\U0002F800\U0002FA1F",
      outside =
          U"\U00004DFF\U0000A000\U000033FF\U00004DC0\U0001FFFF\U0002A6E0\U0002A6FF\U0002B820\U0002B91F\U0002CEB0"
          U"\U0000FB00\U0002F7FF\U0002FA20";
  std::string vocab = "[UNK]\n[CLS]\n[SEP]\nx\n##x\n";
  for (const char32_t c : first_and_last) vocab += encode_utf8({&c, 1}) + "\n";
  const TemporaryFolder folder;
  const WordPieceTokenizer tokenizer(write_text(folder / "vocab.txt", vocab), {.lower_case = false});
  for (std::int64_t id = 5; const char32_t c : first_and_last) {
    CHECK(equal(tokenizer.encode("x" + encode_utf8({&c, 1}) + "x"), Index({5}, {1, 3, id++, 3, 2})));
  }
  for (const char32_t c : outside) {
    CHECK(equal(tokenizer.encode("x" + encode_utf8({&c, 1}) + "x"), Index({3}, {1, 0, 2})));
  }
  CHECK(equal(tokenizer.encode("x\uFFFD\u200Bx"), Index({4}, {1, 3, 4, 2})));  // what stands for no character goes
  CHECK(tokenizer.encode(std::string(100, 'x')).size() == 102);
  CHECK(equal(tokenizer.encode(std::string(101, 'x')), Index({3}, {1, 0, 2})));
}

TEST_CASE("vocabularies of WordPiece that are damaged are refused with their line") {
  const TemporaryFolder folder;
  const auto why = [&](std::string_view text) {
    write_text(folder / "vocab.txt", text);
    const std::string message = refusal<FormatError>(folder, [&] { WordPieceTokenizer tokenizer(folder.path()); });
    return message.substr(message.find("vocab.txt") == message.npos ? 0 : message.find("vocab.txt"));
  };
  CHECK(why("[UNK]\n[CLS]\n[SEP]\na\n") == "accepted");
  CHECK(why("[UNK]\n[CLS]\n[SEP]\na\nb\na\n") == "vocab.txt:6: \"a\" is given twice");
  CHECK(why("[UNK]\n[CLS]\na\n") == "vocab.txt: has no [SEP]");
  CHECK(why("[UNK]\n[CLS]\n\xFF\n") == "vocab.txt:3: bytes that are not UTF-8");
  CHECK_THROWS_AS(WordPieceTokenizer(folder / "none"), IoError);
}

TEST_CASE("text that is not UTF-8 is refused where characters are looked at, and comes back elsewhere") {
  const BpeTokenizer composing = read_bpe("qwen2");
  for (const char* text : {"ab\xFF", "ab\xC3", "ab\xED\xA0\x80", "ab\xC0\x80"}) {
    const char* wanted = "encode: the text is not UTF-8 at byte 2";
    CHECK_THROWS_WITH_AS(composing.encode(text), wanted, ValueError);
    for (const char* kind : bert_kinds) CHECK_THROWS_WITH_AS(read_bert(kind).encode(text), wanted, ValueError);
    const BpeTokenizer bytes = read_bpe("gpt2");
    CHECK(bytes.decode(bytes.encode(text)) == text);
  }
}

TEST_CASE("a character in several tokens comes back byte by byte") {
  const BpeTokenizer tokenizer = read_bpe("gpt2");
  const Index ids = tokenizer.encode("a\U00020001");
  std::string text;
  for (const std::int64_t id : ids) text += tokenizer.decode(Index({1}, id));
  CHECK(text == "a\U00020001");
  CHECK(ids.size() >= 5);
}

TEST_CASE("parts that say the same otherwise mean the same") {
  const std::string text = "Hello  naïve\tworld 12,34 don't \u4f60\u597d!";
  json file = parsed(published("gpt2.json"));
  file["model"].erase("type");
  file["model"]["dropout"] = 0;
  file["model"].erase("ignore_merges");
  file.erase("decoder");
  for (json& merge : file["model"]["merges"]) merge = merge[0].get<std::string>() + " " + merge[1].get<std::string>();
  const TemporaryFolder folder;
  write_text(folder / "tokenizer.json", file.dump());
  const BpeTokenizer same = BpeTokenizer::read(folder.path());
  CHECK(equal(same.encode(text), read_bpe("gpt2").encode(text)));
  file = parsed(published("llama3.json"));
  json& steps = file["post_processor"]["processors"];  // of which one alone changes tokens
  std::swap(steps[0], steps[1]);
  write_text(folder / "tokenizer.json", file.dump());
  CHECK(equal(BpeTokenizer::read(folder.path()).encode(text), read_bpe("llama3").encode(text)));
}

TEST_CASE("a pattern is an expression whose matches and the text between them cover a text") {
  CHECK(Pattern(R"(\d+)").split("a12b\xFF\xFE"
                                "3") == Words{"a", "12", "b", "\xFF\xFE", "3"});
  // White space is what Unicode calls so, also within [].
  for (const char* space : {" ", "\t", "\u0085", "\u00A0", "\u2028", "\u3000"}) {
    CAPTURE(space);
    CHECK(Pattern(R"(\s)").split(str("a", space, "b")).size() == 3);
    CHECK(Pattern(R"([\sx])").split(str("a", space, "b")).size() == 3);
    CHECK(Pattern(R"(\S)").split(str("a", space, "b")).size() == 3);
  }
  for (const char* other : {R"(\s)", R"(b?\s)"}) CHECK(Pattern(other).split("a\u180Eb").size() == 1);
  CHECK(Pattern(R"(\\s)").split("a\\sb") == Words{"a", "\\s", "b"});
  CHECK_REFUSED(ValueError, Pattern("a("), "Pattern", "no expression of PCRE2: missing closing parenthesis in \"a(\"");
  CHECK_REFUSED(ValueError, Pattern("a*"), "Pattern", "the expression matches the empty text: \"a*\"");
  CHECK_THROWS_AS(Pattern("\xFF"), ValueError);
  CHECK_THROWS_AS(Pattern("(a+)+$").split(std::string(40, 'a') + "b"), LimitError);
}

TEST_CASE("tokenizers beside that of GPT-2 are not written in its form") {
  const TemporaryFolder folder;
  for (const char* kind : {"llama3", "qwen2", "o200k"}) {
    CHECK_THROWS_WITH_AS(read_bpe(kind).save(folder / "vocab.json", folder / "merges.txt"),
                         "BpeTokenizer::save: the two files hold tokenizers like that of GPT-2 alone", ValueError);
  }
  CHECK(read_bpe("llama3").special("<s>") == 0);
}

TEST_CASE("100 kB without a space, or of spaces alone, are twice the tokens of their half with each kind") {
  std::string chinese, mixed;
  while (chinese.size() < 100'000) chinese += "世";
  while (mixed.size() < 100'000) mixed += "ab<x.\u0301";
  const auto check_sizes = [&](const Tokenizer& tokenizer) {
    for (const std::string& text :
         {std::string(100'000, ' '), std::string(100'000, '\n'), std::string(100'000, '<'), chinese, mixed}) {
      const std::int64_t whole = tokenizer.encode(text).size();
      const std::int64_t half = tokenizer.encode(text.substr(0, text.size() / 2)).size();
      CHECK(std::abs(whole - 2 * half) <= 8);
    }
  };
  for (const char* kind : bpe_kinds) {
    CAPTURE(kind);
    const BpeTokenizer tokenizer = read_bpe(kind);
    check_sizes(tokenizer);
    const std::int64_t letters = tokenizer.encode(std::string(100'000, 'e')).size();
    CHECK(std::abs(letters - 2 * tokenizer.encode(std::string(50'000, 'e')).size()) <= 8);
  }
  for (const char* kind : bert_kinds) {
    CAPTURE(kind);
    check_sizes(read_bert(kind));
    CHECK(read_bert(kind).encode(std::string(100'000, 'e')).size() == 3);  // one unknown word
  }
}

TEST_CASE("what a tokenizer's file asks for that is not read, and what is damaged in it, is refused with its field") {
  struct Row {
    const char* kind;
    Change change;
    const char* why = "";
  };
  const std::vector<Row> unsupported{{"gpt2", {"/model/type", "Unigram"}},
                                     {"gpt2", {"/model/dropout", 0.1}},
                                     {"gpt2", {"/model/end_of_word_suffix", "</w>"}},
                                     {"gpt2", {"/model/continuing_subword_prefix", "##"}},
                                     {"gpt2", {"/decoder/type", "Other"}},
                                     {"gpt2", {"/post_processor/type", "Other"}},
                                     {"gpt2", {"/pre_tokenizer/type", "Other"}},
                                     {"gpt2", {"/pre_tokenizer/add_prefix_space", true}},
                                     {"gpt2", {"/added_tokens/1/single_word", true}},
                                     {"gpt2", {"/added_tokens/1/lstrip", true}},
                                     {"gpt2", {"/added_tokens/1/rstrip", true}},
                                     {"qwen2", {"/added_tokens/1/normalized", true}},
                                     {"qwen2", {"/normalizer/type", "NFKC"}},
                                     {"llama3", {"/pre_tokenizer/pretokenizers/0/type", "Digits"}},
                                     {"llama3", {"/pre_tokenizer/pretokenizers/0/invert", true}},
                                     {"llama3", {"/pre_tokenizer/pretokenizers/0/behavior", "Removed"}},
                                     {"llama3", {"/pre_tokenizer/pretokenizers/1/use_regex", true}},
                                     {"llama3", {"/post_processor/processors/1/type", "RobertaProcessing"}}};
  for (const Row& row : unsupported) {
    CAPTURE(row.change.place);
    CHECK(refusal_of(row.kind, row.change) == str(row.change.field(), ": ", row.change.value.dump(), " is not supported"));
  }
  const std::vector<Row> read{{"gpt2", {"/model/dropout", nullptr}},
                              {"gpt2", {"/model/end_of_word_suffix", ""}},
                              {"gpt2", {"/model/continuing_subword_prefix", nullptr}},
                              {"gpt2", {"/pre_tokenizer/use_regex", nullptr}},
                              {"gpt2", {"/added_tokens/1/normalized", true}},
                              {"gpt2", {"/added_tokens/1/lstrip", nullptr}},
                              {"qwen2", {"/added_tokens/1/normalized", nullptr}},  // since it is a special token
                              {"llama3", {"/pre_tokenizer/pretokenizers/0/invert", nullptr}},
                              {"llama3", {"/pre_tokenizer/pretokenizers/0/pattern/Regex", "\\p{L}+|\\s"}}};
  for (const Row& row : read) {
    CAPTURE(row.change.place);
    CHECK(refusal_of(row.kind, row.change) == "accepted");
  }
  // What is not there has a value that is not supported.
  for (const Row& row : {Row{"gpt2", {"/pre_tokenizer/add_prefix_space", nullptr}},
                         Row{"llama3", {"/pre_tokenizer/pretokenizers/1/use_regex", nullptr}},
                         Row{"qwen2", {"/added_tokens/2/normalized", nullptr}}}) {
    CHECK(refusal_of(row.kind, row.change) == row.change.field() + ": true is not supported");
  }
  const std::vector<Row> damaged{
      {"llama3",
       {"/pre_tokenizer/pretokenizers/0", nullptr},
       "pre_tokenizer.pretokenizers: expected Split and ByteLevel, found 1 steps"},
      {"llama3",
       {"/pre_tokenizer/pretokenizers/0/pattern/Regex", "\\p{L}+|("},
       "pre_tokenizer.pretokenizers[0].pattern.Regex: Pattern: no expression of PCRE2: missing closing parenthesis in "
       "\"\\p{L}+|(\""},
      {"gpt2", {"/model", nullptr}, "model: expected an object, found nothing"},
      {"gpt2", {"/model/vocab", 1}, "model.vocab: expected an object, found 1"},
      {"gpt2", {"/model/vocab/!", 7}, "model.vocab: id 7 is given to \"!\" and to \"'\""},
      {"gpt2", {"/model/vocab/!", 1e30}, "model.vocab: expected an id for \"!\", found 1e+30"},
      {"gpt2",
       {"/model/merges/2", json::array({"xq", "z"})},
       "model.merges[2]: merge of \"xq\" and \"z\": \"xq\" is not in the vocabulary"},
      {"gpt2",
       {"/model/merges/2", "abc"},
       "model.merges[2]: expected two tokens with a space between them, found \"abc\""},
      {"gpt2", {"/model/merges/2", json::array({"a", 1})}, "model.merges[2][1]: expected a text, found 1"},
      {"gpt2",
       {"/model/merges/2", json::array({"a", "b", "c"})},
       "model.merges[2]: expected a text, found [\"a\",\"b\",\"c\"]"},
      {"gpt2", {"/model/ignore_merges", 1}, "model.ignore_merges: expected true or false, found 1"},
      {"gpt2", {"/added_tokens", 1}, "added_tokens: expected a list, found 1"},
      {"gpt2", {"/added_tokens/0/content", ""}, "added_tokens[0]: a special token is empty"},
      {"gpt2", {"/added_tokens/0/id", 9}, "added_tokens[0]: token \"<|end|>\" has id 9, but 0 in the vocabulary"},
      {"gpt2", {"/added_tokens/1/id", 7}, "added_tokens[1]: id 7 is given to \"'\" and to \"New York\""},
      {"gpt2", {"/added_tokens/1/id", 500}, "model.vocab: 452 tokens have ids up to 500: id 450 is left out"},
      {"gpt2",
       {"/added_tokens/1/id", std::int64_t{1} << 31},
       "model.vocab: 452 tokens have ids up to 2147483648: id 450 is left out"},
      {"gpt2",
       {"/added_tokens/1/id", (std::int64_t{1} << 31) + 1},
       "added_tokens[1].id: expected an id, found 2147483649"},
      {"llama3",
       {"/post_processor/processors/1/single/0/SpecialToken/id", "<none>"},
       "post_processor.processors[1].single[0].SpecialToken.id: \"<none>\" is not in the vocabulary"}};
  for (const Row& row : damaged) {
    CAPTURE(row.change.place);
    CHECK(refusal_of(row.kind, row.change) == row.why);
  }
  CHECK(refusal_of("llama3", [](json file) {
          json& single = file["post_processor"]["processors"][1]["single"];
          std::swap(single[0], single[1]);
          return file;
        }) == "post_processor.processors[1].single: tokens are supported before the text alone");
  CHECK(refusal_of("gpt2", [](json file) {
          file["added_tokens"][2] = file["added_tokens"][1];
          return file;
        }) == "added_tokens[2]: token \"New York\" is given twice");
  CHECK(refusal_of_text("") == "is not valid JSON at byte 0");
  CHECK(refusal_of_text("[]") == "expected an object, found []");
  CHECK(refusal_of_text(std::string(100'000, '[')) == "brackets are nested deeper than 64");
  const std::string whole = read_text(published("llama3.json"));
  for (std::size_t size = 0; size + 2 < whole.size(); size += 401) {
    CHECK(refusal_of_text(whole.substr(0, size)).starts_with("is not valid JSON at byte"));
  }
  CHECK_THROWS_AS(BpeTokenizer::read(TemporaryFolder().path()), IoError);
}

}  // namespace xgrad::kit::testing
