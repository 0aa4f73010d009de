// The output of an example: a folder of files, and one line for scripts.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include <xgrad/kit/program/format.h>

namespace xgrad::kit {

/// The folder for an example's files, made if it is missing: `chosen`, or out/<example> below the current folder if
/// `chosen` is empty. Throws IoError if it cannot be made or takes no files, so that no example computes for minutes
/// before it finds out.
std::filesystem::path output_folder(std::string_view example, const std::filesystem::path& chosen = {});

/// Writes a whole file. A reader sees the old file or the new one, and if writing fails nothing is left behind. Throws
/// IoError.
void save_text(const std::filesystem::path& path, std::string_view text);

/// The result of an example for scripts: one line `result name=value name=value ...` on standard output, printed at the
/// end. A value with spaces, quotes or control characters is put in double quotes with \ before " and \.
///
/// Threads: one at a time.
class ResultLine {
 public:
  /// Adds a value. Names are letters, digits and any of _ . - / ; otherwise ValueError.
  ResultLine& add(std::string_view name, const Field& value);

  /// The line, without its end.
  const std::string& text() const { return line_; }

  /// Prints the line to standard output and flushes it. Throws IoError if writing fails.
  void print() const;

 private:
  std::string line_ = "result";
};

}  // namespace xgrad::kit
