// Selecting parameters by name: matching patterns, freezing, and groups with separate options.
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

// Threads: freeze() and unfreeze() need exclusive access to the parameters; the other functions only read.

/// Whether a name matches a pattern of POSIX fnmatch(): `*` matches any text, also with dots, `?` any character,
/// `[0-3x]` one of these characters, `[!0-3]` any other character. A `[` without `]` and a backslash match themselves.
bool fits(std::string_view name, std::string_view pattern);

/// The parameters whose names match. Throws ValueError if none matches.
[[nodiscard]] Tensors matching(const Tensors& parameters, std::string_view pattern);
/// The parameters that are not frozen.
[[nodiscard]] Tensors trainable(const Tensors& parameters);

/// Freezes the parameters whose names match, and returns their number. Frozen parameters get no gradients, and
/// optimizers do not change them. Existing graphs do not change. freeze() and unfreeze() throw ValueError if no name
/// matches, and GraphError for a parameter that is no leaf. If they throw, nothing is changed.
std::int64_t freeze(const Tensors& parameters, std::string_view pattern);
/// Unfreezes the parameters whose names match, and returns their number.
std::int64_t unfreeze(const Tensors& parameters, std::string_view pattern);

/// A predicate on parameters.
using ParameterRule = std::function<bool(const Tensor& parameter)>;
/// A rule that is true for the parameters whose names match.
ParameterRule named(std::string_view pattern);

/// The options of the parameters for which a rule is true.
template <class Options>
struct GroupRule {
  ParameterRule applies;
  Options options = {};
};

namespace detail {
/// Splits the parameters by the first rule that is true; the last list has the parameters for which no rule is true.
[[nodiscard]] std::vector<Tensors> split(const Tensors& parameters, const std::vector<const ParameterRule*>& rules);
}  // namespace detail

/// Groups for an optimizer. Each parameter gets the options of the first rule that is true for it. Without such a rule,
/// it gets `otherwise` and is in the first group. Throws ValueError for an empty rule, a rule that gets no parameter,
/// or an empty list of parameters.
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
