// The catalogue of layers and models: how each is made, and a run of it, from which the tests of properties that all of
// them share are made. A new layer needs a row here and gets all of these tests (catalogue_test.cpp).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <xgrad/nn/module.h>

namespace xgrad::testing {

/// A layer or a model. Axis 0 of inputs and results is the batch, for which other numbers take the place of that here.
struct LayerRow {
  using Run = std::function<Tensor(const nn::Module&, const Tensors& x, std::int64_t batch)>;
  /// A size that the layer takes.
  struct Size {
    std::function<void(nn::At, std::int64_t)> make;
    std::function<bool(std::int64_t)> legal = [](std::int64_t n) { return n >= 1; };
  };

  std::string name;  ///< its description, which begins with its class
  std::function<std::unique_ptr<nn::Module>()> make;
  std::vector<Shape> inputs;  ///< that gradients are wanted for
  Shape result;
  Run run;
  std::vector<std::pair<Shape, Shape>> others = {};                          ///< shapes of an input, and of its result
  Run same_as = {};                                                          ///< the function that the layer computes
  std::function<std::unique_ptr<nn::Module>(const nn::Module&)> clone = {};  ///< where nn::clone() takes it
  std::vector<Size> sizes = {};
  std::vector<std::string> undecayed = {};  ///< ends of the names of matrices that weight decay is not for
  std::int64_t least = 0;                   ///< samples that there must be
  bool kinks = false;  ///< its gradient is not that of differences: many kinks, or a gradient that is left out

  std::string layer() const { return name.substr(0, name.find_first_of(" ,")); }
};

std::vector<LayerRow> layer_rows();

}  // namespace xgrad::testing
