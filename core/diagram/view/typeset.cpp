// Names and equations in mathematical notation.
#include "typeset.h"

#include <algorithm>
#include <array>
#include <utility>

#include "../../base/text.h"

namespace xgrad::detail {
namespace {

using Word = std::pair<std::string_view, std::string_view>;

constexpr std::array<Word, 35> greek{
    {{"alpha", "\u03B1"}, {"beta", "\u03B2"},    {"gamma", "\u03B3"},  {"delta", "\u03B4"}, {"epsilon", "\u03B5"},
     {"eps", "\u03B5"},   {"zeta", "\u03B6"},    {"eta", "\u03B7"},    {"theta", "\u03B8"}, {"iota", "\u03B9"},
     {"kappa", "\u03BA"}, {"lambda", "\u03BB"},  {"mu", "\u03BC"},     {"nu", "\u03BD"},    {"xi", "\u03BE"},
     {"pi", "\u03C0"},    {"rho", "\u03C1"},     {"sigma", "\u03C3"},  {"tau", "\u03C4"},   {"upsilon", "\u03C5"},
     {"phi", "\u03C6"},   {"chi", "\u03C7"},     {"psi", "\u03C8"},    {"omega", "\u03C9"}, {"Gamma", "\u0393"},
     {"Delta", "\u0394"}, {"Theta", "\u0398"},   {"Lambda", "\u039B"}, {"Xi", "\u039E"},    {"Pi", "\u03A0"},
     {"Sigma", "\u03A3"}, {"Upsilon", "\u03A5"}, {"Phi", "\u03A6"},    {"Psi", "\u03A8"},   {"Omega", "\u03A9"}}};

constexpr std::array<Word, 7> small_scripts{{{"^2", "\u00B2"},
                                             {"_0", "\u2080"},
                                             {"_1", "\u2081"},
                                             {"_i", "\u1D62"},
                                             {"_j", "\u2C7C"},
                                             {"_k", "\u2096"},
                                             {"_t", "\u209C"}}};

constexpr std::array<Word, 4> signs{{{"<=", "\u2264"}, {">=", "\u2265"}, {"!=", "\u2260"}, {"...", "\u2026"}}};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) {  // or a byte of one beyond ASCII
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || static_cast<unsigned char>(c) >= 0x80;
}
bool is_of_word(char c) { return is_letter(c) || is_digit(c); }

// The longest prefix of such characters.
template <class Kind>
std::string_view run_of(std::string_view text, Kind kind) {
  return text.substr(0, static_cast<std::size_t>(std::ranges::find_if_not(text, kind) - text.begin()));
}

std::string_view in_greek(std::string_view word) {
  const auto found = std::ranges::find(greek, word, &Word::first);
  return found == greek.end() ? word : found->second;
}

// One letter of any alphabet.
bool is_symbol(std::string_view word) {
  const auto begins_another = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; };
  return std::ranges::count_if(in_greek(word), begins_another) == 1;
}

class Typesetter {
 public:
  Typesetter(std::string_view text, LetterStyle style) : text_(text), style_(style) {}

  LabelLine name() && {
    while (!rest().empty()) {
      if (is_letter(rest()[0])) {
        const bool takes_scripts = is_symbol(run_of(rest(), is_letter));
        set_word(false);
        while (takes_scripts && add_script_of_name()) {
        }
        for (; rest().starts_with('\''); taken(1)) add("\u2032");
      } else {
        add(taken(std::max<std::size_t>(run_of(rest(), is_of_word).size(), 1)));
      }
    }
    return std::move(line_);
  }

  LabelLine equation() && {
    while (!rest().empty()) {
      if (rest()[0] == '^' || rest().starts_with("_(")) {
        const Script script = taken(1) == "^" ? Script::above : Script::below;
        if (!rest().empty()) add(in_script(group()), script);
      } else if (is_letter(rest()[0])) {
        set_word(true);
      } else if (is_digit(rest()[0])) {
        add(taken(run_of(rest(), is_of_word).size()));
      } else if (rest()[0] == '\'') {
        add((taken(1), "\u2032"));
      } else {
        const auto sign =
            std::ranges::find_if(signs, [&](const Word& known) { return rest().starts_with(known.first); });
        const std::string_view written = taken(sign == signs.end() ? 1 : sign->first.size());
        add(sign == signs.end() ? written : sign->second);
      }
    }
    return std::move(line_);
  }

 private:
  std::string_view rest() const { return text_.substr(at_); }
  std::string_view taken(std::size_t count) {
    const std::string_view begin = rest().substr(0, count);
    at_ += begin.size();
    return begin;
  }

