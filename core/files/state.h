// StateFile: arrays and metadata by name, the form in which models, optimizers and checkpoints are saved.
#pragma once

#include <functional>
#include <map>
#include <set>
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

/// Reads the arrays of a state name by name, and notes everything that does not fit, so that a reader can refuse all of
/// it in one error before it changes anything.
///
///     StateMatch match(state.arrays);
///     const Array* weight = match.take<Array>("weight", {2, 3});
///     match.finish().refuse("load_state_dict", state.source);      // throws unless everything fitted
///
/// The state must outlive it. Threads: a plain value.
class StateMatch {
 public:
  explicit StateMatch(const NamedArrays& state);

  /// The array of this name, of any type; nullptr if there is none, which is not noted.
  const AnyArray* find(std::string_view name);
  /// The array of this name. nullptr, and a note, if it is missing, of another type or shape, or if `fault` has words
  /// for its values.
  template <class A>
  const A* take(std::string_view name, const Shape& shape, const std::function<std::string(const A&)>& fault = {});
  /// All notes, and as unexpected the names that find() and take() were not given.
  StateDifference& finish();

  StateDifference difference = {};

 private:
  const NamedArrays& state_;
  std::set<std::string_view> others_;  // names that nobody has asked for
};

extern template const Array* StateMatch::take<Array>(std::string_view, const Shape&,
                                                     const std::function<std::string(const Array&)>&);
extern template const Index* StateMatch::take<Index>(std::string_view, const Shape&,
                                                     const std::function<std::string(const Index&)>&);

}  // namespace xgrad
