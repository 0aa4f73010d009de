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
/// Arrays by name. A name is any UTF-8 text and is never used as a path.
using NamedArrays = std::map<std::string, AnyArray, std::less<>>;
/// Metadata: text by name.
using Metadata = std::map<std::string, std::string, std::less<>>;

/// The content of a file.
struct [[nodiscard]] StateFile {
  NamedArrays arrays = {};
  Metadata metadata = {};
  std::string source = {};  ///< the path of the file that it was read from, for errors; it is not saved

  /// The array of this name. Throws FormatError when there is none, or when its type is not A.
  template <class A>
  A get(std::string_view name) const;
  /// The metadata entry with this key. Throws FormatError when there is none.
  std::string text(std::string_view key) const;

  /// Adds the entries of another state under the names `prefix.name`, for example to a checkpoint.
  ///
  ///     StateFile checkpoint;
  ///     checkpoint.add("model", {.arrays = model.state_dict()});
  ///     checkpoint.add("optimizer", adam.state_dict());
  ///
  /// Throws ValueError for a prefix with a dot or a name that exists already, and then changes nothing.
  void add(std::string_view prefix, const StateFile& state);
  /// The tensors that were added under `prefix`, with the names that they had before.
  StateFile part(std::string_view prefix) const;
};

template <class A>
A StateFile::get(std::string_view name) const {
  const auto found = arrays.find(name);
  const auto refuse = [&](const auto&... parts) {
    fail<FormatError>("state file", source, source.empty() ? "" : ": ", "array ", escaped(name), parts...);
  };
  if (found == arrays.end()) refuse(" is missing");
  const A* array = std::get_if<A>(&found->second);
  if (!array) {
    constexpr const char* kinds[] = {"real numbers", "integers", "booleans"};
    refuse(" holds ", kinds[found->second.index()], ", needs ", kinds[AnyArray(A()).index()]);
  }
  return *array;
}

/// The differences between a state from a file and what its reader needs.
struct StateDifference {
  std::vector<std::string> missing;     ///< needed, but not in the state
  std::vector<std::string> unexpected;  ///< in the state, but not needed
  std::vector<std::string> mismatched;  ///< in both with different shapes or kinds: `"w" [3, 2] for [2, 3]`

  bool empty() const { return missing.empty() && unexpected.empty() && mismatched.empty(); }
  void add_mismatch(std::string_view name, std::string_view what);
  /// Throws FormatError if there is a difference. The message lists the names, one on each line, at most 20 of each
  /// kind. `source` is the file that the state came from, if there is one.
  void refuse(std::string_view op, std::string_view source = {}) const;
};

/// Takes arrays out of a state by name and collects all differences. So a reader of the state can report all of them in
/// one error, before it changes anything.
///
///     StateMatch match(state.arrays);
///     const Array* weight = match.take<Array>("weight", {2, 3});
///     match.finish().refuse("load_state_dict", state.source);      // throws unless everything fitted
///
/// The state must outlive this object. Threads: each thread may use objects of its own.
class StateMatch {
 public:
  explicit StateMatch(const NamedArrays& state);

  /// The array of this name, of any type. Returns nullptr if there is none, but does not add a difference.
  const AnyArray* find(std::string_view name);
  /// The array of this name. Returns nullptr and adds a difference if the array is missing or has another type or
  /// shape, or if `fault` returns a text about wrong values.
  template <class A>
  const A* take(std::string_view name, const Shape& shape, const std::function<std::string(const A&)>& fault = {});
  /// All differences. Names that were never passed to find() or take() are unexpected.
  StateDifference& finish();

  StateDifference difference = {};

 private:
  const NamedArrays& state_;
  std::set<std::string_view> others_;  // names that nobody has asked for
};

template <class A>
const A* StateMatch::take(std::string_view name, const Shape& shape,
                          const std::function<std::string(const A&)>& fault) {
  const AnyArray* found = find(name);
  const A* value = found ? std::get_if<A>(found) : nullptr;
  if (!found) {
    difference.missing.emplace_back(name);
  } else if (!value) {
    difference.add_mismatch(name, "holds another kind of numbers");
  } else if (value->shape() != shape) {
    difference.add_mismatch(name, str(value->shape(), " for ", shape));
  } else if (const std::string words = fault ? fault(*value) : ""; !words.empty()) {
    difference.add_mismatch(name, words);
  } else {
    return value;
  }
  return nullptr;
}

}  // namespace xgrad
