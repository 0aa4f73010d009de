// Station 6, masks: weights under lengths, under "nothing from the future", and under both.
//
//   06_masks [FOLDER]   writes its pictures into the folder, or into the current one
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include <xgrad/kit/draw/heatmap.h>
#include <xgrad/kit/program/output.h>
#include <xgrad/xgrad.h>

using namespace xgrad;

int main(int argc, char** argv) {
  const std::filesystem::path out = argc > 1 ? argv[1] : ".";
  manual_seed(1);
  const Tensor scores = rand({2, 2, 4});  // two sequences, two queries each, four keys
  std::cout << masked_softmax(scores, index({2, 3})).value() << "\n"
            << masked_softmax(scores, index({{1, 3}, {2, 4}})).value() << "\n";
  {
    const Tensor k = ones({2, 10, 2}), v = broadcast_to(reshape(to_real(arange(40)), {1, 10, 4}), {2, 10, 4});
    const nn::AdditiveAttention additive{nn::root, {.query = 20, .key = 2, .hidden = 8}};
    const nn::DotProductAttention dot_product{nn::root};
    const AttentionMask lengths = nn::padding(index({2, 6}));
    std::cout << additive(randn({2, 1, 20}), k, v, lengths).value() << "\n"
              << dot_product(randn({2, 1, 2}), k, v, lengths).value() << "\n";
  }

  const Tensor q = variable(randn({1, 6, 4}), "q"), k = variable(randn({1, 6, 4}), "k");
  const Tensor v = variable(randn({1, 6, 4}), "v");
  const Index lengths = index({4});
  const nn::DotProductAttention attn{nn::root};
  const Tensor y = attn(q, k, v, nn::causal & nn::padding(lengths)).named("y");
  save_graph(out / "06_graph.svg", {y}, {.equations = true});

  const std::vector<std::string> words{"1", "2", "3", "4", "5", "6"};
  const auto weights = [&](const auto&... mask) { return attn.weights(q, k, mask...); };
  const kit::HeatMaps maps{.title = "The same scores under four masks",
                           .queries = words,
                           .keys = words,
                           .panels = {{"none", weights()},
                                      {"padding, 4 keys", weights(nn::padding(lengths))},
                                      {"causal", weights(nn::causal)},
                                      {"causal & padding", weights(nn::causal & nn::padding(lengths))}},
                           .columns = 2,
                           .scale = kit::HeatScale::shares};
  kit::save(out / "06_picture.svg", kit::heat_map_svg(maps));
  return 0;
}
