// A model as a function of its parameters.
#include "functional_call.h"

#include <algorithm>

namespace xgrad::nn {
namespace {

void check(const std::string& name, const Tensor& parameter, const Tensor& value) {
  if (!value.defined()) fail<GraphError>("functional_call", "the value for ", name, " is undefined");
  if (value.shape() != parameter.shape()) {
    fail<ShapeError>("functional_call", name, " has shape ", parameter.shape(), ", its value ", value.shape());
  }
}

}  // namespace

detail::Substitution::Pairs FunctionalCall::pairs(const Module& module, const Tensors& values) {
  detail::Substitution::Pairs pairs;
  std::size_t count = 0;
  module.visit_parameters([&](const std::string& name, const Tensor& parameter) {
    if (count++ >= values.size()) return;
    check(name, parameter, values[count - 1]);
    pairs.emplace_back(&parameter, values[count - 1]);
  });
  if (count != values.size()) fail<ValueError>("functional_call", values.size(), " values for ", count, " parameters");
  return pairs;
}

detail::Substitution::Pairs FunctionalCall::pairs(const Module& module,
                                                  const std::vector<std::pair<std::string, Tensor>>& values) {
  detail::Substitution::Pairs pairs;
  std::vector<std::string> names;
  for (const auto& [wanted, value] : values) {
    const Tensor* found = nullptr;
    names.clear();
    module.visit([&, &wanted = wanted](const std::string& name, const Module::Entry& entry) {
      names.push_back(name);
      if (name == wanted) found = &entry.tensor;
    });
    if (!found) fail<ValueError>("functional_call", "there is no '", wanted, "', only ", names);
    check(wanted, *found, value);
    if (std::ranges::any_of(pairs, [&](const auto& earlier) { return same(*earlier.first, *found); })) {
      fail<ValueError>("functional_call", "two values for '", wanted, "'");
    }
    pairs.emplace_back(found, value);
  }
  return pairs;
}

void detail::copy_state(const Module& from, const Module& to) {
  to.load_state_dict(from.state_dict());
  for (const auto& [path, module] : to.named_modules()) {
    const Module& source = from.get(path);
    // This module alone: those below come after it.
    if (source.training()) {
      module->train();
    } else {
      module->eval();
    }
  }
  const auto frozen = from.named_parameters(), copies = to.named_parameters();
  for (std::size_t i = 0; i < copies.size(); ++i) {
    if (copies[i].second.is_leaf()) copies[i].second.set_requires_grad(frozen[i].second.requires_grad());
  }
}

}  // namespace xgrad::nn
