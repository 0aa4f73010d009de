// Errors of the kit besides the library's own: files with unexpected content.
#pragma once

#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

#include <xgrad/core/base/error.h>

namespace xgrad::kit {

/// A file was read but its content is not as expected. The message begins with "path:line: ".
struct DataError : FormatError {
  /// `line` counts from 1.
  DataError(const std::filesystem::path& path, std::size_t line, std::string_view text)
      : FormatError(str(path.string(), ":", line, ": ", text)) {}
};

/// "cannot <action> <path>: <text of errno>", for use right after the call that failed.
inline IoError io_error(std::string_view action, const std::filesystem::path& path) {
  const std::string reason = std::generic_category().message(errno);
  return IoError(str("cannot ", action, " ", path.string(), ": ", reason));
}

}  // namespace xgrad::kit
