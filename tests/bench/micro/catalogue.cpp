// The operations of the tests' catalogue on matrices of 768 x 512 numbers, forward and backward, beside a copy of as many
// numbers. More than twice as long as the copy take: powers and logarithms; sorts, and partitions of values with their
// positions (sort, median, kthvalue, quantile); sums and products along rows, where each element waits for the one
// before it (cumsum, cumprod); norms, in units of the largest element: four passes; and choices by an index, of which eight
// bytes are read for each number, after all places have been checked.
#include <algorithm>

#include <xgrad/xgrad.h>

#include "support/catalogue.h"
#include "table.h"

namespace {

using namespace micro;
using testing::Call;

// "sum, rows" is named sum_rows here, and its gradients for all inputs are sum_rows'.
bool add_calls(const std::string& family, const std::vector<Call>& calls) {
  std::vector<Row> table;
  for (const Call& call : calls) {
    if (call.refused || call.name.ends_with(", sum") || call.name.ends_with(", none")) continue;
    std::string name = call.name;
    if (const std::size_t comma = name.find(", "); comma != name.npos) name.replace(comma, 2, "_");
    std::ranges::replace(name, ' ', '_');
    double read = 0;
    for (const testing::Input& input : call.inputs) read += double(input.shape.numel());
    const double written = double(call.result.numel());
    table.push_back({name, read + written, 0, [call] {
                       Tensors xs;
                       for (const Array& each : call.numbers()) xs.push_back(each);
                       return forward([=] { return call.run(xs); });
                     }});
    table.push_back({name + "'", 2 * read + written, 0, [call] {
                       const Tensors xs = call.leaves();
                       return backward(xs, [=] { return call.run(xs); });
                     }});
  }
  return add(family, table);
}

const bool added = add("statistics", {of_numbers("copy", 2 * N, [](const Tensor& x) { return flip(x, {0}); })}) &&
                   add_calls("elementwise", testing::elementwise_calls(shape)) &&
                   add_calls("statistics", testing::reduction_calls(rows, width)) &&
                   add_calls("rows", testing::row_calls(rows, width)) &&
                   add_calls("losses", testing::loss_calls(shape)) &&
                   add_calls("shape", testing::shape_calls(rows, width)) &&
                   add_calls("choosing", testing::index_calls(rows, width));

}  // namespace
