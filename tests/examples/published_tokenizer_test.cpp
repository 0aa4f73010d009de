// Tokenizers of published models beside what the package `tokenizers` gives, and files that are damaged.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <functional>

#include <nlohmann/json.hpp>

#include <xgrad/kit/text/tokenizer.h>
#include <xgrad/kit/text/wordpiece.h>

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

constexpr std::array bpe_kinds{"gpt2", "llama3", "qwen2"};
constexpr std::array bert_kinds{"bert_uncased", "bert_cased"};

std::filesystem::path fixture(const std::string& file) {
  return xgrad::testing::fixture_path("published_tokenizers/" + file);
}

BpeTokenizer read_bpe(const std::string& kind) { return BpeTokenizer::read(fixture(kind + ".json")); }

WordPieceTokenizer read_bert(const std::string& kind) {
  return WordPieceTokenizer(fixture(kind + ".txt"), {.lower_case = kind == "bert_uncased"});
}

Index ids_in(const json& list) { return Index(list.get<std::vector<std::int64_t>>()); }

/// Compares the ids and the texts of all lines with those that the package gave.
void check_lines(const std::string& kind, const Tokenizer& tokenizer) {
  CAPTURE(kind);
  const json lines = json::parse(read_text(fixture("lines.json")));
  const json wanted = json::parse(read_text(fixture("ids.json"))).at(kind);
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

/// The tokenizer of a file with `change` made to it.
BpeTokenizer changed(const std::string& kind, const std::function<void(json& file)>& change) {
  const TemporaryFolder folder;
  json file = json::parse(read_text(fixture(kind + ".json")));
  change(file);
  write_text(folder / "tokenizer.json", file.dump());
  return BpeTokenizer::read(folder.path());
}

/// The message of the FormatError of a text, without the folder.
std::string refusal_of_text(std::string_view text) {
  const TemporaryFolder folder;
  write_text(folder / "tokenizer.json", text);
  try {
    BpeTokenizer::read(folder / "tokenizer.json");
  } catch (const FormatError& error) {
    const std::string message = error.what();
    const std::string start = "BpeTokenizer::read: " + (folder / "tokenizer.json").string() + ": ";
    REQUIRE(message.starts_with(start));
    return message.substr(start.size());
  }
  return "accepted";
}

std::string refusal(const std::string& kind, const std::function<void(json& file)>& change) {
  json file = json::parse(read_text(fixture(kind + ".json")));
  change(file);
  return refusal_of_text(file.dump());
}

}  // namespace

TEST_CASE("published tokenizers give the ids and the texts of the package tokenizers") {
  for (const char* kind : bpe_kinds) check_lines(kind, read_bpe(kind));
  for (const char* kind : bert_kinds) {
    const WordPieceTokenizer tokenizer = read_bert(kind);
    check_lines(kind, tokenizer);
    const json wanted = json::parse(read_text(fixture("ids.json"))).at(kind);
    const EncodedPair pair = tokenizer.encode_pair("A text.", "Another one");
    CHECK(equal(pair.ids, ids_in(wanted["pair"])));
    CHECK(equal(pair.segments, ids_in(wanted["segments"])));
  }
}

TEST_CASE("a vocabulary of WordPiece names its tokens, and special ones are left out of texts") {
  const TemporaryFolder folder;
  write_text(folder / "vocab.txt", read_text(fixture("bert_uncased.txt")));
  const WordPieceTokenizer tokenizer(folder.path());
  CHECK(tokenizer.size() == 420);
  CHECK(tokenizer.vocab().id("[CLS]") == 2);
  CHECK(tokenizer.vocab().token(3) == "[SEP]");
  const Index ids = tokenizer.encode("Hello , world !");
  CHECK(tokenizer.decode(ids) == "hello, world!");
  CHECK(tokenizer.decode(Index(Shape{0})).empty());
  CHECK_THROWS_WITH_AS(tokenizer.decode(Index({1}, {420})), "vocab: id 420 is not in [0, 420)", ValueError);
  CHECK_THROWS_WITH_AS(tokenizer.decode(Index({1, 1}, {0})), "decode: needs ids (N), got [1, 1]", ShapeError);
}

