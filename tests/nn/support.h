// Utilities for tests of layers.
#pragma once

#include "support/check.h"
#include "support/fixtures.h"

#include <map>
#include <span>
#include <string>
#include <vector>

#include <xgrad/nn/module.h>
#include <xgrad/nn/parameters/functional_call.h>
#include <xgrad/ops/elementwise/arithmetic.h>

namespace xgrad::testing {

/// The names of the tensors or modules that named_parameters() and its like give.
inline std::vector<std::string> names_of(const auto& named) {
  std::vector<std::string> names;
  for (const auto& each : named) names.push_back(each.first);
  return names;
}

/// The arrays whose names begin with `prefix`, without it.
inline NamedArrays part(const StateFile& file, const std::string& prefix) {
  NamedArrays found;
  for (const auto& [name, array] : file.arrays) {
    if (name.starts_with(prefix)) found[name.substr(prefix.size())] = array;
  }
  return found;
}

/// f(inputs) as a function of the inputs and, after them, of values of all parameters; and the values of both.
inline Function as_function(const nn::Module& module, const Function& f) {
  return [&module, f](const Tensors& xs) {
    const auto values = xs.end() - std::ssize(module.parameters());
    const nn::FunctionalCall scope(module, Tensors(values, xs.end()));
    return f(Tensors(xs.begin(), values));
  };
}
inline std::vector<Array> arguments_of(const nn::Module& module, std::vector<Array> inputs) {
  for (const Tensor& parameter : module.parameters()) inputs.push_back(parameter.value());
  return inputs;
}

/// Checks the gradients of f(inputs) with respect to the inputs and all parameters of the module, along three random
/// directions for each. Use double, and no dropout.
inline void check_module_gradients(const nn::Module& module, const Function& f, const std::vector<Array>& inputs = {}) {
  const std::vector<Array> places = arguments_of(module, inputs);
  const auto along = [&](const Tensors& steps) {
    Tensors xs;
    for (std::size_t k = 0; k < places.size(); ++k) {
      Tensor x = places[k];
      for (std::uint64_t i = 0; i < 3; ++i) {
        x = x + steps[k][static_cast<std::int64_t>(i)] * Tensor(normal(places[k].shape(), 31 * i + k + 7));
      }
      xs.push_back(x);
    }
    return as_function(module, f)(xs);
  };
  check_gradients(along, std::vector<Array>(places.size(), Array({3}, Real(0))), {.order = 1});
}

/// Gives the module the stored parameters, which stand behind the inputs, and runs it. Gradients are taken with respect
/// to the inputs and to the module's own parameters.
template <class Run>
Results run_module(const Case& c, const nn::Module& module, const Run& run) {
  const std::vector<std::string> names = c.has("parameters") ? c.texts("parameters") : std::vector<std::string>();
  const std::size_t inputs = c.xs().size() - names.size();
  Results results = [&] {
    NamedArrays state;
    for (std::size_t i = 0; i < names.size(); ++i) state[names[i]] = c.xs()[inputs + i].value();
    module.load_state_dict(state);
    return Results(run());
  }();
  results.leaves.assign(c.xs().begin(), c.xs().begin() + static_cast<std::ptrdiff_t>(inputs));
  for (const std::string& name : names) {
    for (const auto& [own, parameter] : module.named_parameters()) {
      if (own == name) results.leaves.push_back(parameter);
    }
  }
  return results;
}

/// Gives the module's parameters, in the order of their names, the numbers of a list. Returns the parameters.
inline Tensors load_list(const nn::Module& module, const Array& numbers) {
  std::map<std::string, Tensor> sorted;
  for (const auto& [name, parameter] : module.named_parameters()) sorted[name] = parameter;
  Tensors parameters;
  const Real* next = numbers.data();
  for (const auto& [name, parameter] : sorted) {
    REQUIRE(next + parameter.size() <= numbers.end());
    parameter.assign(Array(parameter.shape(), std::span(next, static_cast<std::size_t>(parameter.size()))));
    next += parameter.size();
    parameters.push_back(parameter);
  }
  REQUIRE(next == numbers.end());
  return parameters;
}

}  // namespace xgrad::testing
