// The sources of formulas.
#include "formula.h"

#include <atomic>

#include "text.h"

namespace xgrad {

// The operation that the core itself records.
XGRAD_FORMULA alias_formula{"alias", "y = x", "dL/dx = gy"};
XGRAD_FORMULA detach_formula{"detach", "y = x", "dL/dx = 0"};
XGRAD_FORMULA checkpoint_formula{"checkpoint", "y = f(x)", "dL/dx = gy df/dx, of f run again"};

namespace {

constinit std::atomic<const detail::RegisteredFormula*> newest{nullptr};

}  // namespace

detail::RegisteredFormula::RegisteredFormula(const char* op, const char* value, const char* derivative) noexcept
    : op_(op), value_(value), derivative_(derivative) {
  register_it();
}

detail::RegisteredFormula::RegisteredFormula(const char* op, Print print) noexcept : op_(op), print_(print) {
  register_it();
}

void detail::RegisteredFormula::register_it() noexcept {
  next_ = newest.load(std::memory_order_relaxed);
  while (!newest.compare_exchange_weak(next_, this, std::memory_order_release, std::memory_order_relaxed)) {
  }
}

std::optional<Formula> formula_of(std::string_view op, std::span<const std::string_view> attributes) {
  std::string with(op);
  for (const std::string_view attribute : attributes) append(with, str(' ', attribute));
  std::optional<Formula> found;
  bool ambiguous = false;
  for (const auto* each = newest.load(std::memory_order_acquire); each; each = each->next()) {
    if (each->op() != with) continue;
    Formula formula = each->formula();
    ambiguous |= found && *found != formula;
    found = std::move(formula);
  }
  if (ambiguous) found.reset();
  return found || attributes.empty() ? found : formula_of(op);
}

}  // namespace xgrad
