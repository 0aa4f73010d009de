// A model as a function of its parameters.
#include "functional_call.h"

#include <algorithm>

#include "../module_state.h"

namespace xgrad::nn {

using xgrad::detail::Engine;

namespace {

void check(const std::string& name, const Tensor& parameter, const Tensor& value) {
  if (!value.defined()) fail<GraphError>("functional_call", "the value for ", name, " is undefined");
  if (value.shape() != parameter.shape()) {
    fail<ShapeError>("functional_call", name, " has shape ", parameter.shape(), ", its value ", value.shape());
  }
}

}  // namespace

FunctionalCall::FunctionalCall(const Module& module, const Tensors& values) : FunctionalCall(pairs(module, values)) {}

FunctionalCall::FunctionalCall(const Module& module, const std::vector<std::pair<std::string, Tensor>>& values)
    : FunctionalCall(pairs(module, values)) {}

FunctionalCall::FunctionalCall(Pairs pairs) : pairs_(std::move(pairs)) {
  for (const auto& [leaf, stand_in] : pairs_) stand_ins_.emplace(Engine::identity(*leaf), &stand_in);
  for (auto& [leaf, stand_in] : pairs_) {
    xgrad::detail::Engine::ensure_node(stand_in);  // one vertex for all
    if (stand_ins_.contains(Engine::identity(stand_in))) stand_in = Engine::shallow_copy(stand_in);
    before_.push_back(Engine::shallow_copy(stand_in));
  }
  for (std::size_t i = 0; i < pairs_.size(); ++i) Engine::swap(*pairs_[i].first, before_[i]);
}

FunctionalCall::~FunctionalCall() {
  for (std::size_t i = 0; i < pairs_.size(); ++i) {
    const auto& [leaf, stand_in] = pairs_[i];
    Engine::swap(*leaf, before_[i]);
    if (before_[i].is_leaf()) Engine::own_value(stand_in) = Engine::own_value(before_[i]);
  }
}

void FunctionalCall::on_copy(Tensor& copy) {
  const auto found = stand_ins_.find(Engine::identity(copy));
  if (found != stand_ins_.end()) {
    Engine::rebind(copy, *found->second);
  } else if (outer()) {
    outer()->on_copy(copy);
  }
}

std::function<std::shared_ptr<void>()> FunctionalCall::again() const {
  struct Both {
    std::shared_ptr<void> around;
    FunctionalCall inside;
  };
  return [pairs = pairs_, around = outer() ? outer()->again() : nullptr] {
    std::shared_ptr<void> first = around ? around() : nullptr;
    return std::shared_ptr<void>(new Both{std::move(first), FunctionalCall(pairs)});
  };
}

FunctionalCall::Pairs FunctionalCall::pairs(const Module& module, const Tensors& values) {
  Pairs pairs;
  std::size_t count = 0;
  detail::ModuleState::of(module).visit_parameters([&](const std::string& name, const Tensor& parameter) {
    if (count++ >= values.size()) return;
    check(name, parameter, values[count - 1]);
    pairs.emplace_back(&parameter, values[count - 1]);
  });
  if (count != values.size()) fail<ValueError>("functional_call", values.size(), " values for ", count, " parameters");
  return pairs;
}

FunctionalCall::Pairs FunctionalCall::pairs(const Module& module,
                                            const std::vector<std::pair<std::string, Tensor>>& values) {
  Pairs pairs;
  std::vector<std::string> names;
  for (const auto& [wanted, value] : values) {
    const Tensor* found = nullptr;
    names.clear();
    detail::ModuleState::of(module).visit(
        [&, &wanted = wanted](const std::string& name, const detail::ModuleState::Entry& entry) {
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
