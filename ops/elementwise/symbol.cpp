// Expressions of symbols, and how they are printed.
#include "symbol.h"

#include <algorithm>
#include <map>
#include <numbers>
#include <utility>
#include <vector>

#include "../../core/base/text.h"

namespace xgrad {
namespace detail {

struct Expression {
  enum Kind {
    letter,
    number,
    sum,
    difference,
    negative,
    product,
    quotient,
    power,
    function,
    comparison,
    logic,
    choice
  };
  Kind kind;
  std::string name;  // a letter, digits, the name of a function, the sign of a comparison, "and", "or", "not"
  std::vector<ExpressionRef> parts = {};
  bool constant = false;  // of numbers alone
};

}  // namespace detail

namespace {

using detail::Expression;
using detail::ExpressionRef;

bool is_constant(const ExpressionRef& e) { return e->constant; }

ExpressionRef make(Expression::Kind kind, std::string_view name, std::vector<ExpressionRef> parts = {}) {
  const bool constant = kind == Expression::number ||
                        (kind == Expression::letter ? name == "pi" : std::ranges::all_of(parts, is_constant));
  return std::make_shared<const Expression>(Expression{kind, std::string(name), std::move(parts), constant});
}
ExpressionRef call(std::string_view name, const ExpressionRef& of) { return make(Expression::function, name, {of}); }

bool is_number(const ExpressionRef& e, std::string_view digits) {
  return e->kind == Expression::number && e->name == digits;
}

// Named constants.
ExpressionRef constant(double value, std::string_view digits) {
  using namespace std::numbers;
  const auto pi = [] { return make(Expression::letter, "pi"); };
  const auto two = [] { return make(Expression::number, "2"); };
  const auto ratio = [&] { return call("sqrt", make(Expression::quotient, "", {two(), pi()})); };
  const auto ln = [](const char* of) { return call("ln", make(Expression::number, of)); };
  if (value == std::numbers::pi) return pi();
  if (value == std::numbers::ln2) return ln("2");
  if (value == std::numbers::ln10) return ln("10");
  const auto one_over = [](const ExpressionRef& e) {
    return make(Expression::quotient, "", {make(Expression::number, "1"), e});
  };
  if (value == log2e) return one_over(ln("2"));
  if (value == log10e) return one_over(ln("10"));
  if (value == 2 * inv_sqrtpi) return make(Expression::quotient, "", {two(), call("sqrt", pi())});
  if (value == sqrt2 * inv_sqrtpi) return ratio();
  if (value == 2 * sqrt2 * inv_sqrtpi) return make(Expression::product, "", {two(), ratio()});
  return make(Expression::number, digits);
}

// ---- Printing -------------------------------------------------------------------------------------------------------

// The binding strength of a text, weakest first.
enum class Precedence { choice, either, both, comparison, sum, product, power, atom };

struct Words {
  std::string text;
  Precedence precedence;
};

bool ends_in_digit(std::string_view text) { return text.back() >= '0' && text.back() <= '9'; }
bool begins_with_digit(std::string_view text) { return text.front() >= '0' && text.front() <= '9'; }

class Printer {
 public:
  std::string print(const ExpressionRef& root) {
    count(root);
    std::string text = at(Precedence::choice, root);
    for (std::size_t i = 0; i < definitions_.size(); ++i) append(text, str(i == 0 ? " with " : ", ", definitions_[i]));
    return text;
  }

 private:
  // Whether more may follow in the same term: tanh(x) if open, else tanh x.
  enum class End { open, closed };

  void count(const ExpressionRef& e) {
    if (++uses_[e.get()] > 1) return;
    for (const ExpressionRef& part : e->parts) count(part);
  }

  // In parentheses if it binds less tightly than `needed`.
  std::string at(Precedence needed, const ExpressionRef& e, End end = End::closed) {
    const Words words = words_of(e, end);
    return words.precedence < needed ? str('(', words_of(e, End::closed).text, ')') : words.text;
  }

