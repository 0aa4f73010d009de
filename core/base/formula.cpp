// The sources of formulas.
#include "formula.h"

#include <algorithm>
#include <atomic>
#include <set>

#include "text.h"

namespace xgrad {

namespace {

constinit std::atomic<const detail::RegisteredFormula*> newest{nullptr};

constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

std::set<std::string_view> words_of(std::string_view text) {
  std::set<std::string_view> words;
  while (!text.empty()) {
    const std::size_t length = std::min(text.find_first_not_of(letters), text.size());
    words.insert(text.substr(0, length));
    text.remove_prefix(std::min(length + 1, text.size()));
  }
  return words;
}

// The text without its brackets, and without what is between them if that names one of these inputs.
std::string settled(std::string_view text, const std::set<std::string_view>& left_out) {
  std::string result;
  for (std::size_t open; (open = text.find('[')) != text.npos;) {
    const std::size_t close = text.find(']', open);
    const std::string_view optional = text.substr(open + 1, close - open - 1);
    const std::set<std::string_view> words = words_of(optional);
    append(result, text.substr(0, open));
    const auto stays = [&](std::string_view input) { return !words.contains(input); };
    if (std::ranges::all_of(left_out, stays)) append(result, optional);
    text.remove_prefix(std::min(close, text.size() - 1) + 1);
  }
  return str(result, text);
}

// The formula of a call that gave the first of the inputs, if the others may be left out, else the whole formula.
Formula settled(const Formula& written, std::size_t inputs) {
  const std::vector<Formula::Operand> operands = written.operands();
  std::set<std::string_view> left_out;
  for (std::size_t i = inputs; i < operands.size(); ++i) {
    if (written.value.find('[') == written.value.npos) break;
    left_out.insert(operands[i].name);
  }
  Formula formula{settled(written.value, left_out), {}};
  if (operands.empty()) formula.derivative = written.derivative;
  for (const auto& [name, derivative] : operands) {
    if (left_out.contains(name)) continue;
    append(formula.derivative, str(formula.derivative.empty() ? "" : "; ", settled(derivative, left_out)));
  }
  return formula;
}

}  // namespace

std::vector<Formula::Operand> Formula::operands() const {
  std::vector<Operand> all;
  for (std::string_view left = derivative; !left.empty();) {
    const std::string_view equation = left.substr(0, left.find("; "));
    left.remove_prefix(std::min(left.size(), equation.size() + 2));
    const std::size_t slope = equation.find("/d");  // of dL/dx or dy/dx
    const std::string_view after = slope == equation.npos ? std::string_view() : equation.substr(slope + 2);
    const std::string_view name = after.substr(0, after.find_first_not_of(letters));
    const auto known = name.empty() && !all.empty() ? all.end() - 1 : std::ranges::find(all, name, &Operand::name);
    if (known == all.end()) {
      all.push_back({std::string(name), std::string(equation)});
    } else {
      append(known->derivative, str("; ", equation));
    }
  }
  return all;
}

detail::RegisteredFormula::RegisteredFormula(const char* op, const char* value, const char* derivative,
                                             OperationKind kind) noexcept
    : op_(op), value_(value), derivative_(derivative), kind_(kind) {
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

std::optional<Formula> formula_of(std::string_view op, std::span<const std::string_view> attributes,
                                  std::size_t inputs) {
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
  if (!found && !attributes.empty()) return formula_of(op, {}, inputs);
  return found ? std::optional(settled(*found, inputs)) : found;
}

OperationKind operation_kind(std::string_view op) {
  for (const auto* each = newest.load(std::memory_order_acquire); each; each = each->next()) {
    if (each->op() == op) return each->kind();
  }
  return OperationKind::other;
}

}  // namespace xgrad
