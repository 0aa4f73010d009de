// Values of a JSON file with the way to them, for messages. Not installed: see core/files/json.h.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include <xgrad/core/base/error.h>

namespace xgrad::kit {

/// A text of a file in quotes, short enough for a message.
std::string in_quotes(std::string_view text);

/// One value of a document, perhaps none, with the way to it: `model.vocab`. All functions that expect a type throw
/// FormatError with file, way and the value found. The document and its path outlive the field.
///
/// Threads: many may read from one object.
class JsonField {
 public:
  /// The whole document. `op` is the word that errors begin with.
  JsonField(const char* op, const std::filesystem::path& path, const nlohmann::json& document);

  /// The value of an object under this key, perhaps none.
  JsonField operator[](const std::string& key) const;
  /// An element of a list.
  JsonField operator[](std::size_t i) const;

  const nlohmann::json& object() const;
  const nlohmann::json& list() const;
  std::string text() const;
  /// A text of one character.
  char32_t character() const;
  bool truth() const;
  /// The same where there may be nothing.
  bool truth(bool otherwise) const;
  double number() const;
  /// A whole number from 0 to 2^31.
  std::int64_t id() const;
  bool is_list() const;
  bool is_text() const;
  /// True for nothing and for null.
  bool empty() const;

  /// Throws unless the value is this one.
  void require_is(const nlohmann::json& wanted) const;
  /// The same, where there may be none.
  void require_none_or(const nlohmann::json& wanted) const;
  [[noreturn]] void refuse(std::string_view why) const;

 private:
  JsonField(const JsonField& from, std::string name, const nlohmann::json* value);
  const nlohmann::json& require(bool holds, std::string_view wanted) const;

  const char* op_;
  const std::filesystem::path* path_;
  std::string name_;
  const nlohmann::json* value_;
};

}  // namespace xgrad::kit
