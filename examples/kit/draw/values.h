// The numbers of drawings, from arrays, tensors and indices as well as from lists.
#pragma once

#include <utility>
#include <vector>

#include <xgrad/core/array/array.h>
#include <xgrad/core/graph/tensor.h>

namespace xgrad::kit {

/// The numbers of a Series or of a HeatMapPanel: a list, or the elements of an array, row after row.
struct Values : std::vector<double> {
  using vector::vector;
  Values(std::vector<double> values) : vector(std::move(values)) {}
  Values(const Array& array) : vector(array.begin(), array.end()) {}
  Values(const Index& index) : vector(index.begin(), index.end()) {}
  Values(const Tensor& tensor) : Values(tensor.value()) {}
};

}  // namespace xgrad::kit
