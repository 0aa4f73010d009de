// What the kit throws: files that cannot be read or written, and files that hold something else than they should.
#pragma once

#include <cstddef>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>

namespace kit {

/// A file or folder could not be opened, read, written or made. The message names it and gives the system's reason.
class IoError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;

  /// "cannot <action> <path>: <text of errno>", for use right after the call that failed.
  static IoError from_errno(std::string_view action, const std::filesystem::path& path);
};

/// A file was read but does not hold what it should. The message begins with "path:line: ".
class DataError : public std::runtime_error {
 public:
  /// `line` counts from 1.
  DataError(const std::filesystem::path& path, std::size_t line, std::string_view text);

  /// The number of the line at fault, counted from 1.
  std::size_t line() const { return line_; }

 private:
  std::size_t line_;
};

}  // namespace kit