  // A letter for a subexpression that is used several times and is longer than a few characters.
  Words words_of(const ExpressionRef& e, End end) {
    const bool value = e->kind != Expression::comparison && e->kind != Expression::logic;
    if (!value || uses_[e.get()] < 2 || is_constant(e) || e->kind == Expression::letter) return spelled(e, end);
    if (const auto found = letters_.find(e.get()); found != letters_.end()) return {found->second, Precedence::atom};
    constexpr std::size_t short_enough = 8;
    const Words body = spelled(e, End::closed);
    if (body.text.size() <= short_enough) return spelled(e, end);
    const std::size_t round = definitions_.size() / letters.size();
    const std::string letter = str(letters[definitions_.size() % letters.size()], round > 0 ? str(round + 1) : "");
    definitions_.push_back(
        str(letter, " = ", body.precedence == Precedence::choice ? str('(', body.text, ')') : body.text));
    letters_.emplace(e.get(), letter);
    return {letter, Precedence::atom};
  }

  // Each expression is spelled once, since its parents read its words several times.
  Words spelled(const ExpressionRef& e, End end) {
    if (e->parts.empty()) return spelled_anew(e, end);
    const auto found = spelled_.find({e.get(), end});
    if (found != spelled_.end()) return found->second;
    return spelled_.insert({{e.get(), end}, spelled_anew(e, end)}).first->second;
  }

  Words spelled_anew(const ExpressionRef& e, End end) {
    switch (e->kind) {
      case Expression::letter:
        return {e->name, Precedence::atom};
      case Expression::number:
        return {e->name, e->name[0] == '-' ? Precedence::product : Precedence::atom};
      case Expression::sum:
        return {str(at(Precedence::sum, e->parts[0]), added(e->parts[1])), Precedence::sum};
      case Expression::difference:
        return {str(at(Precedence::sum, e->parts[0]), " - ", unsigned_term(e->parts[1])), Precedence::sum};
      case Expression::negative:
      case Expression::product:
        return product(e, end);
      case Expression::quotient:
        return {str(numerator(e->parts[0]), '/', at(Precedence::power, e->parts[1], end)), Precedence::product};
      case Expression::power:
        return {str(at(Precedence::atom, e->parts[0], End::open), '^', exponent(e->parts[1])), Precedence::power};
      case Expression::function:
        return function(e, end);
      case Expression::comparison:
        return {str(at(Precedence::sum, e->parts[0]), ' ', e->name, ' ', at(Precedence::sum, e->parts[1])),
                Precedence::comparison};
      case Expression::logic:
        return logic(e);
      case Expression::choice:
        break;
    }
    const ExpressionRef& other = e->parts[2];
    const Words otherwise = words_of(other, End::closed);
    const bool goes_on = other->kind == Expression::choice && otherwise.precedence == Precedence::choice;
    return {str(at(Precedence::sum, e->parts[1]), " if ", at(Precedence::either, e->parts[0]),
                goes_on ? ", " : ", else ", otherwise.text),
            Precedence::choice};
  }

  std::string added(const ExpressionRef& e) {
    const bool flat = e->kind == Expression::sum || e->kind == Expression::difference;
    const std::string term = at(flat ? Precedence::sum : Precedence::product, e);
    return term[0] == '-' ? str(" - ", term.substr(1)) : str(" + ", term);
  }
  std::string unsigned_term(const ExpressionRef& e) {
    std::string term = at(Precedence::product, e);
    return term[0] == '-' ? str('(', term, ')') : term;
  }

  // The factors of a product or a negated product, nested ones included; returns whether the sign flips.
  bool collect(const ExpressionRef& e, std::vector<ExpressionRef>& factors) {
    bool negated = e->kind == Expression::negative;
    for (const ExpressionRef& part : e->parts) {
      const bool opens = part->kind == Expression::product || part->kind == Expression::negative;
      if (opens && uses_[part.get()] == 1) {
        negated ^= collect(part, factors);
      } else if (part->kind == Expression::number && part->name[0] == '-') {
        negated = !negated;
        factors.push_back(make(Expression::number, part->name.substr(1)));
      } else {
        factors.push_back(part);
      }
    }
    return negated;
  }

  // Numbers first; a run of equal factors is a power.
  Words product(const ExpressionRef& e, End end) {
    std::vector<ExpressionRef> factors;
    const bool negated = collect(e, factors);
    std::stable_partition(factors.begin(), factors.end(), is_constant);
    if (factors.size() > 1 && is_number(factors[0], "1")) factors.erase(factors.begin());
    std::string text = negated ? "-" : "";
    if (factors.size() == 1) {
      const std::string only = at(Precedence::product, factors[0], end);
      return {str(text, only[0] == '-' ? str('(', only, ')') : only), Precedence::product};
    }
    for (std::size_t i = 0; i < factors.size();) {
      const std::string base = at(Precedence::atom, factors[i], End::open);
      std::size_t same = i + 1;
      while (same < factors.size() && at(Precedence::atom, factors[same], End::open) == base) ++same;
      const std::size_t times = same - i;
      const bool last = same == factors.size();
      const std::string factor =
          times > 1 ? str(base, '^', times) : at(Precedence::power, factors[i], last ? end : End::open);
      const bool clash = i > 0 && ends_in_digit(text) && begins_with_digit(factor);
      append(text, str(i == 0 ? "" : clash ? " * " : " ", factor));
      i = same;
      if (i == factors.size() && times == i && !negated) return {text, Precedence::power};
    }
    return {text, Precedence::product};
  }

