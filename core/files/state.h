// State: arrays and metadata by name, the form in which models, optimizers and checkpoints are saved.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <variant>

#include "../array/array.h"

namespace xgrad {

/// An array of any kind.
using AnyArray = std::variant<Array, Index, Mask>;
/// Arrays by name. A name is any text in UTF-8; it is never taken for a path.
using NamedArrays = std::map<std::string, AnyArray, std::less<>>;
/// Further information, text by name.
using Metadata = std::map<std::string, std::string, std::less<>>;

/// The content of a file. Threads: many may read it, or one change it; as a std::map.
struct StateFile {
  NamedArrays arrays = {};
  Metadata metadata = {};
  std::string source = {};  ///< the path of the file that it was read from, for errors; not saved

  /// The array of this name. Throws FormatError when there is none, or it is of another kind than A.
  template <class A>
  const A& get(std::string_view name) const;
  /// The entry of the metadata. Throws FormatError when there is none.
  const std::string& text(std::string_view key) const;

  /// Adds another state, everything under the name `prefix.name`: the parts of a checkpoint.
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

extern template const Array& StateFile::get<Array>(std::string_view) const;
extern template const Index& StateFile::get<Index>(std::string_view) const;
extern template const Mask& StateFile::get<Mask>(std::string_view) const;

}  // namespace xgrad
