// Random programs: drawn graphs of operations whose shapes fit, for properties that hold for every graph.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <xgrad/core/graph/tensor.h>

namespace xgrad::testing {

/// A step of a program: a leaf, or an operation on earlier values.
struct Step {
  std::string what;
  std::vector<int> inputs = {};                       ///< the numbers of values
  std::function<Tensors(const Tensors&)> run = {};    ///< none: a leaf
  int leaf = 0;                                       ///< its number among the leaves
  int first = 0;                                      ///< the number of the first value that it gives
  std::vector<Shape> shapes = {};                     ///< of the values that it gives

  int end() const { return first + static_cast<int>(shapes.size()); }
};

/// A loss of some leaves. Twice differentiable at them: no value is near a kink, or large.
struct Program {
  std::vector<Array> leaves;
  std::vector<Step> steps;  ///< the last gives the loss; every value leads to it

  int count() const { return steps.back().end(); }  ///< of values
  /// Runs the steps [from, to), which read values and write them.
  void run(const Tensors& leaves, Tensors& values, std::size_t from, std::size_t to) const;
};

/// A program of 5 to 30 operations, each number another one; each twelfth has long axes.
Program program_of(std::uint64_t number);

/// `%4 = matmul(%1, %2) [2, 3]`, a line for each step.
void append(std::string& out, const Program& program);

}  // namespace xgrad::testing