  std::string numerator(const ExpressionRef& e) {
    const bool fraction = e->kind == Expression::quotient ||
                          (e->kind == Expression::negative && e->parts[0]->kind == Expression::quotient);
    const std::string text = at(Precedence::product, e, End::open);
    return fraction && !letters_.contains(e.get()) ? str('(', text, ')') : text;
  }

  std::string exponent(const ExpressionRef& e) {
    if (e->kind == Expression::number) return e->name;
    if (e->kind == Expression::negative && uses_[e.get()] == 1) {
      if (const Words words = words_of(e->parts[0], End::open); words.precedence == Precedence::atom)
        return str('-', words.text);
    }
    return at(Precedence::atom, e, End::open);
  }

  Words function(const ExpressionRef& e, End end) {
    if (e->name == "exp") return {str("e^", exponent(e->parts[0])), Precedence::power};
    std::string arguments;
    const Precedence needed = e->parts.size() == 1 ? Precedence::choice : Precedence::sum;
    for (const ExpressionRef& part : e->parts) {
      append(arguments, str(arguments.empty() ? "" : ", ", at(needed, part)));
    }
    if (e->name == "abs" && arguments.find('|') == arguments.npos) return {str('|', arguments, '|'), Precedence::atom};
    const ExpressionRef& only = e->parts[0];
    const bool simple = e->parts.size() == 1 && e->name != "abs" &&
                        (only->kind == Expression::letter || letters_.contains(only.get()) ||
                         (only->kind == Expression::number && only->name[0] != '-'));
    if (simple && end == End::closed) return {str(e->name, ' ', arguments), Precedence::power};
    return {str(e->name, '(', arguments, ')'), Precedence::atom};
  }

  Words logic(const ExpressionRef& e) {
    if (e->name == "not") return {str("not (", at(Precedence::either, e->parts[0]), ')'), Precedence::comparison};
    const Precedence precedence = e->name == "and" ? Precedence::both : Precedence::either;
    return {str(at(precedence, e->parts[0]), ' ', e->name, ' ', at(precedence, e->parts[1])), precedence};
  }

