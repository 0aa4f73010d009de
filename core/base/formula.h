// Formulas of operations as mathematical text, for diagrams, reports and pages.
//
// The formula of an elementwise operation is printed from its lambdas (ops/elementwise/lambda.h); it is known after the
// first run. Any other operation has its formula as text next to its source, with one derivative for each input, in the
// order of the inputs. The text in brackets is omitted if it names an input that a call leaves out:
//
//     XGRAD_FORMULA matmul_formula{"matmul", "y = a b", "dL/da = gy b^T; dL/db = a^T gy"};
//     XGRAD_FORMULA matmul_b_formula{"matmul transpose_b", "y = a b^T", "dL/da = gy b; dL/db = gy^T a"};
//     XGRAD_FORMULA linear_formula{"linear", "y = x weight^T[ + bias]",
//                                  "dL/dx = gy weight; dL/dweight = gy^T x; dL/dbias = gy"};
#pragma once

#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config.h"

namespace xgrad {

/// The kinds of operations that diagrams and reports treat differently.
enum class OperationKind {
  other,
  symmetric,   ///< exchanging its operands gives the same result
  rearranges,  ///< it only changes the arrangement of elements
  masks,       ///< it writes a value where a mask is true
  product,     ///< a product whose second operand may be a weight
};

/// The equations of an operation. x, a, b, ... are its inputs, y the result, gy the gradient of the result; ^T
/// transposes. An equation that does not fit on a line is empty.
struct Formula {
  std::string value;       ///< "y = tanh x"
  std::string derivative;  ///< "dy/dx = 1 - y^2", for several inputs "dL/da = gy b^T; dL/db = a^T gy"
  friend bool operator==(const Formula&, const Formula&) = default;

  /// An input and its derivatives: "a" and "dL/da = gy b^T".
  struct Operand {
    std::string name, derivative;
  };
  /// The inputs that have a derivative, in the order of the operation's arguments.
  std::vector<Operand> operands() const;
};

/// The formula of the operation `op` with these boolean attributes on. For matmul with transpose_b it is the formula of
/// "matmul transpose_b", or of "matmul" if there is none. A call with fewer inputs than the formula gets the formula
/// without its optional inputs. Returns nothing if the formula is unknown, or if operations with this name have
/// different formulas.
std::optional<Formula> formula_of(std::string_view op, std::span<const std::string_view> attributes = {},
                                  std::size_t inputs = std::numeric_limits<std::size_t>::max());

/// The kind of the operation `op`, which is registered with its formula.
OperationKind operation_kind(std::string_view op);

namespace detail {

/// A formula in the list that formula_of() reads, as text or printed on demand. The object and the arguments of its
/// constructor must live as long as the program. A program has only the formulas of operations that it uses.
/// Thread-safe.
class RegisteredFormula {
 public:
  using Print = Formula (*)();
  RegisteredFormula(const char* op, const char* value, const char* derivative = "",
                    OperationKind kind = OperationKind::other) noexcept;
  RegisteredFormula(const char* op, Print print) noexcept;
  RegisteredFormula(const RegisteredFormula&) = delete;

  const char* op() const { return op_; }
  OperationKind kind() const { return kind_; }
  Formula formula() const { return print_ ? print_() : Formula{value_, derivative_}; }
  /// The formula that was registered before this one, or nullptr.
  const RegisteredFormula* next() const { return next_; }

 private:
  void register_it() noexcept;

  const char* op_;
  const char* value_ = "";
  const char* derivative_ = "";
  OperationKind kind_ = OperationKind::other;
  Print print_ = nullptr;
  const RegisteredFormula* next_ = nullptr;
};
#ifndef XGRAD_FURTHER_LEVEL
#define XGRAD_FORMULA [[maybe_unused]] static const ::xgrad::detail::RegisteredFormula
#else  // the same sources, compiled for further processors (cmake/levels.cmake): no code runs before main
struct FormulaOfBase {
  template <class... Parts>
  constexpr FormulaOfBase(const Parts&...) {}
};
#define XGRAD_FORMULA [[maybe_unused]] static constexpr ::xgrad::detail::FormulaOfBase
#endif

}  // namespace detail

}  // namespace xgrad
