// Formulas with the names of operands.
#include "equations.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "../../base/text.h"
#include "../../base/formula.h"
#include "../../profile/summary.h"

namespace xgrad::detail {
namespace {

bool is_letter(char c) {  // or a byte of one beyond ASCII
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || static_cast<unsigned char>(c) >= 0x80;
}
bool is_of_name(char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '_'; }

// Calls f with each word of an equation, in order, and with the text between words, which is no word. The index of a
// variable and the d of a derivative do not belong to the word: `dL/dx_i` has the words L and x.
template <class F>
void for_each_word(std::string_view text, const F& f) {
  const auto derivative = [&](std::size_t at, std::size_t end) {
    const bool by_slash = (at > 0 && text[at - 1] == '/') || (end < text.size() && text[end] == '/');
    return by_slash && end > at + 1 && text[at] == 'd' && text.substr(at, end - at) != "delta";
  };
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && is_letter(text[end])) ++end;
    if (end == at) {  // a sign, or a number or an index as a whole
      do ++end;
      while (end < text.size() && is_of_name(text[at]) && is_of_name(text[end]));
      f(text.substr(at, end - at), false);
    } else if (derivative(at, end)) {
      f(text.substr(at, 1), false);
      f(text.substr(at + 1, end - at - 1), true);
    } else {
      f(text.substr(at, end - at), true);
    }
    at = end;
  }
}

// The inputs that a formula has derivatives for, by its names, in the order of the operation's arguments.
std::vector<std::string> operands_of(const Formula& formula) {
  static constexpr std::array<std::string_view, 12> letters{"x", "a",      "b",     "c",   "q",    "k",
                                                            "v", "weight", "gamma", "src", "bias", "beta"};
  std::vector<std::string> operands;
  for (const std::string_view letter : letters) {
    const std::string& text = formula.derivative;
    const std::string slope = str("/d", letter);
    for (std::size_t at = text.find(slope); at != text.npos; at = text.find(slope, at + 1)) {
      const std::size_t end = at + slope.size();
      if (end < text.size() && is_letter(text[end])) continue;
      operands.emplace_back(letter);
      break;
    }
  }
  return operands;
}

// A formula and its words.
struct Known {
  explicit Known(const Formula& found) : formula(found), operands(operands_of(found)) {
    for (const std::string* text : {&formula.value, &formula.derivative}) {
      for_each_word(*text, [&](std::string_view word, bool is_word) {
        if (is_word) words.emplace(word);
      });
    }
  }
  bool is_variable(const std::string& word) const { return word == "y" || std::ranges::count(operands, word) > 0; }

  Formula formula;
  std::vector<std::string> operands;
  std::set<std::string> words;
};

// The name of a vertex in equations: its name without the modules before it, or its number. Empty if it has neither.
std::string called_in_equations(const GraphVertex& vertex) {
  constexpr std::size_t longest = 24;
  if (vertex.number)
    return *vertex.number < 0 ? str('(', number_text(*vertex.number), ')') : number_text(*vertex.number);
  std::string_view name = vertex.name;
  if (const std::size_t dot = name.rfind('.'); dot != name.npos) name.remove_prefix(dot + 1);
  const std::string_view letters = name.substr(0, name.find('\''));
  const bool is_word = !name.empty() && is_letter(name[0]) && std::ranges::all_of(letters, is_of_name) &&
                       name.find_first_not_of('\'', letters.size()) == name.npos;
  return is_word && name.size() <= longest ? std::string(name) : std::string();
}

// New names for the variables of a formula, where they differ. Names that already mean something else in the formula,
// or two of its variables, are not used: of x x there are two derivatives.
std::map<std::string, std::string> names_for(const Known& known, const std::vector<const GraphVertex*>& inputs,
                                             const GraphVertex& result) {
  std::map<std::string, std::string> names;
  std::set<std::string> given, ambiguous;
  const auto wish = [&](const std::string& letter, const GraphVertex& vertex) {
    const std::string name = called_in_equations(vertex);
    if (name.empty() || (known.words.contains(name) && !known.is_variable(name))) return;
    if (!vertex.number && !given.insert(name).second) ambiguous.insert(name);
    names[letter] = name;
  };
  for (std::size_t i = 0; i < inputs.size(); ++i) wish(known.operands[i], *inputs[i]);
  if (!result.number) wish("y", result);
  std::erase_if(names, [&](const auto& each) { return ambiguous.contains(each.second); });
  if (names.empty()) return names;
  std::set<std::string> taken = known.words;
  for (const auto& [letter, name] : names) taken.insert(name);
  const auto stays = [&](const std::string& letter) {
    const bool is_taken = std::ranges::any_of(names, [&](const auto& each) { return each.second == letter; });
    if (names.contains(letter) || !is_taken) return;
    for (const char* other : {"z", "u", "v", "w", "r", "p", "q", "s"}) {
      if (!taken.insert(other).second) continue;
      names[letter] = other;
      return;
    }
  };
  for (const std::string& letter : known.operands) stays(letter);
  stays("y");
  return names;
}

