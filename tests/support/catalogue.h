// The catalogue of operations: a call of each, from which the tests of properties that all operations share are run, and
// the benchmark of single operations. A new operation needs a row here and gets all of them.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include <xgrad/core/graph/tensor.h>

namespace xgrad::testing {

/// An input that a gradient is wanted for: numbers in [low, high).
struct Input {
  Shape shape;
  double low = -2, high = 2;
};

/// A call of an operation.
struct Call {
  std::string name;  ///< of the operation; after a comma: what is special about the call
  std::vector<Input> inputs;
  Shape result;
  std::function<Tensor(const Tensors&)> run;
  std::function<Tensor(const Tensors&)> plain = {};  ///< of a fused operation: its composed form
  std::map<std::string, double> letters = {};        ///< settings in its formula
  bool refused = false;                              ///< with an error, since there are not enough elements

  std::string op() const { return name.substr(0, name.find(',')); }
  std::vector<Array> numbers() const;
  Tensors leaves() const;
};

/// Elementwise operations; b is the shape of every second input, y that of the result. Those of one input have y = a.
std::vector<Call> elementwise_calls(const Shape& a, const Shape& b, const Shape& y);
inline std::vector<Call> elementwise_calls(const Shape& shape) { return elementwise_calls(shape, shape, shape); }

/// Losses of samples along the last axis, with each reduction.
std::vector<Call> loss_calls(const Shape& shape);

/// Operations on matrices of this shape: reductions and scans, softmax and norms, movements, choices by index.
std::vector<Call> reduction_calls(std::int64_t rows, std::int64_t columns);
std::vector<Call> row_calls(std::int64_t rows, std::int64_t columns);
std::vector<Call> shape_calls(std::int64_t rows, std::int64_t columns);
std::vector<Call> index_calls(std::int64_t rows, std::int64_t columns);
/// All of these, losses, and elementwise operations.
std::vector<Call> matrix_calls(std::int64_t rows, std::int64_t columns);

/// Operations whose inputs have shapes of their own: products, attention, recurrences, pictures, linear algebra.
std::vector<Call> other_calls();

/// A call of every operation.
std::vector<Call> all_calls(std::int64_t rows, std::int64_t columns);

}  // namespace xgrad::testing
