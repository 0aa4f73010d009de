// Utilities for tests of layers.
#pragma once

#include "support/check.h"
#include "support/fixtures.h"

#include <cmath>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <xgrad/nn/module.h>
#include <xgrad/ops/shape/broadcast.h>
#include <xgrad/ops/elementwise/arithmetic.h>
#include <xgrad/ops/elementwise/elementwise.h>
#include <xgrad/ops/reduce/reduce.h>

namespace xgrad::testing {

/// The names of the tensors or modules that named_parameters() and its like give.
inline std::vector<std::string> names_of(const auto& named) {
  std::vector<std::string> names;
  for (const auto& each : named) names.push_back(each.first);
  return names;
}

/// The standard deviation of elements whose mean is 0.
inline double deviation(const Tensor& x) { return std::sqrt(mean(square(x)).item()); }

/// The arrays whose names begin with `prefix`, without it.
inline NamedArrays part(const StateFile& file, const std::string& prefix) {
  NamedArrays found;
  for (const auto& [name, array] : file.arrays) {
    if (name.starts_with(prefix)) found[name.substr(prefix.size())] = array;
  }
  return found;
}

/// Checks the gradients of a random combination of f(inputs) with respect to the inputs and all parameters of the
/// module against five-point differences, along three random directions for each, relative to the largest entry of its
/// gradient. Use double, and no dropout.
inline void check_module_gradients(const nn::Module& module, const std::function<Tensor(const Tensors&)>& f,
                                   const std::vector<Array>& inputs = {}, double tolerance = 1e-7) {
  Tensors xs;
  for (const Array& input : inputs) xs.push_back(variable(input));
  Tensors all = xs;
  for (const Tensor& parameter : module.parameters()) all.push_back(parameter);

  const Tensor y = f(xs);
  const Tensor v(normal(y.shape(), 977));
  const auto combination = [&](const Tensor& y) { return sum_to(y * v, {}); };
  const Tensors gradients = grad(combination(y), all);
  constexpr double step = 1e-4;
  const double rounding = rounding_of_slope(size_of_terms(y.value(), v.value()), step);
  for (std::size_t k = 0; k < all.size(); ++k) {
    const Array place = all[k].value();
    for (std::uint64_t i = 0; i < 3; ++i) {
      const Array direction = normal(place.shape(), 31 * i + k + 7);
      const auto at = [&](double t) {
        const NoGrad off;
        Array moved = place;
        Real* out = moved.mutable_data();
        for (std::int64_t j = 0; j < moved.size(); ++j) out[j] += static_cast<Real>(t) * direction.data()[j];
        all[k].assign(moved);
        return static_cast<double>(combination(f(xs)).item());
      };
      const double numeric = slope(at, step);
      all[k].assign(place);
      double exact = 0;
      for (std::int64_t j = 0; j < place.size(); ++j) exact += gradients[k].value().data()[j] * direction.data()[j];
      const double scale = std::max(largest(gradients[k].value()), std::abs(numeric));
      CHECK_MESSAGE(std::abs(numeric - exact) <= tolerance * scale + rounding,
                    (k < xs.size() ? str("input ", k) : all[k].name()), ": rule ", exact, ", finite difference ",
                    numeric);
    }
  }
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
