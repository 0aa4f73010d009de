// State: arrays and metadata by name.
#include "state.h"

#include <algorithm>

#include "../base/error.h"
#include "../base/text.h"

namespace xgrad {

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

template Array StateFile::get<Array>(std::string_view) const;
template Index StateFile::get<Index>(std::string_view) const;
template Mask StateFile::get<Mask>(std::string_view) const;

std::string StateFile::text(std::string_view key) const {
  const auto found = metadata.find(key);
  if (found == metadata.end()) {
    fail<FormatError>("state file", source, source.empty() ? "" : ": ", "metadata ", escaped(key), " is missing");
  }
  return found->second;
}

void StateFile::add(std::string_view prefix, const StateFile& state) {
  if (const std::size_t dot = prefix.find('.'); dot != prefix.npos) {
    fail<ValueError>("add", "the prefix ", escaped(prefix), " has a dot: part(", escaped(prefix.substr(0, dot)),
                     ") would have it, too");
  }
  const auto prefixed = [prefix]<class Map>(const Map& mine, const Map& others) {
    Map added;
    for (const auto& [name, value] : others) {
      const std::string full = str(prefix, ".", name);
      if (mine.contains(full)) fail<ValueError>("add", escaped(full), " exists already");
      added.emplace_hint(added.end(), full, value);
    }
    return added;
  };
  NamedArrays more_arrays = prefixed(arrays, state.arrays);
  Metadata more_metadata = prefixed(metadata, state.metadata);
  arrays.merge(more_arrays);
  metadata.merge(more_metadata);
}

StateFile StateFile::part(std::string_view prefix) const {
  StateFile state{.source = source};
  const std::string start = str(prefix, ".");
  const auto copy_all = [&start](const auto& mine, auto& others) {
    for (auto at = mine.lower_bound(start); at != mine.end() && at->first.starts_with(start); ++at) {
      others.emplace(at->first.substr(start.size()), at->second);
    }
  };
  copy_all(arrays, state.arrays);
  copy_all(metadata, state.metadata);
  return state;
}

void StateDifference::add_mismatch(std::string_view name, const Shape& given, const Shape& needed) {
  mismatched.push_back(str(escaped(name), " ", given, " for ", needed));
}

void StateDifference::add_mismatch(std::string_view name, std::string_view what) {
  mismatched.push_back(str(escaped(name), " ", what));
}

void StateDifference::refuse(std::string_view op, std::string_view source) const {
  if (empty()) return;
  constexpr std::size_t most = 20;
  std::string lists;
  const auto list = [&](std::string_view title, const std::vector<std::string>& entries, const auto& shown) {
    if (entries.empty()) return;
    append(lists, str("\n  ", title, ":"));
    for (std::size_t i = 0; i < std::min(entries.size(), most); ++i) append(lists, str("\n    ", shown(entries[i])));
    if (entries.size() > most) append(lists, str("\n    and ", entries.size() - most, " more"));
  };
  list("missing", missing, escaped);
  list("unexpected", unexpected, escaped);
  list("mismatched", mismatched, [](const std::string& entry) { return entry; });
  fail<FormatError>(op, source, source.empty() ? "" : ": ", "the state does not fit", lists);
}

StateMatch::StateMatch(const NamedArrays& state) : state_(state) {
  for (const auto& [name, value] : state) others_.insert(name);
}

const AnyArray* StateMatch::find(std::string_view name) {
  others_.erase(name);
  const auto found = state_.find(name);
  return found == state_.end() ? nullptr : &found->second;
}

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
    difference.add_mismatch(name, value->shape(), shape);
  } else if (const std::string words = fault ? fault(*value) : ""; !words.empty()) {
    difference.add_mismatch(name, words);
  } else {
    return value;
  }
  return nullptr;
}

template const Array* StateMatch::take<Array>(std::string_view, const Shape&,
                                              const std::function<std::string(const Array&)>&);
template const Index* StateMatch::take<Index>(std::string_view, const Shape&,
                                              const std::function<std::string(const Index&)>&);

StateDifference& StateMatch::finish() {
  difference.unexpected.assign(others_.begin(), others_.end());
  return difference;
}

}  // namespace xgrad
