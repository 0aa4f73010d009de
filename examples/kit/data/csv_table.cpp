// Reading fields and rows, and turning columns into numbers.
#include <xgrad/kit/data/csv_table.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <utility>

#include <xgrad/core/base/text.h>
#include <xgrad/core/files/file.h>
#include <xgrad/kit/program/error.h>

namespace xgrad::kit {
namespace {

/// Gives the rows of a text one after the other.
class Rows {
 public:
  Rows(const std::filesystem::path& path, std::string_view text, char separator)
      : path_(path), rest_(text), separator_(separator) {
    if (rest_.starts_with("\xef\xbb\xbf")) rest_.remove_prefix(3);
  }

  /// The line that the last row begins in, from 1 on.
  std::size_t line() const { return line_; }

  /// The fields of the next row that is not empty; false at the end.
  bool next(std::vector<std::string>& fields) {
    while (rest_.starts_with('\n') || rest_.starts_with("\r\n")) take_break();
    line_ = next_line_;
    if (rest_.empty()) return false;
    fields.clear();
    for (;;) {
      fields.push_back(rest_.starts_with('"') ? quoted() : plain());
      if (!rest_.starts_with(separator_)) break;
      rest_.remove_prefix(1);
    }
    if (!rest_.empty()) take_break();
    return true;
  }

 private:
  bool at_break() const { return rest_.empty() || rest_.front() == '\n' || rest_.starts_with("\r\n"); }
  void take_break() {
    rest_.remove_prefix(rest_.front() == '\n' ? 1 : 2);
    ++next_line_;
  }

  std::string plain() {
    std::string field;
    while (!at_break() && rest_.front() != separator_) {
      if (rest_.front() == '"') throw DataError(path_, next_line_, "a quote in a field that does not begin with one");
      field += rest_.front();
      rest_.remove_prefix(1);
    }
    return field;
  }

  std::string quoted() {
    const std::size_t begun = next_line_;
    std::string field;
    for (rest_.remove_prefix(1);; rest_.remove_prefix(1)) {
      if (rest_.empty()) throw DataError(path_, begun, "a quote is not closed");
      if (rest_.starts_with("\"\"")) {
        rest_.remove_prefix(1);
      } else if (rest_.front() == '"') {
        break;
      }
      if (rest_.front() == '\n') ++next_line_;
      field += rest_.front();
    }
    rest_.remove_prefix(1);
    if (!at_break() && rest_.front() != separator_) throw DataError(path_, next_line_, "text behind a closing quote");
    return field;
  }

  const std::filesystem::path& path_;
  std::string_view rest_;
  char separator_;
  std::size_t line_ = 1, next_line_ = 1;
};

/// The number that a field is, or nothing for another text.
bool read_number(std::string_view text, double& number) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

CsvTable::CsvTable(const std::filesystem::path& path, const CsvTableOptions& options)
    : path_(path), missing_(options.missing) {
  if (options.separator == '"' || options.separator == '\n' || options.separator == '\r') {
    fail<ValueError>("csv_table", "a quote or a line break cannot be the separator");
  }
  std::ranges::sort(missing_);
  const std::string text = read_file(path.string());
  Rows rows(path_, text, options.separator);
  if (!rows.next(columns_)) throw DataError(path_, 1, "no names of columns");
  for (auto name = columns_.begin(); name != columns_.end(); ++name) {
    if (std::find(columns_.begin(), name, *name) != name) {
      throw DataError(path_, rows.line(), cat("two columns are named ", escaped(*name)));
    }
  }
  fields_.resize(columns_.size());
  for (std::vector<std::string> fields; rows.next(fields);) {
    if (fields.size() != columns_.size()) {
      throw DataError(path_, rows.line(), cat(fields.size(), " fields in ", columns_.size(), " columns"));
    }
    for (std::size_t i = 0; i < fields.size(); ++i) fields_[i].push_back(std::move(fields[i]));
    lines_.push_back(rows.line());
  }
}

std::size_t CsvTable::place_of(std::string_view column) const {
  const auto found = std::ranges::find(columns_, column);
  if (found == columns_.end()) {
    fail<ValueError>("csv_table", path_.string(), " has no column ", escaped(column), ", it has ", columns_);
  }
  return static_cast<std::size_t>(found - columns_.begin());
}

bool CsvTable::is_missing(const std::string& field) const { return std::ranges::binary_search(missing_, field); }

Mask CsvTable::missing(std::string_view column) const {
  Mask result(Shape{rows()});
  std::ranges::transform(texts(column), result.mutable_data(), [&](const auto& field) { return is_missing(field); });
  return result;
}

Array CsvTable::numbers(std::string_view column) const {
  return numbers(column, std::numeric_limits<double>::quiet_NaN());
}

Array CsvTable::numbers(std::string_view column, double instead) const {
  const std::vector<std::string>& fields = texts(column);
  Array result(Shape{rows()});
  Real* out = result.mutable_data();
  for (std::size_t i = 0; i < fields.size(); ++i) {
    double number = instead;
    if (!is_missing(fields[i]) && !read_number(fields[i], number)) {
      throw DataError(path_, lines_[i], cat("column ", escaped(column), ": needs a number, got ", escaped(fields[i])));
    }
    *out++ = static_cast<Real>(number);
  }
  return result;
}

Array CsvTable::numbers(std::initializer_list<std::string_view> columns) const {
  const std::int64_t width = std::ssize(columns);
  Array result(Shape{rows(), width});
  std::int64_t place = 0;
  for (const std::string_view column : columns) {
    const Array values = numbers(column);
    Real* out = result.mutable_data() + place++;
    for (std::int64_t i = 0; i < rows(); ++i) out[i * width] = values.data()[i];
  }
  return result;
}

double CsvTable::known(std::string_view column, Known number) const {
  std::vector<double> known;
  const Array values = numbers(column);
  std::ranges::copy_if(values, std::back_inserter(known), [](Real value) { return !std::isnan(value); });
  if (known.empty()) fail<ValueError>("csv_table", path_.string(), ": nothing is known in column ", escaped(column));
  if (number == Known::mean) {
    double sum = 0;
    for (const double value : known) sum += value;
    return sum / static_cast<double>(known.size());
  }
  std::ranges::sort(known);
  const std::size_t middle = known.size() / 2;
  return known.size() % 2 == 1 ? known[middle] : (known[middle - 1] + known[middle]) / 2;
}

Categories CsvTable::categories(std::string_view column, std::vector<std::string> names) const {
  const std::vector<std::string>& fields = texts(column);
  if (names.empty()) {
    std::ranges::remove_copy_if(fields, std::back_inserter(names), [&](const auto& f) { return is_missing(f); });
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