  void add(std::string_view words, Script script = Script::none) {
    if (line_.empty() || line_.back().script != script) line_.push_back({{}, style_, script});
    append(line_.back().text, words);
  }

  // Letters, with an index if digits or an underscore follow them: `x`, `x1`, `W_ih`, `alpha_1_t`.
  void set_word(bool in_equation) {
    if (begins_derivative()) add(taken(1));
    const std::string_view base = run_of(rest(), is_letter);
    std::string_view tail = run_of(rest().substr(base.size()), [](char c) { return is_of_word(c) || c == '_'; });
    if (tail.ends_with('_')) tail.remove_suffix(1);  // of a group, or of nothing
    taken(base.size() + tail.size());
    std::string index(tail.substr(tail.starts_with('_')));
    std::ranges::replace(index, '_', ',');
    if (in_equation && base == "gy") {
      add("g");
      add(str("y", index.empty() ? "" : ",", index), Script::below);
    } else if (in_equation && base == "sqrt" && index.empty()) {
      add("\u221A");
      if (rest().starts_with(' ')) taken(1);
    } else if (has_index(base, tail, in_equation)) {
      add(in_greek(base));
      add(in_greek(index), Script::below);
    } else {
      add(tail.empty() ? in_greek(base) : str(base, tail));
    }
  }

  // ^1, ^{1,2} or _{ij}; false if there is none.
  bool add_script_of_name() {
    if (!rest().starts_with('^') && !rest().starts_with("_{")) return false;
    const std::string_view script = rest().substr(1);
    const bool braced = script.starts_with('{');
    const std::string_view inside = braced ? script.substr(1, script.find('}') - 1) : run_of(script, is_of_word);
    const bool ends = !braced || inside.size() + 1 < script.size();
    if (inside.empty() || !ends) return false;
    add(in_script(inside), taken(1) == "^" ? Script::above : Script::below);
    taken(inside.size() + 2 * braced);
    return true;
  }

  // The d of dL/dx.
  bool begins_derivative() const {
    const std::string_view word = run_of(rest(), is_of_word);
    return word.size() > 1 && word[0] == 'd' && in_greek(word) == word &&
           ((at_ > 0 && text_[at_ - 1] == '/') || rest().substr(word.size()).starts_with('/'));
  }

  static bool has_index(std::string_view base, std::string_view tail, bool in_equation) {
    if (tail.empty()) return false;
    if (tail[0] != '_') return is_symbol(base) && std::ranges::all_of(run_of(tail, is_of_word), is_digit);
    if (is_symbol(base)) return true;
    const bool letters_of_indices = tail.find_first_not_of("_ijkcoptqn0123456789") == tail.npos;
    return in_equation && letters_of_indices;
  }

  // An exponent or an index, without its parentheses.
  std::string_view group() {
    if (!rest().starts_with('(')) {
      const std::size_t sign = rest().starts_with('-');
      return taken(sign + run_of(rest().substr(sign), [](char c) { return is_of_word(c) || c == '_'; }).size());
    }
    std::size_t end = 0;
    int depth = 0;
    do depth += rest()[end] == '(' ? 1 : rest()[end] == ')' ? -1 : 0;
    while (++end < rest().size() && depth > 0);
    const std::string_view inside = taken(end).substr(1);
    return inside.substr(0, inside.size() - (depth == 0));
  }

  // Scripts in a script are letters that exist: squares and some indices. All else stays as it is written.
  static std::string in_script(std::string_view text) {
    std::string result;
    while (!text.empty()) {
      const auto small = std::ranges::find_if(small_scripts, [&](const Word& known) {
        return text.starts_with(known.first) && run_of(text.substr(1), is_of_word).size() == 1;
      });
      const std::string_view word = small == small_scripts.end() ? run_of(text, is_letter) : small->first;
      append(result, small != small_scripts.end() ? small->second : word.empty() ? text.substr(0, 1) : in_greek(word));
      text.remove_prefix(std::max<std::size_t>(word.size(), 1));
    }
    return result;
  }

  const std::string_view text_;
  const LetterStyle style_;
  std::size_t at_ = 0;
  LabelLine line_;
};

}  // namespace

LabelLine typeset_name(std::string_view name, LetterStyle style) { return Typesetter(name, style).name(); }

LabelLine typeset_equation(std::string_view equation, LetterStyle style) {
  return Typesetter(equation, style).equation();
}

}  // namespace xgrad::detail
