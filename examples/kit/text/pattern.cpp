// The only file that knows PCRE2.
#include <xgrad/kit/text/pattern.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <array>
#include <cstddef>
#include <new>

#include <xgrad/kit/unicode/unicode.h>

namespace xgrad::kit {
namespace {

/// The expression with the white space of Unicode in place of \s and, outside of [], \S: those of PCRE2 count U+180E,
/// too, which other libraries do not.
std::string with_white_space(std::string_view expression) {
  const std::string spaces = R"(\t-\r\x20\x{85}\p{Z})";
  std::string result;
  bool in_set = false;
  for (std::size_t i = 0; i < expression.size(); ++i) {
    const std::string_view next = expression.substr(i, 2);
    if (next == "\\s") {
      result += in_set ? spaces : "[" + spaces + "]";
    } else if (next == "\\S" && !in_set) {
      result += "[^" + spaces + "]";
    } else if (next[0] == '\\') {
      result += next;
    } else {
      in_set = next[0] == '[' || (in_set && next[0] != ']');
      result += next[0];
      continue;
    }
    ++i;
  }
  return result;
}

std::string message_of(int error) {
  std::array<PCRE2_UCHAR, 256> text{};
  pcre2_get_error_message(error, text.data(), text.size());
  return reinterpret_cast<const char*>(text.data());
}

const PCRE2_UCHAR* begin_of(std::string_view text) { return reinterpret_cast<PCRE2_SPTR>(text.data()); }

void split_utf8(const pcre2_code* code, std::string_view text, std::vector<std::string_view>& words) {
  const std::unique_ptr<pcre2_match_data, decltype(&pcre2_match_data_free)> match(
      pcre2_match_data_create_from_pattern(code, nullptr), pcre2_match_data_free);
  if (!match) throw std::bad_alloc();
  const PCRE2_SIZE* found = pcre2_get_ovector_pointer(match.get());
  for (std::size_t done = 0; done < text.size();) {
    // The text is UTF-8: to check it again for each match would take the square of its length.
    const int count = pcre2_match(code, begin_of(text), text.size(), done, PCRE2_NO_UTF_CHECK, match.get(), nullptr);
    if (count < 0 && count != PCRE2_ERROR_NOMATCH) fail<LimitError>("encode", "PCRE2: ", message_of(count));
    const std::size_t begin = count < 0 ? text.size() : found[0], end = count < 0 ? text.size() : found[1];
    if (begin > done) words.push_back(text.substr(done, begin - done));
    if (end > begin) words.push_back(text.substr(begin, end - begin));
    done = end;
  }
}

}  // namespace

Pattern::Pattern(std::string_view expression) : expression_(expression) {
  constexpr const char* op = "Pattern";
  require_utf8(op, expression);
  const std::string text = with_white_space(expression);
  int error = 0;
  PCRE2_SIZE place = 0;
  pcre2_code* code = pcre2_compile(begin_of(text), text.size(), PCRE2_UTF | PCRE2_UCP, &error, &place, nullptr);
  if (code == nullptr)
    fail<ValueError>(op, "no expression of PCRE2: ", message_of(error), " in ", in_quotes(expression));
  code_ = std::shared_ptr<const pcre2_code>(code, [code](const pcre2_code*) { pcre2_code_free(code); });
  std::uint32_t matches_empty = 0;
  pcre2_pattern_info(code, PCRE2_INFO_MATCHEMPTY, &matches_empty);
  if (matches_empty != 0) fail<ValueError>(op, "the expression matches the empty text: ", in_quotes(expression));
  pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);  // a system without makes matches slower, not other ones
}

std::vector<std::string_view> Pattern::split(std::string_view text) const {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const std::size_t valid = utf8_prefix(text);
    split_utf8(code_.get(), text.substr(0, valid), words);
    text.remove_prefix(valid);
    std::size_t others = 0;
    while (others < text.size() && decode_first(text.substr(others)).length == 0) ++others;
    if (others > 0) words.push_back(text.substr(0, others));
    text.remove_prefix(others);
  }
  return words;
}

}  // namespace xgrad::kit
