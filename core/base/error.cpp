// Error messages.
#include "error.h"

#include "scope.h"

namespace xgrad {

std::string error_message(std::string_view op, std::string_view what) {
  std::string message = cat(op, ": ", what);
  const Scope* scope = Scope::current();
  if (const Place* place = scope ? scope->place() : nullptr; place && !place->path.empty()) {
    append(message, cat("\n  in ", place->path));
    if (!place->what.empty()) append(message, cat(" (", place->what, ")"));
  }
  if (detail::error_hook) detail::error_hook(op, message);
  return message;
}

}  // namespace xgrad
