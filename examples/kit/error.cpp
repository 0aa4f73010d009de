// The wording of the kit's errors.
#include <kit/error.h>

#include <cerrno>
#include <system_error>

namespace kit {

IoError IoError::from_errno(std::string_view action, const std::filesystem::path& path) {
  const std::string reason = std::generic_category().message(errno);
  return IoError("cannot " + std::string(action) + " " + path.string() + ": " + reason);
}

DataError::DataError(const std::filesystem::path& path, std::size_t line, std::string_view text)
    : std::runtime_error(path.string() + ":" + std::to_string(line) + ": " + std::string(text)), line_(line) {}

}  // namespace kit
