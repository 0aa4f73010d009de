// The wording of the kit's errors.
#include <xgrad/kit/program/error.h>

#include <cerrno>
#include <system_error>

namespace xgrad::kit {

DataError::DataError(const std::filesystem::path& path, std::size_t line, std::string_view text)
    : FormatError(str(path.string(), ":", line, ": ", text)) {}

IoError io_error(std::string_view action, const std::filesystem::path& path) {
  const std::string reason = std::generic_category().message(errno);
  return IoError(str("cannot ", action, " ", path.string(), ": ", reason));
}

}  // namespace xgrad::kit
