// Symbol: a number that has a letter instead of a value. A lambda of elementwise() that is called with Symbols returns
// its formula:
//
//     const auto f = [](auto v) { return v / (1 + abs(v)); };
//     f(Symbol("x")).text();      // "x/(1 + |x|)"
//
// Functions have the same names and meanings for Symbols as for Packs, Tensors and Probes
// (ops/kernels/registers/simd.h).
#pragma once

#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

#include "../../core/base/formula.h"
#include "../kernels/registers/functions.h"

namespace xgrad {

namespace detail {
struct Expression;
using ExpressionRef = std::shared_ptr<const Expression>;
}  // namespace detail

/// An expression of letters and numbers, or a comparison of two. Threads: each thread may use objects of its own.
class Symbol {
 public:
  explicit Symbol(std::string_view letter);
  Symbol(float number);
  Symbol(double number);
  Symbol(long long number);
  template <std::integral T>
  Symbol(T number) : Symbol(static_cast<long long>(number)) {}
  // Not inline, because every elementwise operation copies some to print its formula.
  Symbol(const Symbol& other);
  Symbol& operator=(const Symbol& other);
  ~Symbol();

  /// The expression as a textbook prints it, with as few parentheses as possible: "1 - y^2", "x ln a", "0 if x <= 0,
  /// else 1". Repeated subexpressions get a letter of their own: "s (1 - s) with s = sigmoid x".
  std::string text() const;

  friend Symbol operator+(const Symbol& a, const Symbol& b);
  friend Symbol operator-(const Symbol& a, const Symbol& b);
  friend Symbol operator*(const Symbol& a, const Symbol& b);
  friend Symbol operator/(const Symbol& a, const Symbol& b);
  friend Symbol operator-(const Symbol& a);

#define XGRAD_SYMBOL(name) friend Symbol name(const Symbol& a);
  XGRAD_FUNCTIONS(XGRAD_SYMBOL)
#undef XGRAD_SYMBOL
  friend Symbol pow(const Symbol& a, const Symbol& b);
  friend Symbol maximum(const Symbol& a, const Symbol& b);
  friend Symbol minimum(const Symbol& a, const Symbol& b);

  // Conditions of where().
  friend Symbol operator<(const Symbol& a, const Symbol& b);
  friend Symbol operator<=(const Symbol& a, const Symbol& b);
  friend Symbol operator>(const Symbol& a, const Symbol& b);
  friend Symbol operator>=(const Symbol& a, const Symbol& b);
  friend Symbol operator==(const Symbol& a, const Symbol& b);
  friend Symbol operator!=(const Symbol& a, const Symbol& b);
  friend Symbol operator&&(const Symbol& a, const Symbol& b);
  friend Symbol operator||(const Symbol& a, const Symbol& b);
  friend Symbol operator!(const Symbol& a);
  friend Symbol where(const Symbol& mask, const Symbol& yes, const Symbol& no);

 private:
  explicit Symbol(detail::ExpressionRef expression) : expression_(std::move(expression)) {}

  detail::ExpressionRef expression_;
};

namespace detail {

/// The letters in the formula of an operation with `count` arguments, then its result: x y, a b y, or a b c y.
const Symbol* letters_of(std::size_t count);
/// "y = value", and for each of the arguments "dy/dx = derivative".
Formula formula_of(const Symbol& value, std::initializer_list<Symbol> derivatives);

}  // namespace detail

}  // namespace xgrad
