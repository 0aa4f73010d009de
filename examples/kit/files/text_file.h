// Reading whole text files, with or without gzip.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <xgrad/core/base/error.h>

namespace xgrad::kit {

/// The lines of a text file without line ends. The text is UTF-8, with or without a byte order mark, with LF or CRLF,
/// and gzip is decompressed. Throws IoError if the file cannot be read, is no regular file, or has damaged gzip data.
/// Throws DataError, which names the line, for other encodings, zero bytes and lines above 1 MiB. Throws LimitError if
/// the text does not fit in memory, or if decompression exceeds both 16 MiB and a hundred times the size of the file.
std::vector<std::string> read_lines(const std::filesystem::path& path);

/// The whole text of a file in UTF-8. The byte order mark is removed, CRLF becomes LF, and gzip is decompressed. Throws
/// what read_lines() throws.
std::string load_text(const std::filesystem::path& path);

}  // namespace xgrad::kit
