// Error messages and the scopes that they name.
#include <xgrad/core/error.h>

#include <mutex>
#include <unordered_set>

#include <xgrad/core/scope.h>

namespace xgrad::inline XGRAD_ABI {

thread_local constinit Scope* Scope::current_ = nullptr;

const std::string* intern(std::string_view text) {
  // Never destroyed: nodes of the graph may outlive static objects.
  static std::mutex& mutex = *new std::mutex;
  static std::unordered_set<std::string>& texts = *new std::unordered_set<std::string>;
  const std::lock_guard lock(mutex);
  return &*texts.emplace(text).first;
}

std::string error_message(std::string_view op, std::string_view what) {
  std::string message = cat(op, ": ", what);
  if (const Scope* scope = Scope::current(); scope && scope->path() && !scope->path()->empty()) {
    append(message, cat("\n  in ", *scope->path()));
    if (scope->detail() && !scope->detail()->empty()) append(message, cat(" (", *scope->detail(), ")"));
  }
  return message;
}

}  // namespace xgrad::inline XGRAD_ABI
