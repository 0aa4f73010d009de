// The Swin transformer (Liu et al., "Swin Transformer: Hierarchical Vision Transformer using Shifted Windows", 2021),
// with torchvision's names. Maps of features are (B, H, W, C).
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
  std::int64_t dim = 96;  ///< C of the first stage; each stage has twice that of the one before
  std::vector<std::int64_t> depths = {2, 2, 6, 2};  ///< blocks of each stage
  std::vector<std::int64_t> heads = {3, 6, 12, 24};
  Size2d window = 7;     ///< M
  double mlp_ratio = 4;  ///< width within the feed-forward parts, as a multiple of C
  std::int64_t classes = 1000;
  double dropout = 0;
  double attention_dropout = 0;  ///< of the weights
  double drop_path = 0;          ///< of the last block; it grows linearly from 0 in the first
};

/// Swin-T of the paper, with the drop_path of torchvision's recipe, 0.2. (S has .depths = {2, 2, 18, 2} and 0.3; B
/// these, .dim = 128, .heads = {4, 8, 16, 32} and 0.5.)
SwinTransformerOptions swin_t();

/// How a map is cut into windows, perhaps after a cyclic shift.
struct WindowGrid {
  std::int64_t height, width;  ///< of the map
  Size2d window, shift;

  /// For a map of this size. Along an axis on which there is only one window nothing is shifted.
  WindowGrid(std::int64_t height, std::int64_t width, const Size2d& window, const Size2d& shift);

  /// The size of the map padded so that windows fit.
  std::int64_t padded_height() const;
  std::int64_t padded_width() const;
  std::int64_t windows() const;
  bool shifted() const { return shift.height > 0 || shift.width > 0; }

  /// (B, H, W, C) -> (B windows, M M, C): padded, moved by -shift, cut.
  Tensor partition(const Tensor& x) const;
  /// And back, to exactly the same positions.
  Tensor reverse(const Tensor& windows) const;
  /// Which tokens of a window may not see each other, because the shift brought them together from different ends of
  /// the map: (windows, M M, M M), true where their regions differ.
  Mask regions() const;
};

/// Multi-head attention within windows, with a learned bias for every relative position and every head:
///
///     y = W_o softmax(q k' / sqrt(d) + bias) v + b_o
///
/// Time grows with the map, 4 h w C^2 + 2 M^2 h w C multiply-adds, not with its square.
struct SwinAttention : Layer<SwinAttention> {
  using Options = SwinTransformerOptions;

  /// Throws ValueError for sizes below 1, a `dim` that does not divide by the heads, a dropout outside [0, 1].
  SwinAttention(At here, std::int64_t dim, std::int64_t heads, const Size2d& shift, const Options& options);

  /// x (B, H, W, C) -> (B, H, W, C). A map that windows do not fit is padded with zeros at the end, which take part, as
  /// in torchvision. Throws ShapeError.
  Tensor forward(const Tensor& x) const;

  const std::int64_t dim;
  const std::int64_t heads;
  const Size2d window;
  const Size2d shift;
  const double attention_dropout;
  Linear qkv;
  Linear proj;
  Dropout dropout;
  const Tensor relative_position_bias_table;  ///< ((2M - 1)(2M - 1), heads), at first normal with deviation 0.02
  const Tensor relative_position_index;       ///< (M^4): for two tokens of a window, the row of the table; for files

 protected:
  std::string extra_repr() const override;

 private:
  const Index positions_;
};

/// One block, with the norms before its two parts:
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

/// The blocks of a stage; every second one has its windows shifted by half a window.
struct SwinStage : Stack<SwinBlock> {
  using Options = SwinTransformerOptions;

  /// z (B, H, W, C) -> (B, H, W, C).
  SwinStage(At here, std::size_t stage, const Options& options);
};

/// Four neighbours become one, 4C -> 2C: (B, H, W, C) -> (B, H/2, W/2, 2C), sizes rounded up.
struct PatchMerging : Layer<PatchMerging> {
  PatchMerging(At here, std::int64_t dim);

  /// Throws ShapeError.
  Tensor forward(const Tensor& x) const;

  const std::int64_t dim;
  Linear reduction{at("reduction"), 4 * dim, 2 * dim, {.bias = false, .init = init::truncated_normal({.std = 0.02})}};
  LayerNorm norm{at("norm"), 4 * dim};
};

/// A patch of pixels becomes a token: (B, channels, H, W) -> (B, H/4, W/4, C).
struct SwinPatches : Layer<SwinPatches, SwinTransformerOptions> {
  using Layer::Layer;

  /// Throws ShapeError.
  Tensor forward(const Tensor& x) const;

  Conv2d projection{at("0"), options.channels, options.dim, options.patch, {.stride = options.patch}};
  LayerNorm norm{at("2"), options.dim};
};

/// Patches, then stages with patch merging between them, called 0, 1, 2, ... in turn.
struct SwinFeatures : Sequential {
  using Options = SwinTransformerOptions;

  SwinFeatures(At here, const Options& options);
};

/// Windows of tokens that merge from stage to stage, and a linear map of the mean of the last one's. Swin-T for 1000
/// classes has 28,288,354 parameters; weights of torchvision's model of the same sizes load as they are.
///
///     (B, 3, H, W) -> (B, H/4, W/4, C) -> (B, H/8, W/8, 2C) -> ... -> (B, classes)
struct SwinTransformer : Layer<SwinTransformer> {
  using Options = SwinTransformerOptions;

  /// Throws ValueError for sizes below 1, another number of heads than of depths, a width that does not divide by its
  /// heads, a probability outside [0, 1].
  explicit SwinTransformer(At here, const Options& options = {});
  explicit SwinTransformer(Placeless, ...);  ///< does not compile: the place, at("name") or root, is missing

  /// x (B, channels, H, W) -> logits (B, classes), of any size of a patch at least. Throws ShapeError.
  Tensor forward(const Tensor& x) const;

  const Options options;
  SwinFeatures features;
  LayerNorm norm;
  Linear head;

 protected:
  std::string extra_repr() const override;
};

}  // namespace xgrad::nn
