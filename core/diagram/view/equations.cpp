// Names and equations in mathematical notation.
#include "equations.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "../../base/formula.h"
#include "../../base/text.h"
#include "topology.h"

namespace xgrad::detail {

// ---- Typesetting ----------------------------------------------------------------------------------------------------

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
bool is_of_name(char c) { return is_of_word(c) || c == '_'; }

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

// Whether the d of a derivative, dL/dx, is at this position.
bool is_derivative(std::string_view text, std::size_t at) {
  const std::string_view word = run_of(text.substr(at), is_letter), name = run_of(text.substr(at), is_of_name);
  const bool by_slash = (at > 0 && text[at - 1] == '/') || text.substr(at + name.size()).starts_with('/');
  return by_slash && word.size() > 1 && word[0] == 'd' && word != "delta";
}

class Typesetter {
 public:
  Typesetter(std::string_view text, LetterStyle style) : text_(text), style_(style) {}

  LabelLine name() && {
    while (!ahead().empty()) {
      if (is_letter(ahead()[0])) {
        const bool takes_scripts = is_symbol(run_of(ahead(), is_letter));
        set_word(false);
        while (takes_scripts && add_script_of_name()) {
        }
        for (; ahead().starts_with('\''); taken(1)) add("\u2032");
      } else {
        add(taken(std::max<std::size_t>(run_of(ahead(), is_of_word).size(), 1)));
      }
    }
    return std::move(line_);
  }

  LabelLine equation() && {
    while (!ahead().empty()) {
      if (ahead()[0] == '^' || ahead().starts_with("_(")) {
        const Script script = taken(1) == "^" ? Script::above : Script::below;
        if (!ahead().empty()) add(in_script(script_text()), script);
      } else if (is_letter(ahead()[0])) {
        set_word(true);
      } else if (is_digit(ahead()[0])) {
        add(taken(run_of(ahead(), is_of_word).size()));
      } else if (ahead()[0] == '\'') {
        add((taken(1), "\u2032"));
      } else {
        const auto sign =
            std::ranges::find_if(signs, [&](const Word& each) { return ahead().starts_with(each.first); });
        const std::string_view written = taken(sign == signs.end() ? 1 : sign->first.size());
        add(sign == signs.end() ? written : sign->second);
      }
    }
    return std::move(line_);
  }

 private:
  std::string_view ahead() const { return text_.substr(at_); }  // not read yet
  std::string_view taken(std::size_t count) {
    const std::string_view begin = ahead().substr(0, count);
    at_ += begin.size();
    return begin;
  }

  void add(std::string_view words, Script script = Script::none) {
    if (line_.empty() || line_.back().script != script) line_.push_back({{}, style_, script});
    append(line_.back().text, words);
  }

  // Letters, with an index if digits or an underscore follow them: `x`, `x1`, `W_ih`, `alpha_1_t`.
  void set_word(bool in_equation) {
    if (is_derivative(text_, at_)) add(taken(1));
    const std::string_view base = run_of(ahead(), is_letter);
    std::string_view tail = run_of(ahead().substr(base.size()), is_of_name);
    if (tail.ends_with('_')) tail.remove_suffix(1);  // of a group, or of nothing
    taken(base.size() + tail.size());
    std::string index(tail.substr(tail.starts_with('_')));
    std::ranges::replace(index, '_', ',');
    if (in_equation && base == "gy") {
      add("g");
      add(str("y", index.empty() ? "" : ",", index), Script::below);
    } else if (in_equation && base == "sqrt" && index.empty()) {
      add("\u221A");
      if (ahead().starts_with(' ')) taken(1);
    } else if (has_index(base, tail, in_equation)) {
      add(in_greek(base));
      add(in_greek(index), Script::below);
    } else {
      add(tail.empty() ? in_greek(base) : str(base, tail));
    }
  }

  // ^1, ^{1,2} or _{ij}; false if there is none.
  bool add_script_of_name() {
    if (!ahead().starts_with('^') && !ahead().starts_with("_{")) return false;
    const std::string_view script = ahead().substr(1);
    const bool braced = script.starts_with('{');
    const std::string_view inside = braced ? script.substr(1, script.find('}') - 1) : run_of(script, is_of_word);
    const bool ends = !braced || inside.size() + 1 < script.size();
    if (inside.empty() || !ends) return false;
    add(in_script(inside), taken(1) == "^" ? Script::above : Script::below);
    taken(inside.size() + 2 * braced);
    return true;
  }

  static bool has_index(std::string_view base, std::string_view tail, bool in_equation) {
    if (tail.empty()) return false;
    if (tail[0] != '_') return is_symbol(base) && std::ranges::all_of(run_of(tail, is_of_word), is_digit);
    if (is_symbol(base)) return true;
    const bool letters_of_indices = tail.find_first_not_of("_ijkcoptqn0123456789") == tail.npos;
    return in_equation && letters_of_indices;
  }

