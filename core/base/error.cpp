// Error messages.
#include "error.h"

#include "scope.h"

namespace xgrad {

std::string error_message(std::string_view op, std::string_view what) {
  std::string message = str(op, ": ", what);
  if (const Place* place = current_place(); place && !place->path.empty()) {
    append(message, str("\n  in ", place->path));
    if (!place->what.empty()) append(message, str(" (", place->what, ")"));
  }
  return message;
}

}  // namespace xgrad
