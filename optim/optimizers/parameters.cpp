// Patterns, and lists of parameters.
#include "parameters.h"

#include <fnmatch.h>

#include <algorithm>
#include <iterator>
#include <string>

#include "../../core/base/error.h"
#include "../../core/base/text.h"
#include "../../core/graph/model_parameters.h"

namespace xgrad::optim {

bool fits(std::string_view name, std::string_view pattern) {
  return fnmatch(std::string(pattern).c_str(), std::string(name).c_str(), FNM_NOESCAPE) == 0;
}

Tensors matching(const Tensors& parameters, std::string_view pattern) {
  Tensors found;
  for (const Tensor& parameter : parameters) {
    if (fits(parameter.name(), pattern)) found.push_back(parameter);
  }
  if (found.empty()) {
    fail<ValueError>("matching", escaped(pattern), " fits none of ", parameters.size(), " parameters",
                     parameters.empty() ? "" : str("; the first is ", escaped(parameters[0].name())));
  }
  return found;
}

Tensors trainable(const Tensors& parameters) {
  Tensors found;
  std::ranges::copy_if(parameters, std::back_inserter(found), &Tensor::requires_grad);
  return found;
}

std::int64_t freeze(const Tensors& parameters, std::string_view pattern) {
  return xgrad::detail::set_requires_grad("freeze", matching(parameters, pattern), false);
}

std::int64_t unfreeze(const Tensors& parameters, std::string_view pattern) {
  return xgrad::detail::set_requires_grad("unfreeze", matching(parameters, pattern), true);
}

ParameterRule named(std::string_view pattern) {
  return [pattern = std::string(pattern)](const Tensor& parameter) { return fits(parameter.name(), pattern); };
}

std::vector<Tensors> detail::split(const Tensors& parameters, const std::vector<const ParameterRule*>& rules) {
  constexpr const char* op = "parameter_groups";
  if (parameters.empty()) fail<ValueError>(op, "there are no parameters");
  for (const ParameterRule* rule : rules) xgrad::detail::refuse_empty(op, *rule);
  std::vector<Tensors> parts(rules.size() + 1);
  for (const Tensor& parameter : parameters) {
    const auto rule = std::ranges::find_if(rules, [&](const ParameterRule* each) { return (*each)(parameter); });
    parts[static_cast<std::size_t>(rule - rules.begin())].push_back(parameter);
  }
  for (std::size_t i = 0; i < rules.size(); ++i) {
    if (parts[i].empty()) fail<ValueError>(op, "rule ", i, " has no parameter");
  }
  return parts;
}

}  // namespace xgrad::optim
