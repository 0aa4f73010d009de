// Parameters by name: matching patterns, freezing, and groups with options of their own.
//
//     optim::freeze(model.parameters(), "encoder.*");
//     optim::AdamW adam{optim::parameter_groups<optim::AdamWOptions>(
//         optim::trainable(model.parameters()),
//         {{nn::without_weight_decay(model), {.lr = 3e-4, .weight_decay = 0}},
//          {optim::named("*.head.*"), {.lr = 1e-3}}},
//         {.lr = 3e-4, .weight_decay = 0.1})};
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "optimizers/optimizer.h"

namespace xgrad::optim {

// Threads: functions that freeze parameters run alone; the others read.

/// Whether a name fits a pattern, by POSIX fnmatch(): `*` matches any text, dots as well, `?` one character, `[0-3x]` one
/// of these, `[!0-3]` one of none of these; a `[` that nothing closes and a backslash match themselves.
bool fits(std::string_view name, std::string_view pattern);

/// The parameters whose names fit. Throws ValueError for a pattern that fits none.
Tensors matching(const Tensors& parameters, std::string_view pattern);
/// The parameters that gradients flow to: those that are not frozen.
Tensors trainable(const Tensors& parameters);

/// Freezes the parameters whose names fit: no gradients flow to them, and an optimizer leaves them unchanged. Returns
/// their number. Graphs recorded before stay as they are. These two throw as matching(), and GraphError for a parameter
/// that is no leaf; then nothing has changed.
std::int64_t freeze(const Tensors& parameters, std::string_view pattern);
/// Unfreezes the parameters whose names fit.
std::int64_t unfreeze(const Tensors& parameters, std::string_view pattern);

/// A predicate on parameters.
using ParameterRule = std::function<bool(const Tensor& parameter)>;
/// Those whose names fit.
ParameterRule named(std::string_view pattern);

/// Options for the parameters that a rule applies to.
template <class Options>
struct GroupRule {
  ParameterRule applies;
  Options options = {};
};

namespace detail {
/// By the first rule that applies; in the end those that none applies to.
std::vector<Tensors> split(const Tensors& parameters, const std::vector<const ParameterRule*>& rules);
}  // namespace detail

/// Groups for an optimizer: each parameter goes to the first rule that applies to it, the others come first, with the
/// options `otherwise`. Throws ValueError for an empty rule or one that no parameter is left for, and if there are no
/// parameters.
template <class Options>
std::vector<Group<Options>> parameter_groups(const Tensors& parameters, const std::vector<GroupRule<Options>>& rules,
                                             const Options& otherwise = {}) {
  std::vector<const ParameterRule*> tests;
  for (const GroupRule<Options>& rule : rules) tests.push_back(&rule.applies);
  const std::vector<Tensors> parts = detail::split(parameters, tests);
  std::vector<Group<Options>> groups;
  if (!parts.back().empty()) groups.push_back({parts.back(), otherwise});
  for (std::size_t i = 0; i < rules.size(); ++i) groups.push_back({parts[i], rules[i].options});
  return groups;
}

}  // namespace xgrad::optim
