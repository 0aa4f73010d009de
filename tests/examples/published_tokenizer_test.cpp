// Tokenizers of published models beside what the package `tokenizers` gives, and files that are damaged.
#include <doctest/doctest.h>

#include <filesystem>
#include <functional>

#include <nlohmann/json.hpp>

#include <xgrad/kit/text/published_tokenizer.h>

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

constexpr std::array kinds{"gpt2",    "llama3",        "qwen2",  "gpt4o",   "bert_uncased",   "bert_cased",
                           "unigram", "unigram_bytes", "llama2", "mistral", "words_with_ends"};

std::filesystem::path fixture(const std::string& name) {
  return xgrad::testing::fixture_path("published_tokenizers/" + name + ".json");
}

json document(const std::string& name) { return json::parse(read_text(fixture(name))); }

Index ids_in(const json& list) { return Index(list.get<std::vector<std::int64_t>>()); }

/// The tokenizer of a file with `change` made to it.
PublishedTokenizer changed(const std::string& name, const std::function<void(json& file)>& change) {
  const TemporaryFolder folder;
  json file = document(name);
  change(file);
  write_text(folder / "tokenizer.json", file.dump());
  return load_tokenizer(folder.path());
}

/// The message of the FormatError of a text, without the folder.
std::string refusal_of_text(std::string_view text) {
  const TemporaryFolder folder;
  write_text(folder / "tokenizer.json", text);
  try {
    load_tokenizer(folder / "tokenizer.json");
  } catch (const FormatError& error) {
    const std::string message = error.what(), start = "load_tokenizer: " + (folder / "tokenizer.json").string() + ": ";
    REQUIRE(message.starts_with(start));
    return message.substr(start.size());
  }
  return "accepted";
}

std::string refusal(const std::string& name, const std::function<void(json& file)>& change) {
  json file = document(name);
  change(file);
  return refusal_of_text(file.dump());
}

}  // namespace

TEST_CASE("published tokenizers give the ids and the texts of the package tokenizers") {
  const json lines = json::parse(read_text(fixture("lines"))), expected = json::parse(read_text(fixture("ids")));
  REQUIRE(lines.size() > 100);
  for (const char* name : kinds) {
    CAPTURE(name);
    const PublishedTokenizer tokenizer = load_tokenizer(fixture(name));
    const json& wanted = expected.at(name);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const auto line = lines[i].get<std::string>();
      CAPTURE(line);
      const Index ids = ids_in(wanted["ids"][i]);
      CHECK(equal(tokenizer.encode(line), ids));
      const json& decoded = wanted["decoded"][i];
      CHECK(tokenizer.decode(ids) == (decoded.is_null() ? line : decoded.get<std::string>()));
    }
    CHECK(equal(tokenizer.encode("A text.", SpecialTokens::without), ids_in(wanted["plain"])));
    const EncodedPair pair = tokenizer.encode_pair("A text.", "Another one");
    CHECK(equal(pair.ids, ids_in(wanted["pair"])));
    CHECK(equal(pair.segments, ids_in(wanted["segments"])));
  }
}

TEST_CASE("tokens have names, and special ones are written if they are asked for") {
  const PublishedTokenizer tokenizer = load_tokenizer(fixture("bert_uncased"));
  CHECK(tokenizer.size() == 424);
  CHECK(tokenizer.id("[CLS]") == 2);
  CHECK(tokenizer.token(3) == "[SEP]");
  CHECK(tokenizer.id("New York") >= 420);  // added behind those that were learnt
  const Index ids = tokenizer.encode("hello , world !");
  CHECK(tokenizer.decode(ids) == "hello, world!");
  CHECK(tokenizer.decode(ids, SpecialTokens::with) == "[CLS] hello, world! [SEP]");
  CHECK(tokenizer.decode(Index(Shape{0})).empty());
  CHECK_THROWS_WITH_AS(tokenizer.id("[NONE]"), "id: there is no token \"[NONE]\"", ValueError);
  CHECK_THROWS_WITH_AS(tokenizer.token(-1), "token: there is no token with id -1 below 424", ValueError);
  CHECK_THROWS_WITH_AS(tokenizer.decode(Index({1}, {424})), "token: there is no token with id 424 below 424",
                       ValueError);
  CHECK_THROWS_WITH_AS(tokenizer.decode(Index({1, 1}, {0})), "decode: needs ids (N), got [1, 1]", ShapeError);
}