TEST_CASE("vocabularies of WordPiece that are damaged are refused with their line") {
  const TemporaryFolder folder;
  const auto why = [&](std::string_view text) {
    write_text(folder / "vocab.txt", text);
    try {
      WordPieceTokenizer tokenizer(folder.path());
    } catch (const FormatError& error) {
      const std::string message = error.what(), file = (folder / "vocab.txt").string();
      return message.substr(message.find(file) + file.size());
    }
    return std::string("accepted");
  };
  CHECK(why("[UNK]\n[CLS]\n[SEP]\na\n") == "accepted");
  CHECK(why("[UNK]\n[CLS]\n[SEP]\na\nb\na\n") == ":6: \"a\" is given twice");
  CHECK(why("[UNK]\n[CLS]\na\n") == ": has no [SEP]");
  CHECK(why("[UNK]\n[CLS]\n\xFF\n") == ":3: bytes that are not UTF-8");
  CHECK_THROWS_AS(WordPieceTokenizer(folder / "none"), xgrad::IoError);
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
  const BpeTokenizer same = changed("gpt2", [](json& file) {
    file["model"].erase("type");
    file["model"]["dropout"] = 0;
    file.erase("decoder");
    for (json& merge : file["model"]["merges"]) merge = merge[0].get<std::string>() + " " + merge[1].get<std::string>();
  });
  CHECK(equal(same.encode(text), read_bpe("gpt2").encode(text)));
}

TEST_CASE("the pattern of Llama 3 splits at contractions, classes, numbers of three digits and ends of lines") {
  CHECK(llama3_words("I'M she'LL 'tis it'\u017F") ==
        std::vector<std::string_view>{"I", "'M", " she", "'LL", " '", "tis", " it", "'\u017F"});
  CHECK(llama3_words("x12345 (a)!\n\nb") ==
        std::vector<std::string_view>{"x", "123", "45", " (", "a", ")!\n\n", "b"});
  CHECK(llama3_words("a \n \n  b  ") == std::vector<std::string_view>{"a", " \n \n", " ", " b", "  "});
  CHECK(qwen2_words("\t12") == std::vector<std::string_view>{"\t", "1", "2"});
}

