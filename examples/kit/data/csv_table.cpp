// Reading fields and rows, and turning columns into numbers.
#include <xgrad/kit/data/csv_table.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <limits>
#include <map>
#include <utility>

#include <xgrad/core/base/text.h>
#include <xgrad/core/files/file.h>
#include <xgrad/kit/program/error.h>

namespace xgrad::kit {
namespace {

/// The fields of a row, and the line that it begins in, from 1 on.
struct Row {
  std::size_t line;
  std::vector<std::string> fields = {""};
};

/// The rows that are not empty.
std::vector<Row> rows_of(const std::filesystem::path& path, std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  std::vector<Row> rows;
  Row row{1};
  bool open = false, closed = false;  // a quote of the current field
  std::size_t line = 1, opened = 1;
  for (std::size_t at = 0; at <= text.size(); ++at) {
    const bool ends = at == text.size();
    const char c = ends ? '\n' : text[at], next = at + 1 < text.size() ? text[at + 1] : '\n';
    std::string& field = row.fields.back();
    if (open) {
      if (ends) throw DataError(path, opened, "a quote is not closed");
      if (c == '"' && next != '"') {
        open = false;
        closed = true;
      } else {
        field += c;
        if (c == '"') ++at;
      }
    } else if (c == '"') {
      if (closed || !field.empty()) throw DataError(path, line, "a quote in a field that does not begin with one");
      open = true;
      opened = line;
    } else if (c == ',') {
      row.fields.emplace_back();
      closed = false;
    } else if (c == '\n') {
      if (closed || !field.empty() || row.fields.size() > 1) rows.push_back(std::move(row));
      row = {line + 1};
      closed = false;
    } else if (c != '\r' || next != '\n') {
      if (closed) throw DataError(path, line, "text behind a closing quote");
      field += c;
    }
    if (c == '\n') ++line;
  }
  return rows;
}

bool is_missing(std::string_view field) {
  constexpr std::array<std::string_view, 6> words{"", "NA", "NaN", "nan", "NULL", "null"};
  return std::ranges::find(words, field) != words.end();
}

}  // namespace

CsvTable::CsvTable(const std::filesystem::path& path) : path_(path) {
  const std::string text = read_file(path.string());
  std::vector<Row> rows = rows_of(path_, text);
  if (rows.empty()) throw DataError(path_, 1, "no names of columns");
  columns_ = std::move(rows[0].fields);
  for (auto name = columns_.begin(); name != columns_.end(); ++name) {
    if (std::find(columns_.begin(), name, *name) != name) {
      throw DataError(path_, rows[0].line, cat("two columns are named ", escaped(*name)));
    }
  }
  fields_.resize(columns_.size());
  for (std::size_t k = 1; k < rows.size(); ++k) {
    std::vector<std::string>& fields = rows[k].fields;
    if (fields.size() != columns_.size()) {
      throw DataError(path_, rows[k].line, cat(fields.size(), " fields in ", columns_.size(), " columns"));
    }
    for (std::size_t i = 0; i < fields.size(); ++i) fields_[i].push_back(std::move(fields[i]));
    lines_.push_back(rows[k].line);
  }
}

const std::vector<std::string>& CsvTable::texts(std::string_view column) const {
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
    const char* const end = fields[i].data() + fields[i].size();
    const auto [stop, error] = std::from_chars(fields[i].data(), end, number);
    if (error != std::errc() || stop != end) {
      throw DataError(path_, lines_[i], cat("column ", escaped(column), ": needs a number, got ", escaped(fields[i])));
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
      throw DataError(path_, lines_[i], cat("column ", escaped(column), ": ", escaped(fields[i]), " is no category"));
    }
    out[i] = found->second;
  }
  return {std::move(codes), std::move(names)};
}

}  // namespace xgrad::kit
