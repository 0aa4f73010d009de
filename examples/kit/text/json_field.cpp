// Fields of JSON files by name.
#include <xgrad/kit/text/json_field.h>

#include <nlohmann/json.hpp>

#include <xgrad/core/files/json.h>
#include <xgrad/kit/text/utf8.h>

namespace xgrad::kit {

using nlohmann::json;

std::string in_quotes(std::string_view text) { return '"' + fit_columns(text, 60) + '"'; }

JsonField::JsonField(const char* op, const std::filesystem::path& path, const json& document)
    : op_(op), path_(&path), value_(&document) {}

JsonField::JsonField(const JsonField& from, std::string name, const json* value)
    : op_(from.op_), path_(from.path_), name_(std::move(name)), value_(value) {}

JsonField JsonField::operator[](const std::string& key) const {
  const json& all = object();
  const auto found = all.find(key);
  return {*this, name_.empty() ? key : name_ + "." + key, found == all.end() ? nullptr : &*found};
}

JsonField JsonField::operator[](std::size_t i) const { return {*this, cat(name_, "[", i, "]"), &list().at(i)}; }

const json& JsonField::object() const { return require(value_ != nullptr && value_->is_object(), "an object"); }
const json& JsonField::list() const { return require(is_list(), "a list"); }
std::string JsonField::text() const { return require(is_text(), "a text").get<std::string>(); }

char32_t JsonField::character() const {
  const std::u32string all = decode_utf8(text());
  require(all.size() == 1, "one character");
  return all[0];
}

bool JsonField::truth() const {
  return require(value_ != nullptr && value_->is_boolean(), "true or false").get<bool>();
}
bool JsonField::truth(bool otherwise) const { return empty() ? otherwise : truth(); }

double JsonField::number() const { return require(value_ != nullptr && value_->is_number(), "a number").get<double>(); }

std::int64_t JsonField::id() const {
  const bool holds = value_ != nullptr && value_->is_number_unsigned() && *value_ <= std::uint64_t{1} << 31;
  return require(holds, "an id").get<std::int64_t>();
}

bool JsonField::is_list() const { return value_ != nullptr && value_->is_array(); }
bool JsonField::is_text() const { return value_ != nullptr && value_->is_string(); }
bool JsonField::empty() const { return value_ == nullptr || value_->is_null(); }

void JsonField::require_is(const json& wanted) const { require(value_ != nullptr && *value_ == wanted, wanted.dump()); }
void JsonField::require_none_or(const json& wanted) const {
  if (!empty()) require_is(wanted);
}

void JsonField::refuse(std::string_view why) const {
  fail<FormatError>(op_, path_->string(), ": ", name_.empty() ? "" : name_ + ": ", why);
}

const json& JsonField::require(bool holds, std::string_view wanted) const {
  if (!holds) refuse(cat("expected ", wanted, ", found ", value_ == nullptr ? "nothing" : shown(*value_)));
  return *value_;
}

}  // namespace xgrad::kit
