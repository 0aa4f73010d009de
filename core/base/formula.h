// Formulas of operations as mathematical text, for diagrams, reports and pages.
//
// An elementwise operation prints the formula of its lambdas (ops/elementwise/lambda.h) from its first run on. Any
// other operation has its formula as a line of text next to it:
//
//     XGRAD_FORMULA matmul_formula{"matmul", "y = a b", "dL/da = gy b^T; dL/db = a^T gy"};
//     XGRAD_FORMULA matmul_b_formula{"matmul transpose_b", "y = a b^T", "dL/da = gy b; dL/db = gy^T a"};
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "config.h"

namespace xgrad {

/// The equations of an operation. x, a, b, ... are its inputs, y the result, gy the gradient of the result; ^T
/// transposes. An equation that does not fit on a line is empty.
struct Formula {
  std::string value;       ///< "y = tanh x"
  std::string derivative;  ///< "dy/dx = 1 - y^2", for several inputs "dL/da = gy b^T; dL/db = a^T gy"
  friend bool operator==(const Formula&, const Formula&) = default;
};

/// The formula of the operation `op` with these boolean attributes on: for matmul with transpose_b the formula of
/// "matmul transpose_b", or if there is none the formula of "matmul". None if it is unknown, or if different operations
/// have this name.
std::optional<Formula> formula_of(std::string_view op, std::span<const std::string_view> attributes = {});

namespace detail {

/// The formula of one operation as text. The linker joins all of them into one list, so no code runs for them when a
/// program starts, and a program contains only the formulas of operations that it uses.
struct FormulaLine {
  alignas(32) const char* op;  ///< this alignment joins lines from several files into one list
  const char* value;
  const char* derivative = "";
};
#define XGRAD_FORMULA \
  [[gnu::section("xgrad_formulas"), gnu::used, gnu::retain]] static constexpr ::xgrad::detail::FormulaLine

/// A formula that is printed on demand. The object and both arguments of its constructor must live as long as the
/// program. Thread-safe.
class PrintedFormula {
 public:
  using Print = Formula (*)();
  PrintedFormula(const char* op, Print print) noexcept;

  const char* op() const { return op_; }
  Formula formula() const { return print_(); }
  /// The one made before it, or nullptr.
  const PrintedFormula* next() const { return next_; }

 private:
  const char* op_;
  Print print_;
  const PrintedFormula* next_;
};

}  // namespace detail

}  // namespace xgrad
