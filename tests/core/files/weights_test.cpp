// Weights in several files with an index, and indices that lie.
#include <xgrad/core/files/weights.h>

#include "support/check.h"
#include "support/files.h"

namespace xgrad::testing {
namespace {

struct Parts {
  TemporaryFolder folder;
  std::string index = folder / "model.safetensors.index.json";
  Parts() {
    save_safetensors(folder / "one.safetensors", {.arrays = {{"a", Array({2}, {1, 2})}, {"b", Index({1}, 3)}}});
    save_safetensors(folder / "two.safetensors", {.arrays = {{"c", Array({1}, {4})}}});
  }

  StateFile load(const std::string& text) const {
    write_text(index, text);
    return load_weights(folder.path().string());
  }
};

constexpr const char* good =
    R"({"metadata": {"total_size": 16, "more": [1, {"x": null}]}, "weight_map": {"a": "one.safetensors", "b": "one.safetensors", "c": "two.safetensors"}})";

TEST_CASE("Several files are one by their index") {
  const Parts parts;
  const StateFile all = parts.load(good);
  CHECK(all.arrays.size() == 3);
  CHECK(all.get<Array>("c").item() == 4);
  CHECK(all.get<Index>("b").item() == 3);
  CHECK(all.source == parts.index);
  CHECK(load_weights(parts.index).arrays.size() == 3);
  CHECK(load_weights(parts.folder / "two.safetensors").arrays.size() == 1);
  save_safetensors(parts.folder / "model.safetensors", {});
  CHECK(load_weights(parts.folder.path().string()).arrays.empty());  // the one file comes first
}

TEST_CASE("An index that is none is refused") {
  const Parts parts;
  const char* no_map = "weight_map is not an object of names of files";
  const char* twice = "the key \"weight_map\" is given twice";
  using Row = std::pair<const char*, const char*>;
  for (const Row& row :
       {Row{R"({"weight_map": )", "is not valid JSON at byte 15"}, Row{"[]", "is not an object"},
        Row{R"({"metadata": {}})", "has no weight_map"}, Row{R"({"weight_map": ["a"]})", no_map},
        Row{R"({"weight_map": {"a": 3}})", no_map}, Row{R"({"weight_map": {}, "weight_map": {}})", twice}}) {
    CHECK_REFUSED(FormatError, parts.load(row.first), "load_weights", parts.index, row.second);
  }
}

TEST_CASE("An index reads nothing but files beside it") {
  const Parts parts;
  for (const std::string bad : {"../one.safetensors", "/etc/one.safetensors", "x/one.safetensors", "one.bin", ""}) {
    CHECK_REFUSED(FormatError, parts.load(str(R"({"weight_map": {"a": ")", bad, "\"}}")), "load_weights", parts.index,
                  str("\"a\": \"", bad, "\" is not a safetensors file next to the index"));
  }
  CHECK_REFUSED(FormatError, parts.load(R"({"weight_map": {"a": "one\u0000.safetensors"}})"), "load_weights",
                parts.index, "next to the index");
  CHECK_THROWS_AS(parts.load(R"({"weight_map": {"a": "three.safetensors"}})"), IoError);
}

TEST_CASE("An index must name exactly what its files have") {
  const Parts parts;
  CHECK_REFUSED(FormatError,
                parts.load(R"({"weight_map": {"a": "one.safetensors", "c": "one.safetensors",
                                              "d": "one.safetensors"}})"),
                "load_weights", parts.index,
                "the state does not fit\n  missing:\n    \"c\"\n    \"d\"\n  unexpected:\n    \"b\"");
  save_safetensors(parts.folder / "two.safetensors", {.arrays = {{"c", Array({1}, {4})}, {"a", Array({1}, {4})}}});
  const std::string head = R"({"weight_map": {"a": "one.safetensors", "b": "one.safetensors", "c": "two.safetensors")";
  CHECK_REFUSED(FormatError, parts.load(head + R"(, "a": "two.safetensors"}})"), "load_weights", parts.index,
                "the key \"a\" is given twice");
  CHECK_REFUSED(FormatError, parts.load(head + "}}"), "load_weights", parts.index,
                "the state does not fit\n  unexpected:\n    \"a\"");
}

TEST_CASE("An index has at most 100 MB, and a folder without weights is refused") {
  const Parts parts;
  write_text(parts.index, good);
  std::filesystem::resize_file(parts.index, 100'000'001);  // with a hole
  CHECK_REFUSED(LimitError, load_weights(parts.index), "load_weights", parts.index,
                "100000001 bytes, allowed are 100000000");
  const TemporaryFolder empty;
  CHECK_REFUSED(IoError, load_weights(empty.path().string()), "load_weights", empty.path().string(),
                "holds neither model.safetensors nor model.safetensors.index.json");
}

}  // namespace
}  // namespace xgrad::testing
