// Regular expressions that split a text into words. Private.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <xgrad/core/base/error.h>

struct pcre2_real_code_8;

namespace xgrad::kit {

/// The expression of GPT-2, whose files do not state it.
inline constexpr std::string_view gpt2_pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

/// A regular expression in the syntax of PCRE2, for texts in UTF-8; white space is what Unicode calls so.
///
/// Threads: many may read from one object.
class Pattern {
 public:
  /// Throws ValueError for a text that is no such expression, and for one that matches the empty text.
  explicit Pattern(std::string_view expression);

  const std::string& expression() const { return expression_; }
  /// The parts of a text, which cover it: each match, and what lies between two of them. Bytes that are not UTF-8 are
  /// in no match. Throws LimitError if a match takes too many steps.
  std::vector<std::string_view> split(std::string_view text) const;

 private:
  std::string expression_;
  std::shared_ptr<const pcre2_real_code_8> code_;
};

}  // namespace xgrad::kit