TEST_CASE("text that is not UTF-8, or has a character that no token stands for, is refused") {
  for (const char* name : kinds) {
    const PublishedTokenizer tokenizer = load_tokenizer(fixture(name));
    for (const char* text : {"ab\xFF", "ab\xC3", "ab\xED\xA0\x80", "ab\xC0\x80"}) {
      CHECK_THROWS_WITH_AS(tokenizer.encode(text), "encode: the text is not UTF-8 at byte 2", ValueError);
    }
  }
  const char* wanted = "encode: the character \"\u0190\" has no token, and none stands for it";
  for (const char* name : {"mistral", "unigram"}) {
    const PublishedTokenizer tokenizer = changed(name, [](json& file) {
      file["model"]["unk_token"] = nullptr;
      file["model"]["unk_id"] = nullptr;
    });
    CHECK(tokenizer.encode("the").size() > 0);
    CHECK_THROWS_WITH_AS(tokenizer.encode("\u0190"), wanted, ValueError);
  }
}

TEST_CASE("a character in several tokens comes back byte by byte") {
  for (const char* name : {"gpt2", "llama2"}) {
    const PublishedTokenizer tokenizer = load_tokenizer(fixture(name));
    const Index ids = tokenizer.encode("a\U00020001", SpecialTokens::without);
    std::string text;
    for (const std::int64_t id : ids) text += tokenizer.decode(Index({1}, id));
    CHECK(text.ends_with("a\U00020001"));
    CHECK(ids.size() >= 5);
  }
}

TEST_CASE("parts that say the same otherwise mean the same") {
  const std::string text = "Hello  naïve\tworld 12,34 don't \u4f60\u597d!";
  const auto same = [&](const std::string& name, const std::function<void(json & file)>& change) {
    return equal(changed(name, change).encode(text), load_tokenizer(fixture(name)).encode(text));
  };
  CHECK(same("gpt2", [](json& file) {
    file["model"].erase("type");
    for (json& merge : file["model"]["merges"]) merge = merge[0].get<std::string>() + " " + merge[1].get<std::string>();
  }));
  CHECK(same("unigram", [](json& file) { file["model"].erase("type"); }));
  CHECK(same("bert_cased", [](json& file) { file["model"].erase("type"); }));
  CHECK(same("gpt2", [](json& file) {
    const std::string words = R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
    const json split{{"type", "Split"}, {"pattern", {{"Regex", words}}}, {"behavior", "Isolated"}, {"invert", false}};
    file["pre_tokenizer"]["use_regex"] = false;
    file["pre_tokenizer"] = {{"type", "Sequence"}, {"pretokenizers", {split, file["pre_tokenizer"]}}};
  }));
  CHECK(same("bert_uncased", [](json& file) {
    file["normalizer"]["lowercase"] = false;
    file["normalizer"]["strip_accents"] = true;
    file["normalizer"] = {{"type", "Sequence"}, {"normalizers", {file["normalizer"], {{"type", "Lowercase"}}}}};
    const json punctuation{{"type", "Punctuation"}, {"behavior", "Isolated"}};
    file["pre_tokenizer"] = {{"type", "Sequence"}, {"pretokenizers", {{{"type", "WhitespaceSplit"}}, punctuation}}};
  }));
  CHECK(same("mistral", [](json& file) { file["pre_tokenizer"].erase("split"); }));
  CHECK(same("unigram", [](json& file) {
    file["pre_tokenizer"].erase("prepend_scheme");
    file["pre_tokenizer"]["add_prefix_space"] = true;
  }));
}

