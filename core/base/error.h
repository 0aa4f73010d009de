// The errors that the library throws, and `fail`, which throws them.
//
// Every message has one form, the operation first, then the rule that was broken with both sides of it, then the place
// in the model if there is one:
//
//     matmul: inner sizes differ: [32, 10, 256] @ [512, 64]
//       in decoder.blocks.1.cross_attn.k (Linear 512 -> 64)
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "text.h"

namespace xgrad {

/// Base of everything that the library throws on purpose.
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
/// A size beyond what can be represented or what was allowed.
struct LimitError : Error {
  using Error::Error;
};
/// The graph cannot do what was asked: nothing to differentiate, already released, changed since it was recorded.
struct GraphError : Error {
  using Error::Error;
};
/// A file whose content breaks its format, or does not fit the model.
struct FormatError : Error {
  using Error::Error;
};
/// The operating system refused to read or write.
struct IoError : Error {
  using Error::Error;
};
/// Numbers that an operation cannot work on: NaN or infinity, a singular matrix, one that is not positive definite.
struct NumericError : Error {
  using Error::Error;
};

/// `op: what` and, inside a model, a second line with the module's path.
std::string error_message(std::string_view op, std::string_view what);

/// Throws E with the message `op: parts...`.
template <class E, class... Parts>
[[noreturn]] void fail(std::string_view op, const Parts&... parts) {
  throw E(error_message(op, cat(parts...)));
}

}  // namespace xgrad
