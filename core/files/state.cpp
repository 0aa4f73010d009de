// State: arrays and metadata by name.
#include "state.h"

#include <algorithm>

#include "../base/error.h"
#include "../base/text.h"

namespace xgrad {

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

StateDifference& StateMatch::finish() {
  difference.unexpected.assign(others_.begin(), others_.end());
  return difference;
}

}  // namespace xgrad
