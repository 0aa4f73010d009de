// The error that lists the differences of a state.
#include "state_difference.h"

#include <algorithm>

#include "../base/text.h"

namespace xgrad {

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

}  // namespace xgrad
