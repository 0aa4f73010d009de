// Station 7, many heads: five attentions side by side, over two sequences of which 3 and 2 keys count.
//
//   07_heads [FOLDER]   writes its pictures into the folder, or into the current one
#include <filesystem>
#include <iostream>

#include <xgrad/kit/draw/heatmap.h>
#include <xgrad/kit/program/output.h>
#include <xgrad/xgrad.h>

using namespace xgrad;

int main(int argc, char** argv) {
  const std::filesystem::path out = argc > 1 ? argv[1] : ".";
  manual_seed(1);
  const nn::MultiHeadAttention attn{nn::root, 100, 5};
  const Index lengths = index({3, 2});
  const Tensor x = ones({2, 4, 100}).named("x"), memory = ones({2, 6, 100}).named("memory");
  const Tensor y = attn(x, memory, memory, nn::padding(lengths)).named("y");
  std::cout << attn << y.shape() << "\n";
  save_graph(out / "07_graph.svg", {y}, {.depth = 0});

  nn::AttentionRecorder recorder;
  const Tensor keys = randn({2, 6, 100});
  const Tensor recorded = attn(randn({2, 4, 100}), keys, keys, nn::padding(lengths));
  const Array weights = recorder.records().back().weights;  // (2, 5, 4, 6)
  kit::HeatMaps maps{.title = "Five heads, the first sequence: 3 of 6 keys count",
                     .queries = {"1", "2", "3", "4"},
                     .keys = {"1", "2", "3", "4", "5", "6"},
                     .columns = 3,
                     .scale = kit::HeatScale::shares};
  for (std::int64_t h = 0; h < 5; ++h) maps.panels.push_back({str("head ", h + 1), weights[{0, h}]});
  for (int i = 0; i < 24; ++i) maps.masked.push_back(i % 6 >= 3);
  kit::save(out / "07_picture.svg", kit::heat_map_svg(maps));
  return 0;
}
