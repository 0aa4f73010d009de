// Sequential.
#include "sequential.h"

namespace xgrad::nn {

void Sequential::check_made(const Module* made) const {
  if (!made || children().size() != parts_.size() + 1 || children().back().second != made) {
    fail<ValueError>("make", "a maker made no layer at '", full_name(str(size())), "'");
  }
}

// Enters each layer, for those that do not do so themselves.
Tensor Sequential::from(std::int64_t first, Tensor x) const {
  for (std::int64_t i = first; i < size(); ++i) {
    const Part& part = parts_[static_cast<std::size_t>(i)];
    const ModuleScope inside(*part.layer);
    if (!part.of_tensor) fail<ValueError>("sequential", "layer ", i, " takes integers");
    x = part.of_tensor(x);
  }
  return x;
}

Tensor Sequential::operator()(const Tensor& x) const {
  const auto here = enter(x);
  return here(from(0, x));
}

Tensor Sequential::operator()(const Index& ids) const {
  const auto here = enter(ids);
  if (size() == 0 || !parts_[0].of_ids) fail<ValueError>("sequential", "the first layer takes no integers");
  const auto first = [&] {
    const ModuleScope inside(*parts_[0].layer);
    return parts_[0].of_ids(ids);
  };
  return here(from(1, first()));
}

const Module& Sequential::operator[](std::int64_t i) const {
  if (i < 0 || i >= size()) fail<ValueError>("sequential", "layer ", i, " of ", size());
  return *parts_[static_cast<std::size_t>(i)].layer;
}

}  // namespace xgrad::nn
