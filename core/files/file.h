// Files: reading in pieces, and writing that replaces a file completely or not at all.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "../base/config.h"

namespace xgrad {

/// The memory of this machine in bytes. Larger files are not read.
std::int64_t machine_memory();

/// A regular file that is open for reading while the object lives. Its errors begin with `op`.
/// Threads: many threads may read from one object.
class InputFile {
 public:
  /// Opens the file. Throws IoError when it cannot be opened, or is a folder, a pipe or a device. Throws ValueError for
  /// a path with a NUL byte, because the operating system would cut the path there.
  explicit InputFile(std::string path, std::string_view op = "read_file");
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::string& path() const { return path_; }
  /// The size in bytes when the file was opened.
  std::int64_t size() const { return size_; }
  /// The bytes in the half-open range [begin, begin + count). Throws IoError when reading fails or the file has become
  /// shorter, LimitError if there is no memory for the bytes.
  std::string read(std::int64_t begin, std::int64_t count) const;

 private:
  std::string path_;
  std::string_view op_;
  int descriptor_;
  std::int64_t size_;
};

/// The content of a file. Throws as the constructor of InputFile and as InputFile::read.
std::string read_file(const std::string& path);

/// Writes the pieces to the file, one after the other. A later reader finds the old content or the new content, never a
/// mixture, even after a power failure: the bytes go to the file `.name.tmp` in the same folder, which is synced and
/// then renamed. A process that dies may leave that file behind; the next writer overwrites it. Throws IoError if
/// writing fails, or if the path is a link, a folder, a pipe or a device; the old file stays unchanged. Throws
/// ValueError for a path with a NUL byte.
///
/// Threads: several threads and processes may write the same file if the file system has locks. The last writer wins.
void write_file_atomically(const std::string& path, std::span<const std::string_view> pieces,
                           std::string_view op = "write_file_atomically");
void write_file_atomically(const std::string& path, std::string_view content,
                           std::string_view op = "write_file_atomically");

}  // namespace xgrad
