// Vision transformers of the published sizes: the shapes on the way, the cost of attention, and two ways to mask.
#pragma once

#include <string>
#include <vector>

#include <xgrad/xgrad.h>

namespace vision_parts {

using namespace xgrad;

/// A result, and its shape without the batch.
struct Stage {
  std::string what;
  Shape shape;
};

/// The results for one picture, in order: patches, tokens, and the parts of the first layer.
inline std::vector<Stage> stages_of(const nn::VisionTransformer& model) {
  const NoGrad no_graph;
  const nn::VisionTransformerOptions& o = model.options;
  std::vector<Stage> found;
  const auto add = [&](const char* what, const Tensor& x) {
    found.push_back({what, x[{0}].shape()});
    return x;
  };
  const Tensor picture = add("picture", zeros({1, o.channels, o.image.height, o.image.width}));
  const Tensor map = add("a token for each patch", permute(model.conv_proj(picture), {0, 2, 3, 1}));
  const Tensor patches = add("the same as a sequence", flatten(map, 1, 2));
  const Tensor tokens = add("with the class token", concat({model.class_token, patches}, 1));
  const nn::VitBlock& block = *model.encoder.layers.blocks.front();
  const Tensor wide = add("inside the feed-forward part", block.mlp.fc1(block.ln_2(tokens)));
  (void)add("after the feed-forward part", block.mlp.fc2(gelu(wide)));
  (void)add("logits", model.heads(model.encoder(tokens)[{_, 0}]));
  return found;
}

/// The results for one picture of this size, in order: the map of each stage.
inline std::vector<Stage> stages_of(const nn::SwinTransformer& model, const Size2d& picture) {
  const NoGrad no_graph;
  Tensor x = zeros({1, model.options.channels, picture.height, picture.width});
  std::vector<Stage> found{{"picture", x[{0}].shape()}};
  x = model.features.get<nn::SwinPatches>(0)(x);
  for (std::int64_t i = 1; i < model.features.size(); ++i) {
    const bool is_stage = i % 2 == 1;
    x = is_stage ? model.features.get<nn::SwinStage>(i)(x) : model.features.get<nn::PatchMerging>(i)(x);
    if (is_stage) found.push_back({str("stage ", (i + 1) / 2), x[{0}].shape()});
  }
  found.push_back({"logits", model.head(mean(model.norm(x), {1, 2}))[{0}].shape()});
  return found;
}

/// The multiply-adds of attention, counted in a recorded graph: tokens of this width attend to those of their window.
inline std::int64_t multiply_adds(std::int64_t tokens, std::int64_t width, std::int64_t in_window) {
  const nn::MultiHeadAttention attn{nn::root, width, 4};
  return count_operations({attn(randn({tokens / in_window, in_window, width}))});
}

/// The weights of a window whose scores (N, N) are masked where regions differ, by -infinity and by -100.
struct RegionMasks {
  Tensor exact, by_100;
};
inline RegionMasks region_masks(const Tensor& scores, const Mask& apart) {
  const Tensor minus_100 = masked_fill(zeros(scores.shape()), apart, -100);
  const Tensor minus_infinity = masked_fill(scores, apart, -infinity);
  return {softmax(minus_infinity), softmax(scores + minus_100)};
}
/// Scores (4, 4) of a window of 2 x 2 that holds all four corners of a map, each another region; a row's greatest is
/// `range` above its smallest, which is its own.
inline Tensor corner_scores(double range) { return (ones({4, 4}) - eye(4)) * static_cast<Real>(range); }
inline Mask corner_regions() { return nn::WindowGrid(4, 4, 2, 1).regions()[{3}]; }

}  // namespace vision_parts
