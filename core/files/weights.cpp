// Published weights. An index looks like this:
//
//     {"metadata": {"total_size": 24}, "weight_map": {"wte.weight": "model-00001-of-00002.safetensors"}}
#include "weights.h"

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "../error.h"
#include "../quote.h"
#include "file.h"
#include "state_difference.h"

namespace xgrad {
namespace {

constexpr std::string_view op = "load_weights";
constexpr std::string_view map_key = "weight_map";

/// The names of arrays by the file that holds them.
using ArraysByFile = std::map<std::string, std::vector<std::string>>;

/// Hears the parser's events: what stands in the weight_map counts, what else there is is passed by.
class IndexReader final : public nlohmann::json_sax<nlohmann::json> {
 public:
  IndexReader(const std::string& path, const LoadOptions& options) : path_(path), options_(options) {}

  ArraysByFile take() {
    if (!has_map_) fail<FormatError>(op, path_, ": has no ", map_key);
    return std::move(files_);
  }

  bool null() override { return other(); }
  bool boolean(bool) override { return other(); }
  bool number_integer(std::int64_t) override { return other(); }
  bool number_unsigned(std::uint64_t) override { return other(); }
  bool number_float(double, const std::string&) override { return other(); }
  bool binary(binary_t&) override { return other(); }
  bool string(std::string& file) override {
    if (!in_map() || depth_ != 2) return other();
    // A name and no path: an index has no say in what else is read.
    if (!file.ends_with(".safetensors") || file.find_first_of(std::string_view("/\\\0", 3)) != file.npos) {
      fail<FormatError>(op, path_, ": ", escaped(name_), ": ", escaped(file),
                        " is no safetensors file beside the index");
    }
    if (++count_ > options_.max_arrays) {
      fail<LimitError>(op, path_, ": more than ", options_.max_arrays, " arrays");
    }
    files_[file].push_back(name_);
    return true;
  }
  bool key(std::string& text) override {
    if (std::ssize(text) > options_.max_name_bytes) {
      fail<LimitError>(op, path_, ": a name of ", text.size(), " bytes, allowed are ", options_.max_name_bytes);
    }
    (depth_ == 1 ? section_ : name_) = std::move(text);
    return true;
  }
  bool start_object(std::size_t) override {
    if (depth_ == 1 && in_map()) has_map_ = true;
    if (depth_ > 1) other();
    return open();
  }
  bool start_array(std::size_t) override {
    other();
    return open();
  }
  bool end_object() override {
    --depth_;
    return true;
  }
  bool end_array() override { return end_object(); }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
    fail<FormatError>(op, path_, ": is not valid JSON at byte ", std::max<std::size_t>(position, 1) - 1);
  }

 private:
  bool in_map() const { return section_ == map_key; }
  bool open() {
    constexpr int deepest = 8;
    if (++depth_ > deepest) fail<FormatError>(op, path_, ": brackets are nested deeper than ", deepest);
    return true;
  }
  /// Something that is neither the name of a file in the map nor the map itself.
  bool other() const {
    if (depth_ == 0) fail<FormatError>(op, path_, ": must be an object");
    if (in_map()) fail<FormatError>(op, path_, ": ", map_key, " must be an object of names of files");
    return true;
  }

  const std::string& path_;
  const LoadOptions& options_;
  ArraysByFile files_;
  int depth_ = 0;  // of open brackets
  std::int64_t count_ = 0;
  bool has_map_ = false;
  std::string section_;  // the last key at depth 1
  std::string name_;     // the last key below
};

StateFile load_indexed(const std::string& path, const LoadOptions& options) {
  const InputFile file(path, op);
  if (file.size() > options.max_header_bytes) {
    fail<LimitError>(op, path, ": an index of ", file.size(), " bytes, allowed are ", options.max_header_bytes);
  }
  IndexReader reader(path, options);
  nlohmann::json::sax_parse(file.read(0, file.size()), &reader);
  StateFile all{.source = path};
  StateDifference difference;
  for (const auto& [name, arrays] : reader.take()) {
    StateFile part = load_safetensors((std::filesystem::path(path).parent_path() / name).string(), options);
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

StateFile load_weights(const std::string& path, const LoadOptions& options) {
  const std::filesystem::path given = path;
  std::error_code ignored;
  if (!std::filesystem::is_directory(given, ignored)) {
    return given.extension() == ".json" ? load_indexed(path, options) : load_safetensors(path, options);
  }
  const std::filesystem::path one = given / "model.safetensors", index = given / "model.safetensors.index.json";
  if (std::filesystem::exists(one, ignored)) return load_safetensors(one.string(), options);
  if (std::filesystem::exists(index, ignored)) return load_indexed(index.string(), options);
  fail<IoError>(op, path, ": holds neither ", one.filename().string(), " nor ", index.filename().string());
}

}  // namespace xgrad
