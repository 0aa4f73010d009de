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

TEST_CASE("what is no JSON, says a thing twice, or is too long or too deep, is refused") {
  const File file;
  using Row = std::pair<std::string, const char*>;
  const char* deep = "brackets are nested deeper than 64";
  for (const Row& row :
       {Row{"", "is not valid JSON at byte 0"}, Row{"{\"a\": }", "is not valid JSON at byte 6"},
        Row{"{} x", "is not valid JSON at byte 3"}, Row{"\"\xff\"", "is not valid JSON at byte 1"},
        Row{"\"\xed\xa0\x80\"", "is not valid JSON at byte 2"},  // half of a pair is no character
        Row{std::string("{}\0{", 4), "has a NUL at byte 2"}, Row{"[1e999]", "has a number that is too large"},
        Row{R"({"a": {"b": 1}, "c": [{"b": 1, "b": 1}]})", "the key \"b\" is given twice"},
        Row{R"({"a": 1, "\u0061": 1})", "the key \"a\" is given twice"}, Row{nested(65), deep},
        Row{nested(100'000), deep}, Row{std::string(100'000, '['), deep}, Row{"{\"a\": " + nested(64) + "}", deep}}) {
    CHECK_REFUSED(FormatError, file.read(row.first), "read", file.path, row.second);
  }
  CHECK_REFUSED(LimitError, file.read("[1]", 2), "read", file.path, "3 bytes, allowed are 2");
  CHECK_THROWS_AS(read_json(file.folder / "none", "read", 100), IoError);
}

TEST_CASE("a value is shown on one line, cut where it is long") {
  CHECK(shown(nlohmann::json::parse(R"({"a": [1, "é\n"]})")) == R"({"a":[1,"\u00e9\n"]})");
  CHECK(shown("\xff") == R"("\ufffd")");
  CHECK(shown(std::string(1'000'000, 'x')) == "\"" + std::string(99, 'x') + "...");
}

}  // namespace
}  // namespace xgrad::testing
