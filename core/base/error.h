// The errors that the library throws, and `fail`, which throws them.
//
// Every message has the same form. First comes the operation, then the violated condition with both values, then the
// place in the model, if there is one:
//
//     matmul: inner sizes differ: [32, 10, 256] @ [512, 64]
//       in decoder.blocks.1.cross_attn.k (Linear 512 -> 64)
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

#include "text.h"

namespace xgrad {

/// The base of all errors that the library throws.
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};
/// Shapes that do not fit together, or do not fit the operation.
struct ShapeError : Error {
  using Error::Error;
};
/// An argument outside its range: an axis, an index, a probability, a name.
struct ValueError : Error {
  using Error::Error;
};
/// A size that cannot be represented, or exceeds a limit.
struct LimitError : Error {
  using Error::Error;
};
/// A graph that cannot be differentiated: no gradient flows in it, or it was released or changed since it was recorded.
struct GraphError : Error {
  using Error::Error;
};
/// A file whose content breaks its format, or does not fit the model.
struct FormatError : Error {
  using Error::Error;
};
/// A failure of the operating system to read or write.
struct IoError : Error {
  using Error::Error;
};
/// Elements that an operation cannot work on: NaN, infinity, a singular matrix, a matrix that is not positive definite.
struct NumericError : Error {
  using Error::Error;
};

/// The message `op: what` and, inside a model, a second line with the path of the module.
std::string error_message(std::string_view op, std::string_view what);

/// Throws E with the message `op: parts...`.
template <class E, class... Parts>
[[noreturn]] void fail(std::string_view op, const Parts&... parts) {
  throw E(error_message(op, str(parts...)));
}

/// The sum a + b. Throws LimitError, naming the operation, when it does not fit.
inline std::int64_t checked_add(std::string_view op, std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) fail<LimitError>(op, a, " + ", b, " does not fit 64 bits");
  return sum;
}

/// The product a b. Throws LimitError, naming the operation, when it does not fit.
inline std::int64_t checked_multiply(std::string_view op, std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) fail<LimitError>(op, a, " * ", b, " does not fit 64 bits");
  return product;
}

namespace detail {

/// Throws ValueError if `f` is a null pointer or an empty std::function.
template <class F>
void refuse_empty(std::string_view op, const F& f) {
  bool empty = false;
  if constexpr (std::is_pointer_v<F> || std::is_member_pointer_v<F>) {
    empty = f == nullptr;
  } else if constexpr (requires { f.operator bool(); }) {
    empty = !f.operator bool();
  }
  if (empty) fail<ValueError>(op, "the function is empty");
}

}  // namespace detail

}  // namespace xgrad
