// Regular expressions are those of PCRE2. The package `tokenizers` has Oniguruma: syntax that both share is kept, other
// syntax is translated or refused.
#include <xgrad/kit/text/tokenizer_parts.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <memory>
#include <optional>

namespace xgrad::kit {
namespace {

/// An expression that was compiled.
class Regex {
 public:
  /// Nothing if PCRE2 does not understand it; then `why` says the reason.
  static std::optional<Regex> compile(std::string_view regex, std::string& why) {
    int error = 0;
    std::size_t at = 0;
    constexpr std::uint32_t options = PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C;
    Regex made;
    made.code_.reset(
        pcre2_compile(reinterpret_cast<PCRE2_SPTR>(regex.data()), regex.size(), options, &error, &at, nullptr),
        pcre2_code_free);
    if (made.code_) {
      pcre2_jit_compile(made.code_.get(), PCRE2_JIT_COMPLETE);
      return made;
    }
    std::array<unsigned char, 200> message{};
    pcre2_get_error_message(error, message.data(), message.size());
    why = cat(reinterpret_cast<const char*>(message.data()), " at byte ", at);
    return std::nullopt;
  }

  std::vector<Span> operator()(std::string_view text) const {
    const std::unique_ptr<pcre2_match_data, decltype(&pcre2_match_data_free)> data(pcre2_match_data_create(1, nullptr),
                                                                                   pcre2_match_data_free);
    std::vector<Span> spans;
    std::size_t done = 0;
    while (done < text.size()) {
      const auto match = [&](std::uint32_t more) {
        return pcre2_match(code_.get(), reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), done,
                           PCRE2_NO_UTF_CHECK | PCRE2_NOTEMPTY | more, data.get(), nullptr);
      };
      int result = match(0);
      if (result == PCRE2_ERROR_JIT_STACKLIMIT) result = match(PCRE2_NO_JIT);
      if (result == PCRE2_ERROR_NOMATCH) break;
      if (result < 0) {
        fail<ValueError>("encode", "the pattern of the file takes too long on a text of ", text.size(), " bytes");
      }
      const std::size_t* place = pcre2_get_ovector_pointer(data.get());
      if (place[0] > done) spans.push_back({done, place[0], false});
      spans.push_back({place[0], place[1], true});
      done = place[1];
    }
    if (done < text.size()) spans.push_back({done, text.size(), false});
    return spans;
  }

 private:
  std::shared_ptr<pcre2_code> code_;  // which PCRE2 does not change after it was compiled
};

/// \w of Oniguruma in a set; where it stands alone, six fractions and powers of Latin-1 are among the letters, too.
constexpr std::string_view word_set = R"(\p{Alphabetic}\p{M}\p{Nd}\p{Pc})",
                           more_words = R"(\x{B2}\x{B3}\x{B9}\x{BC}-\x{BE})";

/// \p{Han} and the like: characters of a script alone, where PCRE2 takes those, too, that it shares with others.
std::optional<std::string> script_alone(std::string_view rest) {
  const std::size_t end = rest.find('}');
  if (!rest.substr(2).starts_with('{') || end == rest.npos || end <= 5) return std::nullopt;
  std::string script = cat(rest.substr(0, 3), "sc:", rest.substr(3, end - 2)), why;
  return Regex::compile(script, why) ? std::optional(std::move(script)) : std::nullopt;
}

/// The expression in the words of PCRE2, or the part that has no such words.
struct Translation {
  std::string regex;
  std::string refused;
};

Translation translated(std::string_view regex) {
  Translation to;
  bool in_set = false;
  for (std::size_t i = 0; i < regex.size(); ++i) {
    const std::string_view rest = regex.substr(i);
    const auto starts = [&](std::initializer_list<std::string_view> all) {
      return std::ranges::any_of(all, [&](std::string_view one) { return rest.starts_with(one); });
    };
    const auto refuse = [&](std::size_t length) { return Translation{"", std::string(rest.substr(0, length))}; };
    if (rest[0] == '\\') {
      const char c = rest.size() > 1 ? rest[1] : ' ';
      if (c == 's' || c == 'S') {  // PCRE2 takes U+180E for a space
        to.regex += c == 's' ? R"(\p{White_Space})" : R"(\P{White_Space})";
      } else if (c == 'w' && in_set) {
        to.regex += word_set;
      } else if ((c == 'w' || c == 'W') && !in_set) {
        to.regex += cat(c == 'w' ? "[" : "[^", word_set, more_words, "]");
      } else if (c == 'v') {
        to.regex += R"(\x{0B})";
      } else if (c == 'u' && rest.size() >= 6) {
        to.regex += cat(R"(\x{)", rest.substr(2, 4), "}");
        i += 4;
      } else if (const auto script = c == 'p' || c == 'P' ? script_alone(rest) : std::nullopt) {
        to.regex += *script;
        i += rest.find('}') - 1;
      } else if (std::string_view("dDrntfpPx").find(c) != std::string_view::npos ||
                 std::ispunct(static_cast<unsigned char>(c)) != 0) {
        to.regex += rest.substr(0, 2);
      } else {
        return refuse(2);
      }
      ++i;
      continue;
    }
    if (in_set && starts({"[", "&&"})) return refuse(2);
    if (!in_set && starts({"(?"}) && !starts({"(?:", "(?=", "(?!", "(?<=", "(?<!", "(?>", "(?i:", "(?i)", "(?-i:"})) {
      return refuse(4);
    }
    if (!in_set && starts({"(*"})) return refuse(2);
    if (rest[0] == '[' && !in_set) {
      in_set = true;
      // A closing bracket directly after the opening one is one of the characters.
      const std::size_t open = rest.starts_with("[^") ? 2 : 1;
      if (rest.substr(open).starts_with("]")) return refuse(open + 1);
    } else if (rest[0] == ']') {
      in_set = false;
    }
    to.regex += rest[0];
  }
  return to;
}

std::vector<Span> spans_of_text(std::string_view text, std::string_view wanted) {
  std::vector<Span> spans;
  std::size_t done = 0;
  for (std::size_t at = text.find(wanted); at != text.npos; at = text.find(wanted, done)) {
    if (at > done) spans.push_back({done, at, false});
    done = at + wanted.size();
    spans.push_back({at, done, true});
  }
  if (done < text.size()) spans.push_back({done, text.size(), false});
  return spans;
}

}  // namespace

Finder read_pattern(const JsonField& field) {
  if (const JsonField wanted = field["String"]; !wanted.empty()) {
    if (wanted.text().empty()) wanted.refuse("the text to look for is empty");
    return [text = wanted.text()](std::string_view all) { return spans_of_text(all, text); };
  }
  const JsonField wanted = field["Regex"];
  const Translation regex = translated(wanted.text());
  if (!regex.refused.empty()) {
    wanted.refuse(cat("regular expressions with ", in_quotes(regex.refused), " are not supported"));
  }
  std::string why;
  const std::optional<Regex> made = Regex::compile(regex.regex, why);
  if (!made) wanted.refuse(cat("no regular expression: ", why));
  return *made;
}

Finder pattern_finder(std::string_view regex) {
  std::string why;
  return Regex::compile(regex, why).value();
}

}  // namespace xgrad::kit
