// Error messages.
#include "error.h"

#include "scope.h"

namespace xgrad {

std::string error_message(std::string_view op, std::string_view what) {
  std::string message = cat(op, ": ", what);
  if (const Place* place = current_place(); place && !place->path.empty()) {
    append(message, cat("\n  in ", place->path));
    if (!place->what.empty()) append(message, cat(" (", place->what, ")"));
  }
  return message;
}

}  // namespace xgrad
