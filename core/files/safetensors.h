// Named arrays in files: the safetensors format, read strictly and written so that no crash leaves half a file.
//
//     save_safetensors("model.safetensors", {.arrays = {{"weight", w}, {"bias", b}}, .metadata = {{"epoch", "3"}}});
//     const StateFile file = load_safetensors("model.safetensors");
//     const Array& w = file.get<Array>("weight");
#pragma once

#include <string>

#include "state.h"

namespace xgrad {

/// Writes arrays and metadata to a file, or throws and leaves the old file as it was (see write_file_atomically).
///
/// Array is stored as F32 or F64 like Real, Index as I64, Mask as BOOL. The file contains a checksum of each array with
/// its name and shape, and a checksum of the metadata. Metadata without a "format" get the entry {"format": "pt"},
/// which Python tools require. Equal content gives equal bytes.
///
/// Throws ValueError for a name that is not UTF-8 or is reserved ("__metadata__", metadata that begin with "xgrad.").
/// Throws LimitError for more than 100,000 arrays, a name of more than 4,096 bytes or a header of more than 100 MB;
/// IoError if the file cannot be written.
void save_safetensors(const std::string& path, const StateFile& content);

/// The content of a file. F64, F32, F16 and BF16 become Array, rounded to Real; integer types become Index, and BOOL
/// becomes Mask. Checksums are verified if the file has them.
///
/// Throws FormatError if the file breaks a rule of the format, or if a checksum does not match. Throws LimitError,
/// before it reads an array, if the file exceeds the limits of save_safetensors or its arrays exceed the memory of the
/// machine. Throws IoError if the file cannot be read.
StateFile load_safetensors(const std::string& path);

namespace detail {
/// The greatest size of the header of a safetensors file, and of an index of several files.
inline constexpr std::int64_t max_header_bytes = 100'000'000;
}  // namespace detail

}  // namespace xgrad
