// ModelSummary: a table of the modules of a model with output shape, parameters and cost of each.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "../layer.h"

namespace xgrad::nn {

/// The cost of one run of a model, module by module. The row of a module includes the modules inside it.
struct [[nodiscard]] ModelSummary {
  struct Row {
    std::string name;             ///< name within its parent; for the model itself, its class
    std::string what = {};        ///< class and attributes
    int level = 0;                ///< depth: the number of modules around it
    std::optional<Shape> output;  ///< shape of the result of its last run, if it is a Layer
    std::int64_t parameters = 0;
    std::int64_t multiply_adds = 0;  ///< as count_operations() counts them
    std::int64_t saved_bytes = 0;    ///< bytes that are saved for backward
    double milliseconds = 0;         ///< time of the operations in its forward pass
  };
  std::vector<Row> rows;  ///< parents before children; the first row is the whole model
};

/// Runs the model once, records a graph, and counts. Throws GraphError if the result depends on no parameter, and what
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

/// The table as text: one line for each module, indented by its depth.
std::string to_string(const ModelSummary& summary);
/// Prints the table.
std::ostream& operator<<(std::ostream& out, const ModelSummary& summary);

}  // namespace xgrad::nn
