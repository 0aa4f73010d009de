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
/// Array is stored as F32 or F64 like Real, Index as I64, Mask as BOOL. The file gets a checksum of every array with
/// its name and shape, and one of the metadata. Metadata without a "format" get {"format": "pt"}, which tools written
/// in Python require. Equal content gives equal bytes.
///
/// Throws ValueError for a name that is reserved ("__metadata__", metadata beginning with "xgrad.") or is not UTF-8,
/// LimitError for more than 100,000 arrays, a name of more than 4,096 bytes or a header of more than 100 MB; IoError.
void save_safetensors(const std::string& path, const StateFile& content);

/// The content of a file. F64, F32, F16 and BF16 become Array, rounded to Real; the integer types become Index and BOOL
/// becomes Mask. Checksums are verified if the file has them.
///
/// Throws FormatError for a file that breaks a rule of the format, or that has checksums and a single wrong bit;
/// LimitError for a file beyond the limits of save_safetensors, or whose arrays exceed the memory of the machine,
/// before any is read; IoError.
StateFile load_safetensors(const std::string& path);

namespace detail {
/// The greatest size of the header of a safetensors file, and of an index of several files.
inline constexpr std::int64_t max_header_bytes = 100'000'000;
}  // namespace detail

}  // namespace xgrad
