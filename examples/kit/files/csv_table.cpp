// Reading fields, and turning columns into numbers.
#include <xgrad/kit/files/csv_table.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <map>
#include <utility>

#include <xgrad/core/base/from_text.h>
#include <xgrad/core/base/text.h>
#include <xgrad/kit/files/text_file.h>
#include <xgrad/kit/program/error.h>

namespace xgrad::kit {
namespace {

/// The fields of a line. Throws DataError with its number.
std::vector<std::string> fields_of(const std::filesystem::path& path, std::size_t number, std::string_view line) {
  std::vector<std::string> fields{""};
  bool open = false, closed = false;  // a quote of the current field
  for (std::size_t at = 0; at < line.size(); ++at) {
    const char c = line[at];
    if (!open && c == ',') {
      fields.emplace_back();
      closed = false;
    } else if (open && line.substr(at).starts_with("\"\"")) {
      fields.back() += line[at++];
    } else if (open && c == '"') {
      open = false;
      closed = true;
    } else if (c == '"') {
      if (closed || !fields.back().empty()) {
        throw DataError(path, number, "a quote in a field that does not begin with one");
      }
      open = true;
    } else {
      if (closed) throw DataError(path, number, "text behind a closing quote");
      fields.back() += c;
    }
  }
  if (open) throw DataError(path, number, "a quote is not closed");
  return fields;
}

bool is_missing(std::string_view field) {
  constexpr std::array<std::string_view, 6> words{"", "NA", "NaN", "nan", "NULL", "null"};
  return std::ranges::find(words, field) != words.end();
}

/// A number as from_chars takes it: " +1 " is 1, and "+-1" none.
std::string_view without_blanks_and_plus(std::string_view field) {
  const std::size_t begin = field.find_first_not_of(" \t"), end = field.find_last_not_of(" \t");
  if (begin == field.npos) return {};
  field = field.substr(begin, end + 1 - begin);
  if (field.starts_with('+') && !field.starts_with("+-")) field.remove_prefix(1);
  return field;
}

}  // namespace

CsvTable::CsvTable(const std::filesystem::path& path) : path_(path) {
  std::size_t number = 0;
  for (const std::string& line : read_lines(path)) {
    ++number;
    if (line.empty()) continue;
    std::vector<std::string> fields = fields_of(path, number, line);
    if (columns_.empty()) {
      columns_ = std::move(fields);
      for (auto name = columns_.begin(); name != columns_.end(); ++name) {
        if (std::find(columns_.begin(), name, *name) == name) continue;
        throw DataError(path, number, str("two columns are named ", escaped(*name)));
      }
      fields_.resize(columns_.size());
      continue;
    }
    if (fields.size() != columns_.size()) {
      throw DataError(path, number, str(fields.size(), " fields in ", columns_.size(), " columns"));
    }
    for (std::size_t i = 0; i < fields.size(); ++i) fields_[i].push_back(std::move(fields[i]));
    lines_.push_back(number);
  }
  if (columns_.empty()) throw DataError(path, 1, "no names of columns");
}

std::vector<std::string> CsvTable::texts(std::string_view column) const {
  const auto found = std::ranges::find(columns_, column);
  if (found == columns_.end()) {
    fail<ValueError>("csv_table", path_.string(), " has no column ", escaped(column), ", it has ", columns_);
  }
  return fields_[static_cast<std::size_t>(found - columns_.begin())];
}

Array CsvTable::numbers(std::string_view column) const {
  const std::vector<std::string>& fields = texts(column);
  Array result(Shape{rows()}, std::numeric_limits<Real>::quiet_NaN());
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (is_missing(fields[i])) continue;
    double number = 0;
    const std::string_view digits = without_blanks_and_plus(fields[i]);
    const char* const end = digits.data() + digits.size();
    const auto [stop, error] = xgrad::detail::from_text(digits.data(), end, number);
    if (error != std::errc() || stop != end) {
      throw DataError(path_, lines_[i], str("column ", escaped(column), ": needs a number, got ", escaped(fields[i])));
    }
    result.mutable_data()[i] = static_cast<Real>(number);
  }
  return result;
}

Categories CsvTable::categories(std::string_view column, std::vector<std::string> names) const {
  const std::vector<std::string>& fields = texts(column);
  if (names.empty()) {
    std::ranges::remove_copy_if(fields, std::back_inserter(names), is_missing);
    std::ranges::sort(names);
    names.erase(std::unique(names.begin(), names.end()), names.end());
  }
  std::map<std::string_view, std::int64_t> code_of;
  for (const std::string& name : names) code_of.emplace(name, std::ssize(code_of));
  Index codes(Shape{rows()}, -1);
  std::int64_t* const out = codes.mutable_data();
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (is_missing(fields[i])) continue;
    const auto found = code_of.find(fields[i]);
    if (found == code_of.end()) {
      throw DataError(path_, lines_[i], str("column ", escaped(column), ": ", escaped(fields[i]), " is no category"));
    }
    out[i] = found->second;
  }
  return {std::move(codes), std::move(names)};
}

}  // namespace xgrad::kit
