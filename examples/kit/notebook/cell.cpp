#include "cell.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>

#include <clang/Basic/LangOptions.h>
#include <clang/Lex/Lexer.h>

namespace xgrad::notebook {
namespace {

struct Token {
  clang::tok::TokenKind kind;
  std::string_view text;
  bool begins_line;
};
using Tokens = std::vector<Token>;

Tokens tokens_of(std::string_view cell) {
  static const clang::LangOptions language = [] {
    clang::LangOptions options;
    options.CPlusPlus = options.CPlusPlus11 = options.CPlusPlus14 = options.CPlusPlus17 = options.CPlusPlus20 = true;
    options.LineComment = options.Bool = true;
    return options;
  }();
  clang::Lexer lexer({}, language, cell.data(), cell.data(), cell.data() + cell.size());
  Tokens tokens;
  for (clang::Token token; lexer.LexFromRawLexer(token), token.isNot(clang::tok::eof);) {
    const std::size_t end = lexer.getCurrentBufferOffset();
    tokens.push_back(
        {token.getKind(), cell.substr(end - token.getLength(), token.getLength()), token.isAtStartOfLine()});
  }
  return tokens;
}

template <std::size_t N>
bool is_one_of(std::string_view word, const std::array<std::string_view, N>& words) {
  return std::ranges::find(words, word) != words.end();
}

bool opens(const Token& token) { return is_one_of(token.text, std::array<std::string_view, 3>{"(", "[", "{"}); }
bool closes(const Token& token) { return is_one_of(token.text, std::array<std::string_view, 3>{")", "]", "}"}); }
bool is_name(const Token& token) { return token.kind == clang::tok::raw_identifier; }

constexpr std::array<std::string_view, 8> controls{"if", "for", "while", "do", "switch", "try", "else", "{"};
constexpr std::array<std::string_view, 5> classes{"struct", "class", "union", "enum", "concept"};
constexpr std::array<std::string_view, 20> declarers{
    "typedef",  "using",     "struct",    "class",        "enum",          "union", "template",
    "inline",   "constexpr", "constinit", "consteval",    "static",        "auto",  "extern",
    "volatile", "namespace", "concept",   "thread_local", "static_assert", "const"};
constexpr std::array<std::string_view, 11> types{"unsigned", "signed", "int",  "long",    "short", "float",
                                                 "double",   "bool",   "char", "wchar_t", "void"};
constexpr std::array<std::string_view, 11> statements{"return",   "throw",     "delete", "new",  "goto", "break",
                                                      "continue", "co_return", "sizeof", "this", "case"};

/// The place behind `<...>`, if the angles are those of template arguments.
std::optional<std::size_t> behind_angles(const Tokens& tokens, std::size_t at) {
  int angles = 0, brackets = 0;
  for (; at < tokens.size(); ++at) {
    const Token& token = tokens[at];
    if (opens(token)) ++brackets;
    if (closes(token) && --brackets < 0) return {};
    if (brackets > 0) continue;
    if (token.text == ";" || token.text == "<<") return {};
    if (token.text == "<") ++angles;
    if (token.text == ">") --angles;
    if (token.text == ">>") angles -= 2;
    if (angles <= 0) return at + 1;
  }
  return {};
}

/// What the words at the beginning say.
Part::Kind kind_of(const Tokens& part) {
  const auto text = [&](std::size_t i) { return i < part.size() ? part[i].text : std::string_view(); };
  std::size_t i = 0;
  while (text(i) == "[" && text(i + 1) == "[") {  // attributes
    while (i < part.size() && !(text(i) == "]" && text(i + 1) == "]")) ++i;
    i += 2;
  }
  if (text(i) == "#" || text(i) == "namespace" || text(i) == "extern") return Part::Kind::global;
  if (text(i) == "inline" && text(i + 1) == "namespace") return Part::Kind::global;
  if (text(i) == "using" && text(i + 1) == "namespace") return Part::Kind::global;
  if (text(i) == "template" && (text(i + 1) != "<" || text(i + 2) == ">")) return Part::Kind::global;
  if (is_one_of(text(i), controls) || is_one_of(text(i), statements)) return Part::Kind::statement;
  bool declares = false;
  while (i < part.size() && is_one_of(text(i), declarers)) {
    declares = true;
    if (text(i) != "const" && text(i) != "inline" && text(i) != "static" && text(i) != "constexpr")
      return Part::Kind::declaration;
    ++i;
  }
  if (is_one_of(text(i), types)) {
    const std::string_view next = text(i + 1);
    return next == "(" || next == "{" ? Part::Kind::statement : Part::Kind::declaration;
  }
  // A name with its namespaces and template arguments, twice.
  std::string_view last, before_last;
  const auto skip_name = [&] {
    if (text(i) == "::") ++i;
    while (i < part.size() && (is_name(part[i]) || text(i) == "~")) {
      if (text(i) == "~") ++i;
      before_last = last;
      last = text(i++);
      if (last == "operator") return true;
      if (text(i) == "<") {
        const auto behind = behind_angles(part, i);
        if (!behind) return true;
        i = *behind;
      }
      if (text(i) != "::") return true;
      ++i;
    }
    return false;
  };
  if (!skip_name()) return declares ? Part::Kind::declaration : Part::Kind::statement;
  if (text(i) == "(" && !before_last.empty() && last == before_last) return Part::Kind::member;  // X::X(...)
  if (before_last == "operator" || last == "operator") return declares ? Part::Kind::declaration : Part::Kind::member;
  const std::size_t type_end = i;
  while (text(i) == "*" || text(i) == "&" || text(i) == "&&" || text(i) == "const") ++i;
  if (i >= part.size() || !is_name(part[i])) return declares ? Part::Kind::declaration : Part::Kind::statement;
  before_last = {};
  last = {};
  const std::size_t declared = i;
  skip_name();
  const bool of_a_class = i > declared + 1 && !before_last.empty();  // double Number::value() const
  const std::string_view next = text(i);
  if (type_end != declared && !declares && (next.empty() || next == "." || next == "->" || next == ")"))
    return Part::Kind::statement;  // a * b
  return of_a_class ? Part::Kind::member : Part::Kind::declaration;
}

/// Whether a brace opens the body of a function, a lambda or a control statement, by the token before it.
bool opens_body(const Tokens& tokens, std::size_t begin, std::size_t brace) {
  if (brace == begin) return true;
  const std::string_view before = tokens[brace - 1].text;
  return is_one_of(before, std::array<std::string_view, 9>{")", "const", "noexcept", "override", "mutable", "else",
                                                           "do", "try", "final"});
}

/// The end of the part that begins at a token.
std::size_t end_of_part(const Tokens& tokens, std::size_t begin) {
  if (tokens[begin].text == "#") {
    std::size_t end = begin + 1;
    while (end < tokens.size() && !tokens[end].begins_line) ++end;
    return end;
  }
  const std::string_view first = tokens[begin].text;
  const bool control = is_one_of(first, controls);
  const bool whole =
      first == "namespace" ||
      (first == "inline" && begin + 1 < tokens.size() && tokens[begin + 1].text == "namespace") ||
      (first == "extern" && begin + 1 < tokens.size() && tokens[begin + 1].kind == clang::tok::string_literal);
  bool assigns = false, has_arguments = false, returns = false, is_class = false, body = false;
  int depth = 0;
  std::size_t start = begin;  // behind `template <...>`
  while (start + 1 < tokens.size() && tokens[start].text == "template" && tokens[start + 1].text == "<")
    start = behind_angles(tokens, start + 1).value_or(tokens.size());
  for (std::size_t i = start; i < tokens.size(); ++i) {
    const std::string_view text = tokens[i].text;
    if (depth == 0) {
      if (text == ";") {
        const std::string_view next = i + 1 < tokens.size() ? tokens[i + 1].text : std::string_view();
        if (!(control && next == "else") && !(first == "do" && next == "while")) return i + 1;
      }
      if (text == "=" && i > begin && tokens[i - 1].text != "operator") assigns = true;
      if (text == "->") returns = true;
      if (is_one_of(text, classes) && !has_arguments) is_class = true;
      if (text == "(") has_arguments = true;
      if (text == "{") {
        const bool after_body = opens_body(tokens, begin, i) || returns || tokens[i - 1].text == "}";
        body = whole || (control && after_body) || (!assigns && !is_class && has_arguments && after_body);
      }
    }
    if (opens(tokens[i])) ++depth;
    if (closes(tokens[i])) depth = std::max(depth - 1, 0);
    if (depth == 0 && text == "}" && body) {
      const std::string_view next = i + 1 < tokens.size() ? tokens[i + 1].text : std::string_view();
      body = false;
      const bool goes_on = next == "else" || next == "catch" || next == ";" || (next == "while" && first == "do") ||
                           (next == "{" && !control) || (next == "," && !control);
      if (!goes_on) return i + 1;
    }
  }
  return tokens.size();
}

/// The text with `[&]` and `[=]` of lambdas outside of functions as `[]`.
std::string without_captures(const Tokens& part, std::string_view text) {
  std::string result(text);
  std::size_t removed = 0;
  std::vector<bool> bodies;
  for (std::size_t i = 0; i < part.size(); ++i) {
    if (part[i].text == "{")
      bodies.push_back(opens_body(part, 0, i) || (i > 0 && is_name(part[i - 1]) && i > 1 && part[i - 2].text == "->"));
    if (part[i].text == "}" && !bodies.empty()) bodies.pop_back();
    const bool captures = i + 2 < part.size() && part[i].text == "[" &&
                          (part[i + 1].text == "&" || part[i + 1].text == "=") && part[i + 2].text == "]";
    if (captures && std::ranges::find(bodies, true) == bodies.end()) {
      result.erase(static_cast<std::size_t>(part[i + 1].text.data() - text.data()) - removed++, 1);
    }
  }
  return result;
}

}  // namespace

std::string open_bracket(std::string_view cell) {
  const Tokens tokens = tokens_of(cell);
  std::vector<const Token*> open;
  const auto at = [&](const Token& token, std::string_view what) {
    const auto line = 1 + std::count(cell.data(), token.text.data(), '\n');
    return "line " + std::to_string(line) + ": '" + std::string(token.text) + "' " + std::string(what);
  };
  for (const Token& token : tokens) {
    if (opens(token)) open.push_back(&token);
    if (!closes(token)) continue;
    constexpr std::string_view pairs = "()[]{}";
    if (open.empty() || pairs[pairs.find(open.back()->text) + 1] != token.text[0]) return at(token, "closes nothing");
    open.pop_back();
  }
  return open.empty() ? std::string() : at(*open.back(), "is not closed");
}

std::vector<Part> split_cell(std::string_view cell) {
  const Tokens tokens = tokens_of(cell);
  std::vector<Part> parts;
  int line = 1;
  const char* counted = cell.data();
  for (std::size_t begin = 0; begin < tokens.size();) {
    const std::size_t end = end_of_part(tokens, begin);
    const Tokens part(tokens.begin() + static_cast<std::ptrdiff_t>(begin),
                      tokens.begin() + static_cast<std::ptrdiff_t>(end));
    const char* const from = part.front().text.data();
    const std::string_view text(from,
                                static_cast<std::size_t>(part.back().text.data() + part.back().text.size() - from));
    Part::Kind kind = kind_of(part);
    const std::string_view last = part.back().text;
    // The last part of a cell, without a semicolon, is an expression, unless it declares something or is a block.
    if (kind == Part::Kind::statement && end == tokens.size() && last != ";" && !is_one_of(part.front().text, controls))
      kind = Part::Kind::expression;
    line += static_cast<int>(std::count(counted, from, '\n'));
    counted = from;
    const bool is_variable = kind == Part::Kind::declaration;  // a lambda of it is outside of functions
    if (part.size() > 1 || last != ";")
      parts.push_back({kind, is_variable ? without_captures(part, text) : std::string(text), line});
    begin = end;
  }
  return parts;
}

}  // namespace xgrad::notebook
