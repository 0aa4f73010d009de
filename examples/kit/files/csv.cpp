// Quoting and checked writing.
#include <xgrad/kit/files/csv.h>

#include <cerrno>
#include <string_view>
#include <utility>

#include <xgrad/kit/program/error.h>

namespace xgrad::kit {
namespace {

/// RFC 4180, except that line breaks are refused: a row is a line.
std::string csv_cell(std::string_view text) {
  if (text.find_first_of("\r\n") != std::string_view::npos) fail<ValueError>("csv", "a value has a line break");
  if (text.find_first_of(",\"") == std::string_view::npos) return std::string(text);
  std::string result = "\"";
  for (const char c : text) result.append(c == '"' ? 2 : 1, c);
  return result + '"';
}

std::string csv_line(const std::vector<Field>& cells) {
  std::string line;
  for (const Field& cell : cells) line += csv_cell(cell.text()) + ',';
  line.back() = '\n';
  return line;
}

}  // namespace

CsvLogger::CsvLogger(std::filesystem::path path, const std::vector<std::string>& columns)
    : path_(std::move(path)), columns_(columns.size()) {
  if (columns.empty()) fail<ValueError>("csv", "needs at least one column");
  const std::string header = csv_line({columns.begin(), columns.end()});
  // Opening a pipe would wait for a reader.
  if (std::filesystem::is_fifo(path_)) throw IoError("cannot open " + path_.string() + ": is a pipe");
  errno = 0;
  file_.open(path_, std::ios::binary | std::ios::trunc);
  if (!file_) throw io_error("open", path_);
  write(header);
}

void CsvLogger::row(const std::vector<Field>& values) {
  if (values.size() != columns_) {
    fail<ValueError>("csv", values.size(), " values for ", columns_, " columns");
  }
  write(csv_line(values));
}

void CsvLogger::write(const std::string& line) {
  errno = 0;
  file_ << line << std::flush;
  if (!file_) throw io_error("write", path_);
}

}  // namespace xgrad::kit
