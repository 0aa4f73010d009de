// Named arrays in files: the safetensors format, read strictly and written so that no accident leaves half a file.
//
//     save_safetensors("model.safetensors", {.arrays = {{"weight", w}, {"bias", b}}, .metadata = {{"epoch", "3"}}});
//     const StateFile file = load_safetensors("model.safetensors");
//     const Array& w = file.get<Array>("weight");
#pragma once

#include <string>

#include "state.h"

namespace xgrad {

/// What a reader thinks of checksums.
enum class Checksum {
  if_present,  ///< those that a file has are verified; one that never had any is read, too
  required,    ///< a file without them is refused: no damage, of whatever extent, can hide itself by hiding them
};

/// What a reader accepts. The defaults are those of the format, and what save_safetensors keeps to.
struct LoadOptions {
  std::int64_t max_header_bytes = 100'000'000;
  std::int64_t max_arrays = 100'000;
  std::int64_t max_name_bytes = 4096;
  bool finite = false;                       ///< refuse NaN and infinity with a NumericError
  Checksum checksum = Checksum::if_present;  ///< required, where save_safetensors must have written the file
};

/// Replaces the file by these arrays, or throws and leaves it as it was (see write_file_atomically).
///
/// Array is stored as F32 or F64, whichever Real is, Index as I64, Mask as BOOL. A checksum of every array with its
/// name and shape, and one of the metadata, go into the file; to the metadata is added {"format": "pt"}, which tools
/// written in Python ask for, unless there is a "format" already. Equal content gives equal bytes.
///
/// Throws ValueError for a name that is reserved ("__metadata__", metadata beginning with "xgrad.") or is not UTF-8,
/// LimitError beyond the defaults of LoadOptions, IoError.
void save_safetensors(const std::string& path, const StateFile& content);

/// Everything in the file. F64, F32, F16 and BF16 become Array, rounded to Real; the integer types become Index and
/// BOOL becomes Mask. Checksums are verified where there are any. (Damage in two places of the metadata can hide that
/// there were some; Checksum::required finds that, too.)
///
/// Throws FormatError for a file that breaks a rule of the format, down to a single wrong bit if it has checksums, or
/// lacks checksums that are required; LimitError for one that exceeds the options, or whose arrays exceed the memory of
/// the machine, before any is read; NumericError; IoError.
StateFile load_safetensors(const std::string& path, const LoadOptions& options = {});

}  // namespace xgrad
