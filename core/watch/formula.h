// What operations compute, as mathematics: for diagrams, reports and pages.
//
// An elementwise operation prints what its lambdas compute (ops/elementwise/lambda.h), from its first run on. Any other
// carries its formula as a line of text beside it:
//
//     XGRAD_FORMULA matmul_formula{"matmul", "y = a b", "dL/da = gy b^T; dL/db = a^T gy"};
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "../base/config.h"

namespace xgrad {

/// Equations of an operation. x, a, b, ... are its inputs, y the result, gy the gradient of the result, ^T transposes.
/// Empty where there is none that fits a line.
struct Formula {
  std::string value;       ///< "y = tanh x"
  std::string derivative;  ///< "dy/dx = 1 - y^2", for several inputs "dL/da = gy b^T; dL/db = a^T gy"
  friend bool operator==(const Formula&, const Formula&) = default;
};

/// The formula of the operation that graphs and timers call `op`. None if it is not known, or if operations that differ
/// have this name.
std::optional<Formula> formula_of(std::string_view op);

namespace detail {

/// The formula of one operation, as text. The linker puts it beside those of the others: nothing runs for it when a
/// program starts, and those of operations that a program does not have are not in it.
struct FormulaLine {
  alignas(32) const char* op;  ///< so aligned, lines from several files make one list
  const char* value;
  const char* derivative = "";
};
#define XGRAD_FORMULA \
  [[gnu::section("xgrad_formulas"), gnu::used, gnu::retain]] static constexpr ::xgrad::detail::FormulaLine

/// A formula that is printed when somebody asks. Both parameters must live as long as the program; so does this.
/// Threads: many may make some and ask.
class PrintedFormula {
 public:
  using Print = Formula (*)();
  PrintedFormula(const char* op, Print print) noexcept;

  const char* op() const { return op_; }
  Formula formula() const { return print_(); }
  /// The one that was made before, or nullptr.
  const PrintedFormula* next() const { return next_; }

 private:
  const char* op_;
  Print print_;
  const PrintedFormula* next_;
};

}  // namespace detail

}  // namespace xgrad