std::string with_names(std::string_view text, const std::map<std::string, std::string>& names) {
  std::string result;
  for_each_word(text, [&](std::string_view word, bool is_word) {
    const bool of_gradient = word == "gy";
    const auto name = is_word ? names.find(of_gradient ? "y" : std::string(word)) : names.end();
    append(result, name == names.end() ? std::string(word) : str(of_gradient ? "g_" : "", name->second));
  });
  return result;
}

// Without the derivative for an input that is a number, or that the call did not give.
std::string without_derivative(std::string_view derivatives, std::string_view letter) {
  const std::string slope = str("/d", letter, ' ');
  std::string result;
  while (!derivatives.empty()) {
    const std::string_view each = derivatives.substr(0, derivatives.find("; "));
    derivatives.remove_prefix(std::min(derivatives.size(), each.size() + 2));
    if (each.find(slope) == each.npos) append(result, str(result.empty() ? "" : "; ", each));
  }
  return result;
}

// The box of a gradient rule, `tanh'`.
bool is_rule(const GraphVertex& vertex) {
  return vertex.role == GraphRole::gradient_operation && vertex.op.ends_with('\'');
}

void give(GraphVertex& vertex, const Known& known, const std::vector<const GraphVertex*>& inputs) {
  vertex.formula = known.formula.value;
  vertex.derivative = known.formula.derivative;
  if (inputs.size() > known.operands.size()) return;  // it has others, which the formula does not distinguish
  for (std::size_t i = 0; i < known.operands.size(); ++i) {
    const std::string& letter = known.operands[i];
    const bool is_given = i < inputs.size();
    if (!is_given || inputs[i]->number) vertex.derivative = without_derivative(vertex.derivative, letter);
    if (is_given) continue;
    for (std::string* text : {&vertex.formula, &vertex.derivative}) {
      for (const std::string& term : {str(" + ", letter), str(letter, "_o + "), str(letter, " ")}) {
        if (const std::size_t at = text->find(term); at != text->npos) text->erase(at, term.size());
      }
    }
  }
  const std::map<std::string, std::string> names = names_for(known, inputs, vertex);
  if (names.empty()) return;
  vertex.formula = with_names(vertex.formula, names);
  vertex.derivative = with_names(vertex.derivative, names);
}

}  // namespace

void add_equations(GraphView& view) {
  std::vector<std::vector<const GraphVertex*>> inputs(view.vertices.size());
  for (const GraphEdge& edge : view.edges) {
    if (edge.flow == GraphFlow::numbers) inputs[edge.to].push_back(&view.vertices[edge.from]);
  }
  std::map<std::vector<std::string_view>, std::optional<Known>> found;
  const auto known = [&](const GraphVertex& vertex, std::string_view op) -> const std::optional<Known>& {
    std::vector<std::string_view> words{op};  // and the settings that are on
    for (const auto& [name, value] : vertex.attributes) {
      if (value.empty()) words.push_back(name);
    }
    const auto [place, is_new] = found.try_emplace(words);
    if (const auto formula = is_new ? formula_of(op, std::span(words).subspan(1)) : std::nullopt) {
      place->second.emplace(*formula);
    }
    return place->second;
  };
  for (std::size_t v = 0; v < view.vertices.size(); ++v) {
    GraphVertex& vertex = view.vertices[v];
    if (!is_operation(vertex) || is_rule(vertex)) continue;
    if (const std::optional<Known>& formula = known(vertex, vertex.op)) give(vertex, *formula, inputs[v]);
  }
  for (GraphVertex& vertex : view.vertices) {
    if (!is_rule(vertex)) continue;
    const GraphVertex* of = vertex.rule_of < 0 ? nullptr : &view.vertices[vertex.rule_of];
    const std::string_view op = std::string_view(vertex.op).substr(0, vertex.op.size() - 1);
    if (of && of->op == op) {
      vertex.derivative = of->derivative;
    } else if (const std::optional<Known>& formula = known(vertex, op)) {
      vertex.derivative = formula->formula.derivative;
    }
  }
}

}  // namespace xgrad::detail
