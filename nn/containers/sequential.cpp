// Sequential.
#include "sequential.h"

namespace xgrad::nn {

void Sequential::check_made(const Module* made) const {
  if (!made || children().size() != children_.size() + 1 || children().back().second != made) {
    fail<ValueError>("make", "a maker made no layer at '", full_name(str(size())), "'");
  }
}

// Enters each layer, for those that do not do so themselves.
Tensor Sequential::from(std::int64_t first, Tensor x) const {
  for (std::int64_t i = first; i < size(); ++i) {
    const Child& child = children_[static_cast<std::size_t>(i)];
    const ModuleScope inside(*child.layer);
    if (!child.of_tensor) fail<ValueError>("sequential", "layer ", i, " takes integers");
    x = child.of_tensor(x);
  }
  return x;
}

Tensor Sequential::operator()(const Tensor& x) const {
  const auto here = enter(x);
  return here(from(0, x));
}

Tensor Sequential::operator()(const Index& ids) const {
  const auto here = enter(ids);
  if (size() == 0 || !children_[0].of_ids) fail<ValueError>("sequential", "the first layer takes no integers");
  const auto first = [&] {
    const ModuleScope inside(*children_[0].layer);
    return children_[0].of_ids(ids);
  };
  return here(from(1, first()));
}

const Module& Sequential::operator[](std::int64_t i) const {
  if (i < 0 || i >= size()) fail<ValueError>("sequential", "layer ", i, " of ", size());
  return *children_[static_cast<std::size_t>(i)].layer;
}

}  // namespace xgrad::nn
