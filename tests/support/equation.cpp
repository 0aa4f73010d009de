// A calculator for printed formulas, by recursive descent: choice, sum, product, quotient, power, atom.
#include "equation.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <numbers>
#include <stdexcept>
#include <vector>

namespace xgrad::testing {
namespace {

using Letters = std::map<std::string, double>;

double sign_of(double v) { return v > 0 ? 1 : v < 0 ? -1 : v; }

double sigmoid(double v) { return 1 / (1 + std::exp(-v)); }
double normal_cdf(double v) { return std::erfc(-v / std::numbers::sqrt2) / 2; }
double normal_pdf(double v) { return std::exp(-v * v / 2) * std::numbers::inv_sqrtpi / std::numbers::sqrt2; }

const std::map<std::string, double (*)(double)> functions{
    {"ln", std::log},       {"sqrt", std::sqrt},     {"sin", std::sin},           {"cos", std::cos},
    {"tan", std::tan},      {"asin", std::asin},     {"acos", std::acos},         {"atan", std::atan},
    {"sinh", std::sinh},    {"cosh", std::cosh},     {"tanh", std::tanh},         {"asinh", std::asinh},
    {"acosh", std::acosh},  {"atanh", std::atanh},   {"floor", std::floor},       {"ceil", std::ceil},
    {"trunc", std::trunc},  {"erf", std::erf},       {"round", std::nearbyint},   {"abs", std::fabs},
    {"sign", sign_of},      {"sigmoid", sigmoid},    {"normal_cdf", normal_cdf},  {"normal_pdf", normal_pdf}};

class Reader {
 public:
  Reader(std::string_view text, const Letters& letters) : text_(text), letters_(letters) {}

  double all() {
    const double value = choice();
    if (at_ != text_.size()) wrong("the end");
    return value;
  }

 private:
  [[noreturn]] void wrong(std::string_view expected) const {
    throw std::runtime_error(std::string(text_) + ": " + std::string(expected) + " is expected at " +
                             std::to_string(at_));
  }
  bool take(std::string_view words) {
    if (text_.substr(at_, words.size()) != words) return false;
    at_ += words.size();
    return true;
  }
  void need(std::string_view words) {
    if (!take(words)) wrong(words);
  }
  char next(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  double choice() {
    const double yes = sum();
    if (!take(" if ")) return yes;
    const bool holds = either();
    need(", ");
    const bool is_last = take("else ");
    const std::size_t before = at_;
    const double no = choice();
    if (!is_last && text_.substr(before, at_ - before).find(" if ") == text_.npos) wrong("another if");
    return holds ? yes : no;
  }

  bool either() {
    bool holds = both();
    while (take(" or ")) holds = both() || holds;
    return holds;
  }
  bool both() {
    bool holds = condition();
    while (take(" and ")) holds = condition() && holds;
    return holds;
  }
  bool condition() {
    if (take("not (")) {
      const bool holds = either();
      need(")");
      return !holds;
    }
    const std::size_t start = at_;
    try {
      return comparison();
    } catch (const std::runtime_error&) {
      at_ = start;
      need("(");
      const bool holds = either();
      need(")");
      return holds;
    }
  }
  bool comparison() {
    const double a = sum();
    if (take(" < ")) return a < sum();
    if (take(" <= ")) return a <= sum();
    if (take(" > ")) return a > sum();
    if (take(" >= ")) return a >= sum();
    if (take(" = ")) return a == sum();
    need(" != ");
    return a != sum();
  }

  double sum() {
    double total = take("-") ? -term() : term();
    for (;;) {
      if (take(" + ")) {
        total += term();
      } else if (take(" - ")) {
        total -= term();
      } else {
        return total;
      }
    }
  }

  // A product, or one divided by one factor, which ends the term.
  double term() {
    double value = power();
    while (take(" * ") || (begins_factor() && take(" "))) value *= power();
    return take("/") ? value / power() : value;
  }
  bool begins_factor() const {
    const std::string_view rest = text_.substr(at_);
    for (const char* word : {" if ", " else ", " and ", " or ", " with "}) {
      if (rest.starts_with(word)) return false;
    }
    return next() == ' ' && (std::isalnum(next(1)) || next(1) == '(' || next(1) == '|');
  }

  double power() {
    const double base = atom();
    if (!take("^")) return base;
    const bool negative = take("-");
    const double exponent = atom();
    return std::pow(base, negative ? -exponent : exponent);
  }

  double atom() {
    if (take("(")) {
      const double value = choice();
      need(")");
      return value;
    }
    if (take("|")) {
      const double value = choice();
      need("|");
      return std::abs(value);
    }
    return std::isdigit(next()) ? number() : named();
  }
  double number() {
    char* end = nullptr;
    const std::string rest(text_.substr(at_));
    const double value = std::strtod(rest.c_str(), &end);
    at_ += static_cast<std::size_t>(end - rest.c_str());
    return value;
  }
  double named() {
    const std::size_t start = at_;
    while (std::isalnum(next()) || next() == '_') ++at_;
    const std::string name(text_.substr(start, at_ - start));
    if (name == "max" || name == "min") {
      need("(");
      const double a = sum();
      need(", ");
      const double b = sum();
      need(")");
      return name == "max" ? std::max(a, b) : std::min(a, b);
    }
    if (const auto f = functions.find(name); f != functions.end()) {
      if (take("(")) {
        const double value = choice();
        need(")");
        return f->second(value);
      }
      need(" ");
      if (!std::isalnum(next())) wrong("a letter or a number");
      return f->second(std::isdigit(next()) ? number() : named());
    }
    if (name == "e") return std::numbers::e;
    if (name == "pi") return std::numbers::pi;
    const auto letter = letters_.find(name);
    if (letter == letters_.end()) wrong("a letter that is known");
    return letter->second;
  }

  std::string_view text_;
  const Letters& letters_;
  std::size_t at_ = 0;
};

}  // namespace

double value_of(std::string_view text, Letters letters) {
  const std::size_t with = text.find(" with ");
  std::string_view definitions = with == text.npos ? std::string_view() : text.substr(with + 6);
  const auto is_definition = [&](std::size_t at) {
    const std::size_t name_end = std::min(definitions.find(' ', at), definitions.size());
    return definitions.substr(name_end).starts_with(" = ");
  };
  while (!definitions.empty()) {
    // Up to the next one: ", t = " or ", t2 = ".
    std::size_t end = 0;
    do {
      end = definitions.find(", ", end + 1);
    } while (end != definitions.npos && !is_definition(end + 2));
    const std::string_view one = definitions.substr(0, end);
    const std::size_t name = one.find(" = ");
    letters[std::string(one.substr(0, name))] = Reader(one.substr(name + 3), letters).all();
    definitions = end == definitions.npos ? std::string_view() : definitions.substr(end + 2);
  }
  return Reader(text.substr(0, with), letters).all();
}

}  // namespace xgrad::testing
