// Quoting, checked writing, and resuming a file of an earlier run.
#include <xgrad/kit/files/csv.h>

#include <cerrno>
#include <string_view>
#include <utility>

#include <xgrad/core/base/text.h>
#include <xgrad/core/files/file.h>
#include <xgrad/kit/program/error.h>

namespace xgrad::kit {
namespace {

/// RFC 4180, except that line breaks are refused: a row is a line, which `resume` relies on.
std::string csv_cell(std::string_view text) {
  if (text.find_first_of("\r\n") != std::string_view::npos) fail<ValueError>("csv", "a value has a line break");
  if (text.find_first_of(",\"") == std::string_view::npos) return std::string(text);
  std::string result = "\"";
  for (const char c : text) result.append(c == '"' ? 2 : 1, c);
  return result + '"';
}

std::string header_of(const std::vector<std::string>& columns) {
  if (columns.empty()) fail<ValueError>("csv", "needs at least one column");
  std::string line = csv_cell(columns.front());
  for (std::size_t i = 1; i < columns.size(); ++i) line += "," + csv_cell(columns[i]);
  return line + '\n';
}

/// The length of the header and at most `rows` complete rows after it.
std::size_t length_of_rows(std::string_view text, std::size_t rows) {
  std::size_t length = text.find('\n') + 1;
  for (; rows > 0; --rows) {
    const std::size_t end = text.find('\n', length);
    if (end == std::string_view::npos) break;
    length = end + 1;
  }
  return length;
}

}  // namespace

CsvLogger::CsvLogger(std::filesystem::path path, std::size_t columns, std::ios::openmode mode,
                     const std::string& beginning)
    : path_(std::move(path)), columns_(columns) {
  // Opening a pipe would wait for a reader.
  if (std::filesystem::is_fifo(path_)) throw IoError("cannot open " + path_.string() + ": is a pipe");
  errno = 0;
  file_.open(path_, std::ios::binary | mode);
  if (!file_) throw io_error("open", path_);
  write(beginning);
}

CsvLogger::CsvLogger(std::filesystem::path path, const std::vector<std::string>& columns)
    : CsvLogger(std::move(path), columns.size(), std::ios::trunc, header_of(columns)) {}

CsvLogger CsvLogger::resume(std::filesystem::path path, const std::vector<std::string>& columns, std::size_t rows) {
  const std::string header = header_of(columns);
  const std::string text = std::filesystem::exists(path) ? read_file(path.string()) : "";
  if (text.find('\n') == std::string::npos) return CsvLogger(std::move(path), columns);
  if (!text.starts_with(header)) {
    throw DataError(path, 1, "the columns are not " + header.substr(0, header.size() - 1));
  }
  const std::size_t bytes = length_of_rows(text, rows);
  if (bytes < text.size()) std::filesystem::resize_file(path, bytes);
  return CsvLogger(std::move(path), columns.size(), std::ios::app, "");
}

void CsvLogger::row(const std::vector<Field>& values) {
  if (values.size() != columns_) {
    fail<ValueError>("csv", values.size(), " values for ", columns_, " columns");
  }
  std::string line = csv_cell(values.front().text());
  for (std::size_t i = 1; i < values.size(); ++i) line += "," + csv_cell(values[i].text());
  write(line + '\n');
}

void CsvLogger::write(const std::string& line) {
  errno = 0;
  file_ << line << std::flush;
  if (!file_) throw io_error("write", path_);
}

}  // namespace xgrad::kit
