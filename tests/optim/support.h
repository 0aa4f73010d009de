// Utilities for tests of optimizers.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/check.h"
#include "support/fixtures.h"

#include <xgrad/core/graph/observe.h>
#include <xgrad/ops/shape/join.h>
#include <xgrad/optim/optim.h>

namespace xgrad::testing {

/// The values of all parameters after each of the steps with the stored gradients.
template <class Optimizer>
Results steps(const Case& c, const typename Optimizer::Options& options) {
  const std::size_t arrays = c.xs().size() / 2;  // parameters, and their gradients of all steps
  Tensors parameters;
  std::vector<Tensors> after(arrays);
  for (std::size_t i = 0; i < arrays; ++i) parameters.push_back(variable(c.x(static_cast<int>(i)).value()));
  Optimizer optimizer(parameters, options);
  const auto gradient = [&](std::size_t i) { return c.x(static_cast<int>(arrays + i)).detach(); };
  for (std::int64_t step = 0; step < gradient(0).dim(0); ++step) {
    Tensors gradients;
    for (std::size_t i = 0; i < arrays; ++i) gradients.push_back(gradient(i)[step]);
    optimizer.step(gradients);
    for (std::size_t i = 0; i < arrays; ++i) after[i].push_back(Tensor(parameters[i].value()));
  }
  Tensors all;
  for (const Tensors& values : after) all.push_back(stack(values));
  return all;
}

/// What a state is refused with after `spoil` has changed it.
template <class Owner>
std::string refusal_of(Owner& owner, StateFile state, const std::function<void(StateFile&)>& spoil) {
  spoil(state);
  return error_of<FormatError>([&] { owner.load_state_dict(state); });
}

/// An observer that throws at every event.
struct Refusing : Observer {
  void event(const char*, Duration) override { throw std::runtime_error("no"); }
};

/// As many rates as are stored.
inline Results rates(const Case& c, const optim::Schedule& schedule) {
  const std::int64_t count = std::get<Array>(*c.stored("y", 0)).size();
  std::vector<Real> values;
  for (std::int64_t step = 0; step < count; ++step)
    values.push_back(static_cast<Real>(schedule.lr(step, c.number("lr", 1))));
  return Tensor(Array({count}, values));
}

}  // namespace xgrad::testing
