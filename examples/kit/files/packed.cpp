// Reading through zlib, which hands on files that are not packed as they are.
#include <xgrad/kit/files/packed.h>

#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <limits>

#include <xgrad/kit/program/error.h>

namespace xgrad::kit {

PackedFile::PackedFile(std::filesystem::path path) : path_(std::move(path)), file_(nullptr, gzclose) {
  // Opening a pipe would wait for a writer, and a device may never end.
  std::error_code ignored;
  if (std::filesystem::exists(path_, ignored) && !std::filesystem::is_regular_file(path_, ignored)) {
    throw IoError("cannot read " + path_.string() + ": not a regular file");
  }
  errno = 0;
  file_.reset(gzopen(path_.c_str(), "rb"));
  if (!file_) throw io_error("open", path_);
  packed_ = gzdirect(file_.get()) == 0;
  const std::uintmax_t bytes = std::filesystem::file_size(path_, ignored);
  if (ignored) throw io_error("examine", path_);
  constexpr std::uintmax_t most = std::numeric_limits<std::int64_t>::max() / 1032;  // so that no product overflows
  packed_bytes_ = static_cast<std::int64_t>(std::min(bytes, most));
}

std::size_t PackedFile::read(std::span<char> buffer) {
  constexpr std::size_t most_at_once = 1 << 30;
  std::size_t done = 0;
  for (;;) {
    const std::size_t wanted = std::min(buffer.size() - done, most_at_once);
    errno = 0;
    const int count = gzread(file_.get(), buffer.data() + done, static_cast<unsigned>(wanted));
    int error = Z_OK;
    const char* text = gzerror(file_.get(), &error);
    if (error == Z_ERRNO) throw io_error("read", path_);
    if (error != Z_OK) throw IoError("cannot read " + path_.string() + ": damaged gzip data: " + text);
    done += static_cast<std::size_t>(count);
    if (done == buffer.size() || static_cast<std::size_t>(count) < wanted) return done;
  }
}

}  // namespace xgrad::kit
