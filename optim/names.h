// The names under which state of parameters is saved.
#pragma once

#include <algorithm>
#include <string>

#include "../core/graph/tensor.h"

namespace xgrad::optim::detail {

/// The name of a parameter that joins `others`, entries with a `parameter` and a `name`: its own, or its number if it
/// has none, and the number, or the next that is free, after it if another has it already. Throws ValueError for one
/// that is there already, GraphError for one that is no leaf.
template <class Entries>
std::string name_of_new(const char* who, const Tensor& parameter, const Entries& others) {
  const std::string own = parameter.name().empty() ? str(others.size()) : parameter.name();
  if (!parameter.is_leaf()) {
    fail<GraphError>(who, "only leaves can be parameters, not the result of ",
                     xgrad::detail::Engine::node(parameter)->op);
  }
  const auto is_same = [&](const auto& entry) { return same(entry.parameter, parameter); };
  if (std::ranges::any_of(others, is_same)) fail<ValueError>(who, "duplicate parameter '", own, "'");
  std::string name = own;
  const auto has_name = [&](const auto& entry) { return entry.name == name; };
  for (std::size_t number = others.size(); std::ranges::any_of(others, has_name); ++number) {
    name = str(own, "#", number);
  }
  return name;
}

}  // namespace xgrad::optim::detail
