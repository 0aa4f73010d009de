// Error messages.
#include "error.h"

#include "scope.h"

namespace xgrad {

std::string error_message(std::string_view op, std::string_view what) {
  std::string message = cat(op, ": ", what);
  if (const Scope* scope = Scope::current(); scope && scope->path() && !scope->path()->empty()) {
    append(message, cat("\n  in ", *scope->path()));
    if (scope->detail() && !scope->detail()->empty()) append(message, cat(" (", *scope->detail(), ")"));
  }
  return message;
}

}  // namespace xgrad
