// The sources of formulas.
#include "formula.h"

#include <atomic>

#include "text.h"

extern "C" {
// The linker puts them around the section.
[[gnu::visibility("hidden")]] extern const xgrad::detail::FormulaLine __start_xgrad_formulas[];
[[gnu::visibility("hidden")]] extern const xgrad::detail::FormulaLine __stop_xgrad_formulas[];
}

namespace xgrad {

// The operation that the core itself records.
XGRAD_FORMULA alias_formula{"alias", "y = x", "dL/dx = gy"};
XGRAD_FORMULA detach_formula{"detach", "y = x", "dL/dx = 0"};
XGRAD_FORMULA checkpoint_formula{"checkpoint", "y = f(x)", "dL/dx = gy df/dx, of f run again"};

namespace {

constinit std::atomic<const detail::PrintedFormula*> newest_printed{nullptr};

// Calls f(op, make) for every formula, which make() returns.
template <class F>
void for_each_formula(const F& f) {
  for (const detail::FormulaLine* line = __start_xgrad_formulas; line != __stop_xgrad_formulas; ++line) {
    if (line->op) f(line->op, [line] { return Formula{line->value, line->derivative}; });  // else it fills a gap
  }
  for (const auto* each = newest_printed.load(std::memory_order_acquire); each; each = each->next()) {
    f(each->op(), [each] { return each->formula(); });
  }
}

}  // namespace

detail::PrintedFormula::PrintedFormula(const char* op, Print print) noexcept : op_(op), print_(print) {
  next_ = newest_printed.load(std::memory_order_relaxed);
  while (!newest_printed.compare_exchange_weak(next_, this, std::memory_order_release, std::memory_order_relaxed)) {
  }
}

std::optional<Formula> formula_of(std::string_view op, std::span<const std::string_view> attributes) {
  std::string with(op);
  for (const std::string_view attribute : attributes) append(with, str(' ', attribute));
  std::optional<Formula> found;
  bool ambiguous = false;
  for_each_formula([&](std::string_view name, const auto& make) {
    if (name != with) return;
    Formula formula = make();
    ambiguous |= found && *found != formula;
    found = std::move(formula);
  });
  if (ambiguous) found.reset();
  return found || attributes.empty() ? found : formula_of(op);
}

}  // namespace xgrad
