// A model's modules in a table: output shape, parameters and cost of each.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "../layer.h"

namespace xgrad::nn {

/// The cost of one run of a model, module by module; each includes the modules in it.
struct [[nodiscard]] ModelSummary {
  struct Row {
    std::string name;             ///< within the module around it; of the model, its class
    std::string what = {};        ///< class and settings
    int level = 0;                ///< how many modules are around it
    std::optional<Shape> output;  ///< of its last run, if it is a Layer
    std::int64_t parameters = 0;
    std::int64_t multiply_adds = 0;  ///< as count_operations() counts them
    std::int64_t saved_bytes = 0;    ///< that stay in memory until the backward pass
    double milliseconds = 0;         ///< of the forward pass, in operations that ran in it
  };
  std::vector<Row> rows;  ///< parents before children; the first is the whole model
};

/// Runs the model once, with a graph, and counts. Throws GraphError if the result depends on no parameter, and what
/// `run` throws.
///
///     std::cout << nn::summary(model, [&] { return model(ids); });
///
///     module                        output          parameters  multiply-adds     keeps     ms
///     Mlp                           [16, 2]                 58            768  1.25 KiB  0.012
///       fc1: Linear 4 -> 8          [16, 8]                 40            512    ...
ModelSummary summary(const Module& model, const std::function<Tensor()>& run);

/// The same for model(inputs...).
template <class Model, class Input, class... Inputs>
requires std::derived_from<Model, Module> && detail::Takes<Model, Input, Inputs...> ModelSummary
summary(const Model& model, const Input& input, const Inputs&... inputs) {
  return summary(static_cast<const Module&>(model), std::function<Tensor()>([&] { return model(input, inputs...); }));
}

/// The table: a line for each module, indented as they are nested.
std::string to_string(const ModelSummary& summary);
/// Prints the table.
std::ostream& operator<<(std::ostream& out, const ModelSummary& summary);

}  // namespace xgrad::nn
