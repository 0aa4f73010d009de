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

#include "optimizer.h"

namespace xgrad::optim {

// Threads: functions that freeze parameters run alone; the others read.

/// Whether a name fits a pattern, by POSIX fnmatch(): `*` matches any text with dots, `?` one character, `[0-3x]` one
/// of these, `[!0-3]` one other character; a `[` without `]` and a backslash match themselves.
bool fits(std::string_view name, std::string_view pattern);

/// The parameters whose names fit. Throws ValueError for a pattern that fits none.
[[nodiscard]] Tensors matching(const Tensors& parameters, std::string_view pattern);
/// The parameters that are not frozen.
[[nodiscard]] Tensors trainable(const Tensors& parameters);

/// Freezes the parameters whose names fit: no gradients flow to them, and optimizers do not change them. Returns their
/// number. Graphs that exist already do not change. freeze() and unfreeze() throw as matching(), and GraphError for a
/// parameter that is no leaf; then nothing has changed.
std::int64_t freeze(const Tensors& parameters, std::string_view pattern);
/// Unfreezes the parameters whose names fit.
std::int64_t unfreeze(const Tensors& parameters, std::string_view pattern);

/// A predicate on parameters.
using ParameterRule = std::function<bool(const Tensor& parameter)>;
/// True for the parameters whose names fit.
ParameterRule named(std::string_view pattern);

/// Options for the parameters that a rule applies to.
template <class Options>
struct GroupRule {
  ParameterRule applies;
  Options options = {};
};

namespace detail {
/// The parameters by the first rule that applies; the last list has the parameters without a rule.
[[nodiscard]] std::vector<Tensors> split(const Tensors& parameters, const std::vector<const ParameterRule*>& rules);
}  // namespace detail

/// Groups for an optimizer: each parameter gets the options of the first rule that applies to it, or `otherwise`, which
/// is the first group. Throws ValueError for an empty rule, for a rule that no parameter is left for, and for an empty
/// list of parameters.
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