  // An exponent or an index, without its parentheses.
  std::string_view script_text() {
    if (!ahead().starts_with('(')) {
      const std::size_t sign = ahead().starts_with('-');
      return taken(sign + run_of(ahead().substr(sign), is_of_name).size());
    }
    std::size_t end = 0;
    int depth = 0;
    do depth += ahead()[end] == '(' ? 1 : ahead()[end] == ')' ? -1 : 0;
    while (++end < ahead().size() && depth > 0);
    const std::string_view inside = taken(end).substr(1);
    return inside.substr(0, inside.size() - (depth == 0));
  }

  // Scripts in a script are letters that exist: squares and some indices. All else stays as it is written.
  static std::string in_script(std::string_view text) {
    std::string result;
    while (!text.empty()) {
      const auto small = std::ranges::find_if(small_scripts, [&](const Word& each) {
        return text.starts_with(each.first) && run_of(text.substr(1), is_of_word).size() == 1;
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

std::string constant_text(Real number, std::string_view root) {
  for (const bool is_inverse : {false, true}) {
    const double x = is_inverse ? 1 / static_cast<double>(number) : number, square = std::round(x * x);
    const double exact = std::sqrt(square), expected = is_inverse ? 1 / exact : exact;
    const bool is_root = exact != std::trunc(exact) && square < 1e6 && static_cast<Real>(expected) == number;
    if (is_root) return str(is_inverse ? "1/" : "", root, square);
  }
  return number_text(number);
}

// ---- Formulas with the names of operands ----------------------------------------------------------------------------

namespace {

// Calls f with each word of an equation, in order, and with the text between words, which is no word. The index of a
// variable and the d of a derivative do not belong to the word: `dL/dx_i` has the words L and x.
template <class F>
void for_each_word(std::string_view text, const F& f) {
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at + run_of(text.substr(at), is_letter).size();
    if (end == at) {  // a sign, or a number or an index as a whole
      do ++end;
      while (end < text.size() && is_of_name(text[at]) && is_of_name(text[end]));
      f(text.substr(at, end - at), false);
    } else if (is_derivative(text, at)) {
      f(text.substr(at, 1), false);
      f(text.substr(at + 1, end - at - 1), true);
    } else {
      f(text.substr(at, end - at), true);
    }
    at = end;
  }
}

// The name of a vertex in equations: its name without the modules before it, or its number. Empty if it has neither.
std::string called_in_equations(const GraphVertex& vertex) {
  constexpr std::size_t longest = 24;
  if (vertex.constant) {
    const std::string text = constant_text(*vertex.constant, "sqrt ");
    return *vertex.constant < 0 || text.starts_with("1/") ? str('(', text, ')') : text;
  }
  std::string_view name = vertex.name;
  if (const std::size_t dot = name.rfind('.'); dot != name.npos) name.remove_prefix(dot + 1);
  const std::string_view letters = name.substr(0, name.find_last_not_of('\'') + 1);
  const bool is_word = !letters.empty() && is_letter(letters[0]) && std::ranges::all_of(letters, is_of_name);
  return is_word && name.size() <= longest ? std::string(name) : std::string();
}

// By vertex: its name in the equations of its frame. Results of operations without a name are y1, y2, ... there, or y
// if there is one.
Indexed<std::string> names_in_equations(const GraphView& view) {
  Indexed<std::string> names;
  std::map<int, Indexed<int>> unnamed;  // by frame
  for (const GraphVertex& vertex : view.vertices) {
    names.push_back(called_in_equations(vertex));
    if (names.back().empty() && is_operation(vertex) && rule_in(vertex).empty())
      unnamed[vertex.frame].push_back(names.count() - 1);
  }
  const bool has_y = std::ranges::count(names, "y") > 0;
  for (const auto& [frame, results] : unnamed) {
    for (int i = 0; i < results.count(); ++i) names[results[i]] = str("y", i + 1);
    if (results.size() == 1 && !has_y) names[results.front()] = "y";
  }
  return names;
}

// The name of an input in the equations of a frame. What the frame did not compute has the title of the part that did,
// or "input".
std::string name_of_input(const GraphView& view, const GraphEdge& edge, const std::string& name) {
  const GraphVertex& from = view.vertices[edge.from];
  const int frame = view.vertices[edge.to].frame;
  const bool is_given = from.role == GraphRole::input;
  if (!from.name.empty() || from.constant || (from.frame == frame && !is_given)) return name;
  int part = is_given ? nothing : from.frame;
  while (part != nothing && view.frames[part].parent != frame) part = view.frames[part].parent;
  if (part == nothing) return "input";
  GraphVertex module;
  module.name = view.frames[part].title;
  return called_in_equations(module);
}

// An input in an equation.
struct NamedInput {
  std::string name;  // empty if it has none
  bool is_number;
};

std::string with_names(std::string_view text, const std::map<std::string, std::string>& names) {
  std::string result;
  for_each_word(text, [&](std::string_view word, bool is_word) {
    const bool of_gradient = word == "gy";
    const auto name = is_word ? names.find(of_gradient ? "y" : std::string(word)) : names.end();
    append(result, name == names.end() ? std::string(word) : str(of_gradient ? "g_" : "", name->second));
  });
  return result;
}

// A formula, and the words in it that are no variables.
struct ParsedFormula {
  explicit ParsedFormula(const Formula& formula) : equations(formula), operands(formula.operands()) {
    for (const std::string* text : {&equations.value, &equations.derivative}) {
      for_each_word(*text, [&](std::string_view word, bool is_word) {
        if (is_word) words.emplace(word);
      });
    }
    words.erase("y");
    for (const Formula::Operand& operand : operands) words.erase(operand.name);
  }

  Formula equations;
  std::vector<Formula::Operand> operands;
  std::set<std::string> words;
};

// Gives an operation its formula with the names of its operands, where they differ. Names that already mean something
// else in the formula, or two of its variables, are not used: of x x there are two derivatives. An input that is a
// number has none.
void give(GraphVertex& vertex, const ParsedFormula& formula, const std::vector<NamedInput>& inputs,
          const std::string& result) {
  const std::vector<Formula::Operand>& operands = formula.operands;
  std::set<std::string> given, ambiguous;
  std::map<std::string, std::string> names;
  const auto wish = [&](const std::string& letter, const std::string& name, bool is_number) {
    if (name.empty() || formula.words.contains(name)) return;
    if (!is_number && !given.insert(name).second) ambiguous.insert(name);
    names[letter] = name;
  };
  // It may have inputs that the formula does not distinguish, or gradients of one rule, which arrive by one arrow.
  const bool distinct = inputs.size() == operands.size();
  for (std::size_t i = 0; distinct && i < inputs.size(); ++i)
    wish(operands[i].name, inputs[i].name, inputs[i].is_number);
  wish("y", result, false);
  std::erase_if(names, [&](const auto& each) { return ambiguous.contains(each.second); });
  vertex.text.formula = with_names(formula.equations.value, names);
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (distinct && inputs[i].is_number) continue;
    std::string& derivative = vertex.text.derivative;
    append(derivative, str(derivative.empty() ? "" : "; ", with_names(operands[i].derivative, names)));
  }
}

}  // namespace

void add_equations(GraphView& view) {
  const Indexed<std::string> names = names_in_equations(view);
  Indexed<std::vector<NamedInput>> inputs(view.vertices.count());
  for (const GraphEdge& edge : view.edges) {
    const bool is_number = view.vertices[edge.from].constant.has_value();
    if (edge.flow == GraphFlow::numbers)
      inputs[edge.to].push_back({name_of_input(view, edge, names[edge.from]), is_number});
  }
  std::map<std::pair<std::vector<std::string_view>, std::size_t>, std::optional<ParsedFormula>> formulas;
  const auto formula_for = [&](const GraphVertex& vertex, std::string_view op,
                               std::size_t given = std::string_view::npos) -> const std::optional<ParsedFormula>& {
    std::vector<std::string_view> words{op};  // and the attributes that are on
    for (const auto& [name, value] : vertex.text.attributes) {
      if (value.empty()) words.push_back(name);
    }
    const auto [entry, is_new] = formulas.try_emplace({words, given});
    if (const auto found = is_new ? formula_of(op, std::span(words).subspan(1), given) : std::nullopt) {
      entry->second.emplace(*found);
    }
    return entry->second;
  };
  for (std::size_t v = 0; v < view.vertices.size(); ++v) {
    GraphVertex& vertex = view.vertices[v];
    if (!is_operation(vertex) || !rule_in(vertex).empty()) continue;
    const std::optional<ParsedFormula>& formula = formula_for(vertex, vertex.op, inputs[v].size());
    if (formula) give(vertex, *formula, inputs[v], names[v]);
  }
  for (GraphVertex& vertex : view.vertices) {
    const std::string_view op = rule_in(vertex);
    if (op.empty()) continue;
    const GraphVertex* of = vertex.rule_of == nothing ? nullptr : &view.vertices[vertex.rule_of];
    if (of && of->op == op) {
      vertex.text.derivative = of->text.derivative;
    } else if (const std::optional<ParsedFormula>& formula = formula_for(vertex, op)) {
      vertex.text.derivative = formula->equations.derivative;
    }
  }
}

}  // namespace xgrad::detail
