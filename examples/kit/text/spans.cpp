// Splitting of texts: the five behaviors of the package `tokenizers`.
#include <xgrad/kit/text/tokenizer_parts.h>

#include <algorithm>
#include <array>
#include <utility>

#include <xgrad/kit/text/utf8.h>

namespace xgrad::kit {
namespace {

/// Appends each match to the span before it, unless that is a match, too.
std::vector<Span> merged_with_neighbour(const std::vector<Span>& found) {
  std::vector<Span> spans;
  bool was_match = false;
  for (const Span& span : found) {
    if (span.match && !was_match && !spans.empty()) {
      spans.back().begin = std::min(spans.back().begin, span.begin);
      spans.back().end = std::max(spans.back().end, span.end);
    } else {
      spans.push_back({span.begin, span.end, false});
    }
    was_match = span.match;
  }
  return spans;
}

}  // namespace

Finder character_finder(std::function<bool(char32_t)> is_match) {
  return [is_match = std::move(is_match)](std::string_view text) {
    std::vector<Span> spans;
    for (std::size_t at = 0; at < text.size();) {
      const DecodedCharacter next = decode_first(text.substr(at));
      const bool match = is_match(next.value);
      if (match || spans.empty() || spans.back().match) spans.push_back({at, at, match});
      spans.back().end = at += next.length;
    }
    return spans;
  };
}

Behavior read_behavior(const JsonField& field, Behavior otherwise) {
  constexpr std::array<std::pair<const char*, Behavior>, 5> names{
      {{"Removed", Behavior::removed},
       {"Isolated", Behavior::isolated},
       {"MergedWithPrevious", Behavior::merged_with_previous},
       {"MergedWithNext", Behavior::merged_with_next},
       {"Contiguous", Behavior::contiguous}}};
  if (field.empty()) return otherwise;
  const std::string wanted = field.text();
  for (const auto& [name, behavior] : names) {
    if (wanted == name) return behavior;
  }
  field.refuse(cat(in_quotes(wanted), " is no behavior that is known"));
}

std::vector<Span> split_spans(std::vector<Span> found, Behavior behavior) {
  switch (behavior) {
    case Behavior::removed:
      return found;
    case Behavior::isolated:
      for (Span& span : found) span.match = false;
      return found;
    case Behavior::merged_with_previous:
      return merged_with_neighbour(found);
    case Behavior::merged_with_next: {
      std::ranges::reverse(found);
      std::vector<Span> spans = merged_with_neighbour(found);
      std::ranges::reverse(spans);
      return spans;
    }
    case Behavior::contiguous: {
      std::vector<Span> spans;
      bool was_match = false;
      for (const Span& span : found) {
        if (span.match == was_match && !spans.empty()) {
          spans.back().end = span.end;
        } else {
          spans.push_back({span.begin, span.end, false});
        }
        was_match = span.match;
      }
      return spans;
    }
  }
  return found;
}

}  // namespace xgrad::kit
