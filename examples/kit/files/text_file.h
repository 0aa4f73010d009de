// Whole text files, plain or packed by gzip.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <xgrad/core/base/error.h>

namespace xgrad::kit {

/// The lines of a text file without their ends: UTF-8, with or without a byte order mark, lines ended by LF or CRLF,
/// gzip unpacked on the way. Throws IoError if the file cannot be read, is no regular file or its gzip data is damaged,
/// DataError with the line if it is not such text, LimitError if memory cannot hold it, or if it is packed and becomes
/// more than 16 MiB and than a hundred times its size.
std::vector<std::string> read_lines(const std::filesystem::path& path);

/// The whole text of a file: UTF-8, its byte order mark left out and CRLF made LF, gzip unpacked on the way. Throws
/// what `read_lines` throws.
std::string load_text(const std::filesystem::path& path);

}  // namespace xgrad::kit
