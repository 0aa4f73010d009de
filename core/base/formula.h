// Formulas of operations as mathematical text, for diagrams, reports and pages.
//
// An elementwise operation prints the formula of its lambdas (ops/elementwise/lambda.h) from its first run on. Any
// other operation has its formula as a line of text next to it, with a derivative for each input, in their order. What
// is between brackets goes where a call did not give an input that is named there:
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

/// What an operation does, where diagrams and reports treat it in a way of its own.
enum class OperationKind {
  other,
  symmetric,   ///< its operands may be exchanged
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
  /// The inputs that it has derivatives for, in the order of the operation's arguments.
  std::vector<Operand> operands() const;
};

/// The formula of the operation `op` with these boolean attributes on: for matmul with transpose_b the formula of
/// "matmul transpose_b", or if there is none the formula of "matmul". None if it is unknown, or if different operations
/// have this name. If the call gave fewer inputs than the formula has, without those that may be left out.
std::optional<Formula> formula_of(std::string_view op, std::span<const std::string_view> attributes = {},
                                  std::size_t inputs = std::numeric_limits<std::size_t>::max());

/// The kind of the operation `op`, as its formula says.
OperationKind operation_kind(std::string_view op);

namespace detail {

/// A formula in the list that formula_of() reads, as text or printed on demand. The object and the arguments of its
/// constructor must live as long as the program, which has only the formulas of operations that it uses. Thread-safe.
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
  /// The one registered before it, or nullptr.
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
#define XGRAD_FORMULA [[maybe_unused]] static const ::xgrad::detail::RegisteredFormula

}  // namespace detail

}  // namespace xgrad