  static constexpr std::string_view letters = "stuvwpqr";
  std::map<const Expression*, int> uses_;
  std::map<const Expression*, std::string> letters_;
  std::map<std::pair<const Expression*, End>, Words> spelled_;
  std::vector<std::string> definitions_;
};

}  // namespace

// ---- Building -------------------------------------------------------------------------------------------------------

Symbol::Symbol(std::string_view letter) : Symbol(make(Expression::letter, letter)) {}
Symbol::Symbol(float number) : Symbol(constant(number, str(number))) {}
Symbol::Symbol(double number) : Symbol(constant(number, str(number))) {}
Symbol::Symbol(long long number) : Symbol(constant(static_cast<double>(number), str(number))) {}
Symbol::Symbol(const Symbol&) = default;
Symbol& Symbol::operator=(const Symbol&) = default;
Symbol::~Symbol() = default;

std::string Symbol::text() const { return Printer().print(expression_); }

Symbol operator+(const Symbol& a, const Symbol& b) {
  if (is_number(a.expression_, "0")) return b;
  if (is_number(b.expression_, "0")) return a;
  if (b.expression_->kind == Expression::negative) return a - Symbol(b.expression_->parts[0]);
  return Symbol(make(Expression::sum, "+", {a.expression_, b.expression_}));
}
Symbol operator-(const Symbol& a, const Symbol& b) {
  if (is_number(b.expression_, "0")) return a;
  if (b.expression_->kind == Expression::negative) return a + Symbol(b.expression_->parts[0]);
  return Symbol(make(Expression::difference, "-", {a.expression_, b.expression_}));
}
Symbol operator*(const Symbol& a, const Symbol& b) {
  if (is_number(a.expression_, "1")) return b;
  if (is_number(b.expression_, "1")) return a;
  return Symbol(make(Expression::product, "*", {a.expression_, b.expression_}));
}
Symbol operator/(const Symbol& a, const Symbol& b) {
  if (is_number(b.expression_, "1")) return a;
  return Symbol(make(Expression::quotient, "/", {a.expression_, b.expression_}));
}
Symbol operator-(const Symbol& a) {
  if (a.expression_->kind == Expression::negative) return Symbol(a.expression_->parts[0]);
  return Symbol(make(Expression::negative, "-", {a.expression_}));
}

#define XGRAD_SYMBOL(name) \
  Symbol name(const Symbol& a) { return Symbol(call(#name, a.expression_)); }
XGRAD_PRINTED_FUNCTIONS(XGRAD_SYMBOL)
#undef XGRAD_SYMBOL
Symbol expm1(const Symbol& a) { return exp(a) - 1; }
Symbol log(const Symbol& a) { return Symbol(call("ln", a.expression_)); }
Symbol log1p(const Symbol& a) { return log(1 + a); }
Symbol log2(const Symbol& a) { return log(a) / std::numbers::ln2; }
Symbol log10(const Symbol& a) { return log(a) / std::numbers::ln10; }
Symbol exp2(const Symbol& a) { return pow(2, a); }
Symbol gauss(const Symbol& a) { return exp(-(a * a)); }
Symbol pow(const Symbol& a, const Symbol& b) {
  return Symbol(make(Expression::power, "^", {a.expression_, b.expression_}));
}
Symbol maximum(const Symbol& a, const Symbol& b) {
  return Symbol(make(Expression::function, "max", {a.expression_, b.expression_}));
}
Symbol minimum(const Symbol& a, const Symbol& b) {
  return Symbol(make(Expression::function, "min", {a.expression_, b.expression_}));
}

namespace {

ExpressionRef compared(std::string_view sign, const ExpressionRef& a, const ExpressionRef& b) {
  return make(Expression::comparison, sign, {a, b});
}

}  // namespace

Symbol operator<(const Symbol& a, const Symbol& b) { return Symbol(compared("<", a.expression_, b.expression_)); }
Symbol operator<=(const Symbol& a, const Symbol& b) { return Symbol(compared("<=", a.expression_, b.expression_)); }
Symbol operator>(const Symbol& a, const Symbol& b) { return Symbol(compared(">", a.expression_, b.expression_)); }
Symbol operator>=(const Symbol& a, const Symbol& b) { return Symbol(compared(">=", a.expression_, b.expression_)); }
Symbol operator==(const Symbol& a, const Symbol& b) { return Symbol(compared("=", a.expression_, b.expression_)); }
Symbol operator!=(const Symbol& a, const Symbol& b) { return Symbol(compared("!=", a.expression_, b.expression_)); }

Symbol operator&&(const Symbol& a, const Symbol& b) {
  return Symbol(make(Expression::logic, "and", {a.expression_, b.expression_}));
}
Symbol operator||(const Symbol& a, const Symbol& b) {
  return Symbol(make(Expression::logic, "or", {a.expression_, b.expression_}));
}
Symbol operator!(const Symbol& a) { return Symbol(make(Expression::logic, "not", {a.expression_})); }

Symbol where(const Symbol& mask, const Symbol& yes, const Symbol& no) {
  return Symbol(make(Expression::choice, "where", {mask.expression_, yes.expression_, no.expression_}));
}

const Symbol* detail::letters_of(std::size_t count) {
  static const Symbol one[]{Symbol("x"), Symbol("y")};
  static const Symbol two[]{Symbol("a"), Symbol("b"), Symbol("y")};
  static const Symbol three[]{Symbol("a"), Symbol("b"), Symbol("c"), Symbol("y")};
  return count == 1 ? one : count == 2 ? two : three;
}

Formula detail::formula_of(const Symbol& value, std::initializer_list<Symbol> derivatives) {
  const Symbol* argument = letters_of(derivatives.size());
  Formula formula{.value = str("y = ", value.text()), .derivative = {}};
  for (const Symbol& derivative : derivatives) {
    if (!formula.derivative.empty()) formula.derivative += "; ";
    append(formula.derivative, str("dy/d", (argument++)->text(), " = ", derivative.text()));
  }
  return formula;
}

}  // namespace xgrad
