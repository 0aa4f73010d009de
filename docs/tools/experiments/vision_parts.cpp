// Parts of vision transformers: the shapes on the way through ViT-B/16 and Swin-T, what windows save, and a mask of
// -100 in place of -infinity.
//
//   docs/tools/run vision_parts
#include <iostream>

#include <xgrad/kit/program/cli.h>
#include <xgrad/kit/program/table.h>
#include <xgrad/xgrad.h>

#include "experiments.h"
#include "vision.h"

namespace {

using namespace vision_parts;

void print_shapes(const char* name, const std::vector<Stage>& stages) {
  kit::Table table({name, "shape"});
  for (const Stage& stage : stages) table.row({stage.what, str(stage.shape)});
  std::cout << table.text() << "\n";
}

void print_savings() {
  constexpr std::int64_t side = 112, width = 128, window = 7;
  const std::int64_t global = multiply_adds(side * side, width, side * side);
  const std::int64_t in_windows = multiply_adds(side * side, width, window * window);
  std::cout << "multiply-adds: " << global << " globally, " << in_windows << " in windows, " << global - in_windows
            << " saved\n\n";
}

void print_masks() {
  kit::Table table({"scores differ by", "weight of a masked token", "of its own"});
  for (const double range : {0.0, 12.0, 50.0, 100.0}) {
    const Array weights = region_masks(corner_scores(range), corner_regions()).by_100.value();
    table.row({range, weights.at({0, 1}), kit::fixed(weights.at({0, 0}), 3)});
  }
  std::cout << table.text();
}

}  // namespace

int experiments::vision_parts(int argc, char** argv) {
  const auto run = [](kit::Example&) {
    print_shapes("ViT-B/16", stages_of(nn::VisionTransformer{nn::root, nn::vit_b()}));
    print_shapes("Swin-T", stages_of(nn::SwinTransformer{nn::root, nn::swin_t()}, 224));
    print_savings();
    print_masks();
  };
  return kit::main(argc, argv, "vision_parts", "Shapes, costs and masks of vision transformers.", run);
}