TEST_CASE("tokenizers beside that of GPT-2 are not written in its form") {
  const TemporaryFolder folder;
  for (const char* kind : {"llama3", "qwen2"}) {
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
    for (const std::string& text : {std::string(100'000, ' '), std::string(100'000, '\n'), std::string(100'000, '<'),
                                    chinese, mixed}) {
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

TEST_CASE("what a file asks for that is not read is refused with its field") {
  const auto type = [](const char* field) {
    return refusal("gpt2", [&](json& file) { file[field]["type"] = "Other"; });
  };
  for (const char* field : {"pre_tokenizer", "model", "decoder", "post_processor"}) {
    CHECK(type(field) == std::string(field) + ".type: \"Other\" is not supported");
  }
  CHECK(refusal("gpt2", [](json& file) { file["model"]["type"] = "Unigram"; }) ==
        "model.type: \"Unigram\" is not supported");
  CHECK(refusal("gpt2", [](json& file) { file["model"]["dropout"] = 0.1; }) == "model.dropout: 0.1 is not supported");
  CHECK(refusal("gpt2", [](json& file) { file["model"]["end_of_word_suffix"] = "</w>"; }) ==
        "model.end_of_word_suffix: \"</w>\" is not supported");
  CHECK(refusal("qwen2", [](json& file) { file["normalizer"]["type"] = "NFKC"; }) ==
        "normalizer.type: \"NFKC\" is not supported");
  CHECK(refusal("gpt2", [](json& file) { file["pre_tokenizer"]["add_prefix_space"] = true; }) ==
        "pre_tokenizer.add_prefix_space: true is not supported");
  CHECK(refusal("llama3", [](json& file) { file["pre_tokenizer"]["pretokenizers"][0]["behavior"] = "Removed"; }) ==
        "pre_tokenizer.pretokenizers[0].behavior: \"Removed\" is not supported");
  CHECK(refusal("llama3", [](json& file) { file["pre_tokenizer"]["pretokenizers"][1]["use_regex"] = true; }) ==
        "pre_tokenizer.pretokenizers[1].use_regex: true is not supported");
  CHECK(refusal("llama3", [](json& file) { file["pre_tokenizer"]["pretokenizers"].erase(0); }) ==
        "pre_tokenizer.pretokenizers: expected Split and ByteLevel, found 1 steps");
  CHECK(refusal("llama3", [](json& file) {
          file["pre_tokenizer"]["pretokenizers"][0]["pattern"]["Regex"] = "\\p{L}+|\\s";
        }) == "pre_tokenizer.pretokenizers[0].pattern.Regex: neither the pattern of Llama 3 nor that of Qwen 2");
  CHECK(refusal("llama3", [](json& file) {
          json& single = file["post_processor"]["processors"][1]["single"];
          std::swap(single[0], single[1]);
        }) == "post_processor.processors[1].single: tokens are supported before the text alone");
  for (const char* flag : {"single_word", "lstrip", "rstrip"}) {
    CHECK(refusal("gpt2", [&](json& file) { file["added_tokens"][1][flag] = true; }) ==
          std::string("added_tokens[1].") + flag + ": true is not supported");
  }
  CHECK(refusal("gpt2", [](json& file) { file["added_tokens"][1]["normalized"] = true; }) == "accepted");
  CHECK(refusal("qwen2", [](json& file) { file["added_tokens"][1]["normalized"] = true; }) ==
        "added_tokens[1].normalized: true is not supported");
}

TEST_CASE("files of tokenizers that are damaged are refused with their field") {
  using Change = std::function<void(json & file)>;
  struct Case {
    const char* kind;
    Change change;
    const char* why;
  };
  const std::vector<Case> cases = {
      {"gpt2", [](json& f) { f.erase("model"); }, "model: expected an object, found nothing"},
      {"gpt2", [](json& f) { f["model"]["vocab"] = 1; }, "model.vocab: expected an object, found 1"},
      {"gpt2", [](json& f) { f["model"]["vocab"]["!"] = 7; }, "model.vocab: id 7 is given to \"!\" and to \"'\""},
      {"gpt2", [](json& f) { f["model"]["vocab"]["!"] = -1; }, "model.vocab: expected an id for \"!\", found -1"},
      {"gpt2", [](json& f) { f["model"]["vocab"]["!"] = 1e30; }, "model.vocab: expected an id for \"!\", found 1e+30"},
      {"gpt2",
       [](json& f) {
         f["model"]["merges"][2] = {"xq", "z"};
       },
       "model.merges[2]: merge of \"xq\" and \"z\": \"xq\" is not in the vocabulary"},
      {"gpt2", [](json& f) { f["model"]["merges"][2] = f["model"]["merges"][1]; },
       "model.merges[2]: merge of \"â\" and \"Ģ\" is given twice"},
      {"gpt2", [](json& f) { f["model"]["merges"][2] = "abc"; },
       "model.merges[2]: expected two tokens with a space between them, found \"abc\""},
      {"gpt2",
       [](json& f) {
         f["model"]["merges"][2] = {"a", 1};
       },
       "model.merges[2][1]: expected a text, found 1"},
      {"gpt2", [](json& f) { f["model"]["ignore_merges"] = 1; },
       "model.ignore_merges: expected true or false, found 1"},
      {"gpt2", [](json& f) { f["added_tokens"] = 1; }, "added_tokens: expected a list, found 1"},
      {"gpt2", [](json& f) { f["added_tokens"][0]["content"] = ""; }, "added_tokens[0]: a special token is empty"},
      {"gpt2", [](json& f) { f["added_tokens"][0]["id"] = 9; },
       "added_tokens[0]: token \"<|end|>\" has id 9, but 0 in the vocabulary"},
      {"gpt2", [](json& f) { f["added_tokens"][1]["id"] = 7; },
       "added_tokens[1]: id 7 is given to \"'\" and to \"New York\""},
      {"gpt2", [](json& f) { f["added_tokens"][1]["id"] = 500; },
       "model.vocab: 452 tokens have ids up to 500: id 450 is left out"},
      {"gpt2", [](json& f) { f["added_tokens"][2] = f["added_tokens"][1]; },
       "added_tokens[2]: token \"New York\" is given twice"},
      {"llama3", [](json& f) { f["post_processor"]["processors"][1]["single"][0]["SpecialToken"]["id"] = "<none>"; },
       "post_processor.processors[1].single[0].SpecialToken.id: \"<none>\" is not in the vocabulary"}};
  for (const Case& one : cases) CHECK(refusal(one.kind, one.change) == one.why);
  CHECK(refusal_of_text("") == "is not valid JSON at byte 0");
  CHECK(refusal_of_text("[]") == "expected an object, found []");
  CHECK(refusal_of_text(std::string(100'000, '[')) == "brackets are nested deeper than 64");
  const std::string whole = read_text(fixture("llama3.json"));
  for (std::size_t size = 0; size + 2 < whole.size(); size += 401) {
    CHECK(refusal_of_text(whole.substr(0, size)).starts_with("is not valid JSON at byte"));
  }
  CHECK_THROWS_AS(BpeTokenizer::read(TemporaryFolder().path()), xgrad::IoError);
}
