// JSON from files: valid documents, and those refused before they can do harm.
#include <xgrad/core/files/json.h>

#include <nlohmann/json.hpp>

#include "support/check.h"
#include "support/files.h"

namespace xgrad::testing {
namespace {

struct File {
  TemporaryFolder folder;
  std::string path = folder / "some.json";

  nlohmann::json read(std::string_view text, std::int64_t most = 1 << 20) const {
    write_text(path, text);
    return read_json(path, "read", most);
  }
  template <class E = FormatError>
  std::string refused(std::string_view text, std::int64_t most = 1 << 20) const {
    std::string error = error_of<E>([&] { read(text, most); });
    const std::string begin = cat("read: ", path, ": ");
    CHECK(error.starts_with(begin));
    return error.substr(std::min(error.size(), begin.size()));
  }
};

std::string nested(int depth) {
  return std::string(static_cast<std::size_t>(depth), '[') + std::string(static_cast<std::size_t>(depth), ']');
}

TEST_CASE("a document is read as it stands in its file") {
  const File file;
  const nlohmann::json found = file.read(R"( {"a": [1, -2, 0.5, true, null], "\u00e9": "é", "b": {"a": {}}} )");
  CHECK(found["a"] == nlohmann::json({1, -2, 0.5, true, nullptr}));
  CHECK(found["é"] == "é");
  CHECK(found["b"]["a"].empty());
  CHECK(file.read("3") == 3);
  CHECK(file.read(nested(64)).size() == 1);
  CHECK(file.read("{}", 2).empty());
}

TEST_CASE("what is no JSON, or says a thing twice, is refused") {
  const File file;
  CHECK(file.refused("") == "is not valid JSON at byte 0");
  CHECK(file.refused("{\"a\": }") == "is not valid JSON at byte 6");
  CHECK(file.refused("{} x") == "is not valid JSON at byte 3");
  CHECK(file.refused("\"\xff\"") == "is not valid JSON at byte 1");
  CHECK(file.refused("\"\xed\xa0\x80\"") == "is not valid JSON at byte 2");  // half of a pair is no character
  CHECK(file.refused(std::string_view("{}\0{", 4)) == "has a NUL at byte 2");
  CHECK(file.refused("[1e999]") == "has a number that is too large");
  CHECK(file.refused(R"({"a": {"b": 1}, "c": [{"b": 1, "b": 1}]})") == "the key \"b\" is given twice");
  CHECK(file.refused(R"({"a": 1, "\u0061": 1})") == "the key \"a\" is given twice");
  CHECK_THROWS_AS(read_json(file.folder / "none", "read", 100), IoError);
}

TEST_CASE("size and depth have limits") {
  const File file;
  CHECK(file.refused<LimitError>("[1]", 2) == "3 bytes, allowed are 2");
  for (const std::string& text :
       {nested(65), nested(100'000), std::string(100'000, '['), "{\"a\": " + nested(64) + "}"}) {
    CHECK(file.refused(text) == "brackets are nested deeper than 64");
  }
}

TEST_CASE("a value is shown on one line, cut where it is long") {
  CHECK(shown(nlohmann::json::parse(R"({"a": [1, "é\n"]})")) == R"({"a":[1,"\u00e9\n"]})");
  CHECK(shown("\xff") == R"("\ufffd")");
  CHECK(shown(std::string(1'000'000, 'x')) == "\"" + std::string(99, 'x') + "...");
}

}  // namespace
}  // namespace xgrad::testing
