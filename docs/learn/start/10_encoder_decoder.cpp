// Station 10, encoder and decoder: one pass through both, and who looks at whom.
//
//   10_encoder_decoder [FOLDER]   writes its pictures into the folder, or into the current one
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
  const nn::EncoderDecoder model{nn::root, 20, 30, {.dim = 32, .ffn = 64, .heads = 4, .layers = 2, .dropout = 0}};
  const Index source = index({{5, 8, 13, 2, 0, 0}}), lengths = index({4});
  const Index target = index({{7, 11, 9, 4, 17, 2}});
  nn::AttentionRecorder recorder;
  const Tensor logits = model(source, lengths, nn::shift_right(target, 1)).named("logits");
  std::cout << logits.shape() << ", read: " << nn::shift_right(target, 1) << "\n";
  save_graph(out / "10_graph.svg", {logits}, {.depth = 1});

  const std::vector<std::string> positions{"1", "2", "3", "4", "5", "6"};
  const auto weights = [&](const char* path) { return mean(Tensor(recorder.last(path)), 1); };
  const kit::HeatMaps maps{.title = "Which position attends to which, before training",
                           .queries = positions,
                           .keys = positions,
                           .panels = {{"source to source", weights("encoder.blocks.0.attn")},
                                      {"target to target", weights("decoder.blocks.0.self_attn")},
                                      {"target to source", weights("decoder.blocks.0.cross_attn")}},
                           .columns = 3,
                           .scale = kit::HeatScale::shares};
  kit::save(out / "10_picture.svg", kit::heat_map_svg(maps));
  return 0;
}
