// A table of numbers written row by row while a program runs: loss.csv and the like.
#pragma once

#include <cstddef>
#include <filesystem>
#include <fstream>
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

  /// Appends one row. Throws ValueError if the number of values differs from the number of columns or one
  /// of them holds a line break, IoError if the file did not take the row.
  void row(const std::vector<Field>& values);

 private:
  void write(const std::string& line);

  std::filesystem::path path_;
  std::size_t columns_;
  std::ofstream file_;
};

}  // namespace xgrad::kit
