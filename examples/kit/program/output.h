// The output of an example: a directory of files, and one line of results for scripts.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include <xgrad/kit/program/format.h>

namespace xgrad::kit {

/// The directory for the files of an example: `chosen`, or out/<example> in the current directory if `chosen` is empty.
/// It is created if missing. Throws IoError if it cannot be created or written to, so that an example fails at the
/// start and not at its end.
std::filesystem::path output_folder(std::string_view example, const std::filesystem::path& chosen = {});

/// Writes a whole file. A reader sees the old or the new file, never a part. If writing fails, the old file stays and
/// no partial file is left behind. Throws IoError.
void save_text(const std::filesystem::path& path, std::string_view text);

/// The results of an example for scripts: one line `result name=value name=value ...` on standard output, printed at
/// the end. A value with spaces, quotes or control characters is enclosed in double quotes, with \ before " and \.
///
/// Threads: one thread at a time.
class ResultLine {
 public:
  /// Adds a value. Throws ValueError unless the name consists of letters, digits and the characters _ . - /
  ResultLine& add(std::string_view name, const Field& value);

  /// The line, without a line end.
  const std::string& text() const { return line_; }

  /// Prints the line to standard output and flushes it. Throws IoError if writing fails.
  void print() const;

 private:
  std::string line_ = "result";
};

}  // namespace xgrad::kit
