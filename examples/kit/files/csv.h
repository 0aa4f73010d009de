// A table of numbers written row by row while a program runs: loss.csv and the like.
#pragma once

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include <xgrad/kit/program/format.h>

namespace xgrad::kit {

/// Writes a header and rows of comma-separated values, one line each. A row is handed to the system before `row`
/// returns, so that a run that is killed leaves every row it finished.
///
/// Threads: one at a time.
class CsvLogger {
 public:
  /// Begins an empty file. Throws IoError if that fails, ValueError without columns.
  CsvLogger(std::filesystem::path path, const std::vector<std::string>& columns);

  /// Goes on after the first `rows` rows of an existing file (all by default); rows after those, and a last line cut
  /// short by a crash, are dropped. Begins an empty file if there is none. Throws DataError if the file has other
  /// columns, IoError if it cannot be read, and what the constructor throws.
  static CsvLogger resume(std::filesystem::path path, const std::vector<std::string>& columns,
                          std::size_t rows = std::numeric_limits<std::size_t>::max());

  /// Appends one row. Throws ValueError if the number of values differs from the number of columns or one
  /// of them holds a line break, IoError if the file did not take the row.
  void row(const std::vector<Field>& values);

  /// The file that is written.
  const std::filesystem::path& path() const { return path_; }

 private:
  CsvLogger(std::filesystem::path path, std::size_t columns, std::ios::openmode mode, const std::string& beginning);
  void write(const std::string& line);

  std::filesystem::path path_;
  std::size_t columns_;
  std::ofstream file_;
};

}  // namespace xgrad::kit