TEST_CASE("100 kB without a space, or of spaces alone, are twice the tokens of their half with each kind") {
  std::string chinese, mixed;
  while (chinese.size() < 100'000) chinese += "世";
  while (mixed.size() < 100'000) mixed += "ab<x.\u0301";
  for (const char* name : kinds) {
    CAPTURE(name);
    PublishedTokenizer tokenizer = load_tokenizer(fixture(name));
    if (std::string(name).starts_with("bert")) {
      tokenizer = changed(name, [](json& file) { file["model"]["max_input_chars_per_word"] = 1'000'000; });
    }
    for (const std::string& text : {std::string(100'000, 'e'), std::string(100'000, ' '), std::string(100'000, '\n'),
                                    std::string(100'000, '<'), chinese, mixed}) {
      const std::int64_t whole = tokenizer.encode(text).size();
      const std::int64_t half = tokenizer.encode(text.substr(0, text.size() / 2)).size();
      CHECK(std::abs(whole - 2 * half) <= 8);
    }
  }
}

TEST_CASE("what a file asks for that is not read is refused with its field") {
  const auto type = [](const char* field) {
    return refusal("gpt2", [&](json& file) { file[field] = {{"type", "Other"}}; });
  };
  for (const char* field : {"normalizer", "pre_tokenizer", "model", "decoder", "post_processor"}) {
    CHECK(type(field) == std::string(field) + ".type: \"Other\" is not supported");
  }
  CHECK(refusal("gpt2", [](json& file) { file["model"]["type"] = "WordLevel"; }) ==
        "model.type: \"WordLevel\" is not supported");
  CHECK(refusal("gpt2", [](json& file) { file["model"]["dropout"] = 0.1; }) ==
        "model.dropout: expected 0.0, found 0.1");
  CHECK(refusal("words_with_ends", [](json& file) { file["normalizer"]["normalizers"][1]["type"] = "Upper"; }) ==
        "normalizer.normalizers[1].type: \"Upper\" is not supported");
  const auto regex = [](const char* pattern) {
    return refusal("llama3",
                   [&](json& file) { file["pre_tokenizer"]["pretokenizers"][0]["pattern"]["Regex"] = pattern; });
  };
  const std::string where = "pre_tokenizer.pretokenizers[0].pattern.Regex: ";
  CHECK(regex("\\p{L}+|\\s") == "accepted");
  for (const char* part : {"\\b", "\\G", "\\h", "(?m:", "(?<n>", "(*VERB)"}) {
    const std::string shown = part[0] == '\\' ? part : std::string(part).substr(0, part[1] == '*' ? 2 : 4);
    CHECK(regex((std::string("a") + part + "x)").c_str()) ==
          where + "regular expressions with \"" + shown + "\" are not supported");
  }
  CHECK(regex("[a-z&&[aeiou]]") == where + "regular expressions with \"&&\" are not supported");
  CHECK(regex("[a[b]]") == where + "regular expressions with \"[b\" are not supported");
  CHECK(regex("(a") == where + "no regular expression: missing closing parenthesis at byte 2");
  CHECK(refusal("llama3", [](json& file) { file["pre_tokenizer"]["pretokenizers"][0]["behavior"] = "Kept"; }) ==
        "pre_tokenizer.pretokenizers[0].behavior: \"Kept\" is no behavior that is known");
  CHECK(refusal("mistral", [](json& file) { file["pre_tokenizer"]["prepend_scheme"] = "last"; }) ==
        "pre_tokenizer.prepend_scheme: \"last\" is neither always, first nor never");
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
      {"gpt2", [](json& f) { f["model"]["fuse_unk"] = 1; }, "model.fuse_unk: expected true or false, found 1"},
      {"mistral", [](json& f) { f["model"]["unk_token"] = "<none>"; },
       "model.unk_token: \"<none>\" is not in the vocabulary"},
      {"bert_cased", [](json& f) { f["model"]["unk_token"] = nullptr; },
       "model.unk_token: expected a token, found nothing"},
      {"bert_cased", [](json& f) { f["model"]["max_input_chars_per_word"] = -5; },
       "model.max_input_chars_per_word: expected an id, found -5"},
      {"unigram", [](json& f) { f["model"]["unk_id"] = 100000; }, "model.unk_id: there are 450 tokens"},
      {"unigram", [](json& f) { f["model"]["vocab"][3] = {"a"}; },
       "model.vocab[3]: expected a token and its score, found 1"},
      {"unigram", [](json& f) { f["model"]["vocab"][3][1] = "a"; },
       "model.vocab[3][1]: expected a number, found \"a\""},
      {"unigram", [](json& f) { f["model"]["vocab"][3][0] = "<s>"; }, "model.vocab[3]: \"<s>\" is token 1, too"},
      {"unigram", [](json& f) { f["normalizer"]["normalizers"][0]["precompiled_charsmap"] = "?"; },
       "normalizer.normalizers[0].precompiled_charsmap: is not base64"},
      {"unigram", [](json& f) { f["normalizer"]["normalizers"][0]["precompiled_charsmap"] = "AAAA/////w=="; },
       "normalizer.normalizers[0].precompiled_charsmap: is no table of SentencePiece"},
      {"gpt2", [](json& f) { f["added_tokens"] = 1; }, "added_tokens: expected a list, found 1"},
      {"gpt2", [](json& f) { f["added_tokens"][0]["content"] = ""; }, "added_tokens[0]: an added token is empty"},
      {"gpt2", [](json& f) { f["added_tokens"][0]["id"] = 9; },
       "added_tokens[0]: token \"<|end|>\" has id 9, but 0 in the vocabulary"},
      {"gpt2", [](json& f) { f["added_tokens"][1]["id"] = 7; },
       "added_tokens[1]: id 7 is given to \"'\" and to \"New York\""},
      {"gpt2", [](json& f) { f["added_tokens"][2] = f["added_tokens"][1]; },
       "added_tokens[2]: token \"New York\" is given twice"},
      {"bert_uncased", [](json& f) { f["post_processor"]["special_tokens"]["[CLS]"]["ids"][0] = 5000; },
       "post_processor: there is no token with id 5000"},
      {"bert_uncased", [](json& f) { f["post_processor"]["special_tokens"].erase("[CLS]"); },
       "post_processor.special_tokens.[CLS]: expected an object, found nothing"},
      {"bert_uncased", [](json& f) { f["post_processor"]["single"][1] = f["post_processor"]["single"][0]; },
       "post_processor.single: expected A once"},
      {"bert_cased", [](json& f) { f["post_processor"]["cls"] = 1; }, "post_processor.cls: expected a list, found 1"},
      {"mistral", [](json& f) { f["pre_tokenizer"]["replacement"] = "ab"; },
       "pre_tokenizer.replacement: expected one character, found \"ab\""}};
  for (const Case& one : cases) CHECK(refusal(one.kind, one.change) == one.why);
  CHECK(refusal_of_text("") == "is not valid JSON at byte 0");
  CHECK(refusal_of_text("[]") == "expected an object, found []");
  CHECK(refusal_of_text(std::string(100'000, '[')) == "brackets are nested deeper than 64");
  const std::string whole = read_text(fixture("llama3"));
  for (std::size_t size = 0; size + 2 < whole.size(); size += 401) {
    CHECK(refusal_of_text(whole.substr(0, size)).starts_with("is not valid JSON at byte"));
  }
  CHECK_THROWS_AS(load_tokenizer(TemporaryFolder().path()), xgrad::IoError);
}

TEST_CASE("a charsmap whose units point anywhere reads nothing outside") {
  // 60 tables of bytes that go through many values, in base64.
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::uint32_t state = 1;
  for (int i = 0; i < 60; ++i) {
    std::string table = "QAAAA";  // 64 bytes of units
    while (table.size() < 200) table += digits[(state = state * 1664525 + 1013904223) >> 26];
    try {
      changed("unigram", [&](json& file) {
        file["normalizer"]["normalizers"][0]["precompiled_charsmap"] = table;
      }).encode("every e\u0301 text \u4f60\u597d \ufb01");
    } catch (const FormatError&) {
    }
  }
}
