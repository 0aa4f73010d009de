// Files that may be packed by gzip. Private.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

#include <xgrad/core/base/error.h>

struct gzFile_s;

namespace xgrad::kit {

/// A regular file, plain or packed by gzip, whose unpacked bytes are read from the first to the last.
///
/// Threads: one at a time.
class PackedFile {
 public:
  /// Throws IoError if the file cannot be opened or is no regular file.
  explicit PackedFile(std::filesystem::path path);

  /// True if the file begins as gzip data do.
  bool packed() const { return packed_; }
  /// The bytes of the file as it is.
  std::int64_t packed_bytes() const { return packed_bytes_; }
  /// The most bytes that can be read: those of the file, or of a packed one 1032 times as many, the limit of deflate. A
  /// header that declares more is wrong.
  std::int64_t most_bytes() const { return packed_bytes_ * (packed_ ? 1032 : 1); }

  /// Reads the next bytes; fewer than the buffer holds only at the end. Throws IoError if reading fails or the packed
  /// data are damaged.
  std::size_t read(std::span<char> buffer);

 private:
  std::filesystem::path path_;
  std::unique_ptr<gzFile_s, int (*)(gzFile_s*)> file_;
  bool packed_ = false;
  std::int64_t packed_bytes_ = 0;
};

}  // namespace xgrad::kit
