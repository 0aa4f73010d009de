// A convolution with a kernel of three places as attention of three heads: what each head attends to, and the graph.
//
//   docs/tools/run convolution_heads [--seed N] [--out FOLDER]
//
// Read in this order: convolution_heads.h, and this file.
#include "convolution_heads.h"

#include <iostream>

#include <xgrad/kit/draw/heatmap.h>
#include <xgrad/kit/program/cli.h>
#include <xgrad/kit/program/output.h>

#include "experiments.h"

namespace {

using namespace convolution_heads;

void run(kit::Example& example) {
  constexpr std::int64_t k = 3, T = 6;
  const Tensor any = zeros({1, T, k});
  const Tensor weights = attention_weights(any, any, k, {.mask = {.masked = elsewhere(k, T)}});  // (1, k, T, T)
  kit::HeatMaps maps{.title = "Three heads with the weights of a kernel of three places", .columns = 3,
                     .scale = kit::HeatScale::shares, .query_caption = "position", .key_caption = "attends to"};
  for (std::int64_t t = 0; t < T; ++t) maps.queries.push_back(str(t));
  maps.keys = maps.queries;
  for (std::int64_t j = 0; j < k; ++j) {
    maps.panels.push_back({str("head ", j, ": t ", j < 1 ? "- 1" : j == 1 ? "" : "+ 1"),
                           weights.value()[{0, j}]});
  }
  kit::save(example.out / "convolution_heads.svg", kit::heat_map_svg(maps));

  const nn::Conv1d conv{nn::root, 2, 4, k, {.padding = 1}};
  const Tensor y = as_attention(conv, variable(randn({1, T, 2}).value(), "x"));
  save_graph((example.out / "convolution_heads_graph.svg").string(), {y.named("y")},
             {.title = "A convolution as attention", .legend = false});
  std::cout << k << " heads, values " << Shape{1, T, k * 4} << ", result " << y.shape() << "\n";
}

}  // namespace

int experiments::convolution_heads(int argc, char** argv) {
  return kit::main(argc, argv, "convolution_heads", "A convolution as attention to fixed relative positions.", run);
}
