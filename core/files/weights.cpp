// Published weights. An index looks like this:
//
//     {"metadata": {"total_size": 24}, "weight_map": {"wte.weight": "model-00001-of-00002.safetensors"}}
#include "weights.h"

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "../base/error.h"
#include "../base/text.h"
#include "json.h"

namespace xgrad {
namespace {

constexpr std::string_view op = "load_weights";
constexpr std::string_view map_key = "weight_map";

/// The names of arrays, grouped by the file that holds them.
using ArraysByFile = std::map<std::string, std::vector<std::string>>;

ArraysByFile read_index(const std::string& path) {
  const nlohmann::json index = read_json(path, op, detail::max_header_bytes);
  if (!index.is_object()) fail<FormatError>(op, path, ": is not an object");
  const auto map = index.find(map_key);
  if (map == index.end()) fail<FormatError>(op, path, ": has no ", map_key);
  const auto require_names = [&](bool holds) {
    if (!holds) fail<FormatError>(op, path, ": ", map_key, " is not an object of names of files");
  };
  require_names(map->is_object());
  ArraysByFile arrays;
  for (const auto& [name, file] : map->items()) {
    require_names(file.is_string());
    const auto& text = file.get_ref<const std::string&>();
    // A file name and not a path, so that an index cannot choose other files.
    if (!text.ends_with(".safetensors") || text.find_first_of(std::string_view("/\\\0", 3)) != text.npos) {
      fail<FormatError>(op, path, ": ", escaped(name), ": ", escaped(text),
                        " is not a safetensors file next to the index");
    }
    arrays[text].push_back(name);
  }
  return arrays;
}

StateFile load_indexed(const std::string& path) {
  StateFile all{.source = path};
  StateDifference difference;
  for (const auto& [name, arrays] : read_index(path)) {
    StateFile part = load_safetensors((std::filesystem::path(path).parent_path() / name).string());
    for (const std::string& array : arrays) {
      auto found = part.arrays.extract(array);
      if (found.empty() || !all.arrays.insert(std::move(found)).inserted) difference.missing.push_back(array);
    }
    for (const auto& [array, value] : part.arrays) difference.unexpected.push_back(array);
    all.metadata.merge(part.metadata);
  }
  difference.refuse(op, path);
  return all;
}

}  // namespace

StateFile load_weights(const std::string& path) {
  const std::filesystem::path given = path;
  std::error_code ignored;
  if (!std::filesystem::is_directory(given, ignored)) {
    return given.extension() == ".json" ? load_indexed(path) : load_safetensors(path);
  }
  const std::filesystem::path one = given / "model.safetensors", index = given / "model.safetensors.index.json";
  if (std::filesystem::exists(one, ignored)) return load_safetensors(one.string());
  if (std::filesystem::exists(index, ignored)) return load_indexed(index.string());
  fail<IoError>(op, path, ": holds neither ", one.filename().string(), " nor ", index.filename().string());
}

}  // namespace xgrad
