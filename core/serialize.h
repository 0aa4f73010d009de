// Named arrays in files: the safetensors format, read strictly and written so that no accident leaves half a file.
//
//     save_safetensors("model.safetensors", {.arrays = {{"weight", w}, {"bias", b}}, .metadata = {{"epoch", "3"}}});
//     const StateFile file = load_safetensors("model.safetensors");
//     const Array& w = file.get<Array>("weight");
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <variant>

#include <xgrad/core/array.h>

namespace xgrad::inline XGRAD_ABI {

/// An array of any kind.
using AnyArray = std::variant<Array, Index, Mask>;
/// Arrays by name. A name is any text in UTF-8; it is never taken for a path.
using NamedArrays = std::map<std::string, AnyArray, std::less<>>;
/// Further facts, text by name.
using Metadata = std::map<std::string, std::string, std::less<>>;

/// What a file holds. Threads: many may read it, or one change it; as a std::map.
struct StateFile {
  NamedArrays arrays = {};
  Metadata metadata = {};
  std::string source = {};  ///< the path of the file that it was read from, for errors; not saved

  /// The array of this name. Throws FormatError when there is none, or it is of another kind than A.
  template <class A>
  const A& get(std::string_view name) const;
  /// The entry of the metadata. Throws FormatError when there is none.
  const std::string& text(std::string_view key) const;

  /// Takes in another state, everything under the name `prefix.name`: what a checkpoint is made of.
  ///
  ///     StateFile checkpoint;
  ///     checkpoint.add("model", {.arrays = model.state_dict()});
  ///     checkpoint.add("optimizer", adam.state_dict());
  ///
  /// Throws ValueError for a name that is there already; then nothing has changed.
  void add(std::string_view prefix, const StateFile& state);
  /// What was added under `prefix`, under its own names again.
  StateFile part(std::string_view prefix) const;
};

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
/// lacks checksums that are required; LimitError for one that exceeds the options; NumericError; IoError.
StateFile load_safetensors(const std::string& path, const LoadOptions& options = {});

/// Text in double quotes, at most about 100 bytes of it, with everything escaped that is not printable ASCII: how
/// errors show names out of files.
std::string escaped(std::string_view text);

extern template const Array& StateFile::get<Array>(std::string_view) const;
extern template const Index& StateFile::get<Index>(std::string_view) const;
extern template const Mask& StateFile::get<Mask>(std::string_view) const;

}  // namespace xgrad::inline XGRAD_ABI
