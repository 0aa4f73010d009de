// The Swin transformer (Liu et al., "Swin Transformer: Hierarchical Vision Transformer using Shifted Windows", 2021),
// with the names of torchvision. Feature maps are (B, H, W, C).
#pragma once

#include <vector>

#include "../containers/sequential.h"
#include "../containers/stack.h"
#include "../layer.h"
#include "../layers/conv.h"
#include "../layers/dropout.h"
#include "../layers/mlp.h"
#include "../layers/norm.h"

namespace xgrad::nn {

struct SwinTransformerOptions {
  Size2d patch = 4;
  std::int64_t channels = 3;
  std::int64_t dim = 96;                            ///< C of the first stage; each stage doubles it
  std::vector<std::int64_t> depths = {2, 2, 6, 2};  ///< number of blocks in each stage
  std::vector<std::int64_t> heads = {3, 6, 12, 24};
  Size2d window = 7;     ///< M, the size of a window
  double mlp_ratio = 4;  ///< width of the hidden layer of the feed-forward networks, as a multiple of C
  std::int64_t classes = 1000;
  double dropout = 0;
  double attention_dropout = 0;  ///< dropout probability of the attention weights
  double drop_path = 0;          ///< drop probability of the last block; it grows linearly from 0 in the first block
};

/// The options of Swin-T, with a drop_path of 0.2 as in the recipe of torchvision. Swin-S has .depths = {2, 2, 18, 2}
/// and a drop_path of 0.3. Swin-B has the depths of Swin-S, .dim = 128, .heads = {4, 8, 16, 32} and a drop_path of 0.5.
inline SwinTransformerOptions swin_t() { return {.drop_path = 0.2}; }

/// The partition of a feature map into windows, with an optional cyclic shift.
struct WindowGrid {
  std::int64_t height, width;  ///< size of the feature map
  Size2d window, shift;

  /// A grid for a map of this size. An axis with only one window is not shifted.
  WindowGrid(std::int64_t height, std::int64_t width, const Size2d& window, const Size2d& shift);

  /// The size of the map after padding to a multiple of the window.
  std::int64_t padded_height() const;
  std::int64_t padded_width() const;
  std::int64_t windows() const;
  bool shifted() const { return shift.height > 0 || shift.width > 0; }

  /// Pads the map, shifts it by -shift and cuts it into windows: (B, H, W, C) -> (B windows, M M, C).
  Tensor partition(const Tensor& x) const;
  /// The inverse of partition(): every token returns to its position.
  Tensor reverse(const Tensor& windows) const;
  /// A mask (windows, M M, M M), true for two tokens of a window that must not attend to each other. The shift has
  /// joined them from different regions of the map.
  Mask regions() const;
};

/// Multi-head attention within windows, with a learned bias for every relative position and every head:
///
///     y = W_o softmax(q k' / sqrt(d) + bias) v + b_o
///
/// For a map of h x w tokens it takes 4 h w C^2 + 2 M^2 h w C multiply-adds, so time is linear in the size of the map.
struct SwinAttention : Layer<SwinAttention> {
  using Options = SwinTransformerOptions;

  /// Throws ValueError for sizes below 1, a `dim` that is not a multiple of `heads`, or a dropout outside [0, 1].
  SwinAttention(At here, std::int64_t dim, std::int64_t heads, const Size2d& shift, const Options& options);

  /// x (B, H, W, C) -> (B, H, W, C). If the windows do not divide the map, the map is padded with zeros at the bottom
  /// and on the right. As in torchvision, tokens attend to the padding, too. Throws ShapeError.
  Tensor forward(const Tensor& x) const;

  const std::int64_t dim;
  const std::int64_t heads;
  const Size2d window;
  const Size2d shift;
  const double attention_dropout;
  Linear qkv;
  Linear proj;
  Dropout dropout;
  const Tensor relative_position_bias_table;  ///< ((2M - 1)(2M - 1), heads), initially normal with std 0.02
  const Tensor relative_position_index;       ///< (M^4): row of the table for each pair of tokens; only for files

 protected:
  std::string extra_repr() const override;

 private:
  const Index positions_;
};

/// One block, with a norm before each of its two parts:
///
///     z' = z + drop_path(attention(norm(z)))
///     z  = z' + drop_path(mlp(norm(z')))
struct SwinBlock : Layer<SwinBlock> {
  using Options = SwinTransformerOptions;

  SwinBlock(At here, std::int64_t dim, std::int64_t heads, const Size2d& shift, double drop, const Options& options);

  /// z (B, H, W, C) -> (B, H, W, C). Throws ShapeError.
  Tensor forward(const Tensor& z) const;

  LayerNorm norm1;
  SwinAttention attn;
  DropPath drop_path;
  LayerNorm norm2;
  Mlp mlp;
};

/// The blocks of a stage. Every second block shifts the windows by half a window.
struct SwinStage : Stack<SwinBlock> {
  using Options = SwinTransformerOptions;

  /// Stage number `stage` of the options, z (B, H, W, C) -> (B, H, W, C).
  SwinStage(At here, std::size_t stage, const Options& options);
};

/// Merges four neighbouring tokens into one, 4C -> 2C: (B, H, W, C) -> (B, H/2, W/2, 2C), with sizes rounded up.
struct PatchMerging : Layer<PatchMerging> {
  PatchMerging(At here, std::int64_t dim);

  /// Throws ShapeError.
  Tensor forward(const Tensor& x) const;

  const std::int64_t dim;
  Linear reduction{at("reduction"), 4 * dim, 2 * dim, {.bias = false, .init = init::truncated_normal({.std = 0.02})}};
  LayerNorm norm{at("norm"), 4 * dim};
};

/// Maps each patch of pixels to a token: (B, channels, H, W) -> (B, H/4, W/4, C) for patches of 4 x 4.
struct SwinPatches : Layer<SwinPatches, SwinTransformerOptions> {
  using Layer::Layer;

  /// Throws ShapeError.
  Tensor forward(const Tensor& x) const;

  Conv2d projection{at("0"), options.channels, options.dim, options.patch, {.stride = options.patch}};
  LayerNorm norm{at("2"), options.dim};
};

/// The patches, then the stages with patch merging between them. Their names are 0, 1, 2, ....
struct SwinFeatures : Sequential {
  using Options = SwinTransformerOptions;

  SwinFeatures(At here, const Options& options);
};

/// Attention in windows, with patch merging between the stages, and a linear map of the mean token of the last stage.
/// For 1000 classes Swin-T has 28,288,354 parameters. The weights of torchvision's model of the same sizes load without
/// changes.
///
///     (B, 3, H, W) -> (B, H/4, W/4, C) -> (B, H/8, W/8, 2C) -> ... -> (B, classes)
struct SwinTransformer : Layer<SwinTransformer> {
  using Options = SwinTransformerOptions;

  /// Throws ValueError for sizes below 1, different numbers of heads and depths, a width that is not a multiple of its
  /// heads, or a probability outside [0, 1].
  explicit SwinTransformer(At here, const Options& options = {});
  explicit SwinTransformer(Placeless, ...);  ///< compile error: the first argument must be at("name") or root

  /// x (B, channels, H, W) -> logits (B, classes). The image must have at least the size of a patch. Throws ShapeError.
  Tensor forward(const Tensor& x) const;

  const Options options;
  SwinFeatures features;
  LayerNorm norm;
  Linear head;

 protected:
  std::string extra_repr() const override;
};

}  // namespace xgrad::nn
