// StateFile: arrays and metadata by name, the form in which models, optimizers and checkpoints are saved.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "../array/array.h"

namespace xgrad {

/// An array of any kind.
using AnyArray = std::variant<Array, Index, Mask>;
/// Arrays by name. A name is any text in UTF-8 and never a path.
using NamedArrays = std::map<std::string, AnyArray, std::less<>>;
/// Metadata: text by name.
using Metadata = std::map<std::string, std::string, std::less<>>;

/// The content of a file.
struct [[nodiscard]] StateFile {
  NamedArrays arrays = {};
  Metadata metadata = {};
  std::string source = {};  ///< the path of the file that it was read from, for errors; not saved

  /// The array of this name. Throws FormatError when there is none, or when its type is not A.
  template <class A>
  A get(std::string_view name) const;
  /// The entry of the metadata. Throws FormatError when there is none.
  std::string text(std::string_view key) const;

  /// Adds another state under the names `prefix.name`, as a part of a checkpoint.
  ///
  ///     StateFile checkpoint;
  ///     checkpoint.add("model", {.arrays = model.state_dict()});
  ///     checkpoint.add("optimizer", adam.state_dict());
  ///
  /// Throws ValueError for a prefix with a dot and for a name that exists already; then nothing has changed.
  void add(std::string_view prefix, const StateFile& state);
  /// The part that was added under `prefix`, under its original names.
  StateFile part(std::string_view prefix) const;
};

extern template Array StateFile::get<Array>(std::string_view) const;
extern template Index StateFile::get<Index>(std::string_view) const;
extern template Mask StateFile::get<Mask>(std::string_view) const;

/// The differences between a state from a file and what its reader needs.
struct StateDifference {
  std::vector<std::string> missing;     ///< needed, but not in the state
  std::vector<std::string> unexpected;  ///< in the state, but not needed
  std::vector<std::string> mismatched;  ///< in both with different shapes or kinds: `"w" [3, 2] for [2, 3]`

  bool empty() const { return missing.empty() && unexpected.empty() && mismatched.empty(); }
  void add_mismatch(std::string_view name, const Shape& given, const Shape& needed);
  void add_mismatch(std::string_view name, std::string_view what);
  /// Throws FormatError with the names, at most 20 of each kind, one a line, unless there is no difference. `source` is
  /// the file that the state came from, if there is one.
  void refuse(std::string_view op, std::string_view source = {}) const;
};

}  // namespace xgrad
