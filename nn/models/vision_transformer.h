// The vision transformer (Dosovitskiy et al., "An Image Is Worth 16x16 Words", 2020), with torchvision's names.
#pragma once

#include <memory>
#include <vector>

#include "../containers/maybe.h"
#include "../layer.h"
#include "../layers/conv.h"
#include "../layers/dropout.h"
#include "../layers/mlp.h"
#include "../layers/norm.h"
#include "../pytorch/multihead_attention.h"

namespace xgrad::nn {

struct VisionTransformerOptions {
  Size2d image = 224;  ///< rows and columns of pixels
  Size2d patch = 16;
  std::int64_t channels = 3;
  std::int64_t dim = 768;  ///< D
  std::int64_t heads = 12;
  std::int64_t layers = 12;
  std::int64_t mlp = 0;  ///< width within the feed-forward parts; 4 D if 0
  std::int64_t classes = 1000;
  double dropout = 0;
  double attention_dropout = 0;  ///< of the weights
  double drop_path = 0;          ///< of the last layer; it grows linearly from 0 in the first
};

/// ViT-B with this patch: 768 wide, 12 heads, 12 layers. (Ti is 192 wide with 3 heads, S 384 with 6, and L 1024 with 16
/// heads and 24 layers.)
VisionTransformerOptions vit_b(const Size2d& patch = 16);

namespace detail {
constexpr double vit_norm_eps = 1e-6;
/// The patches of an image, and the class token.
std::int64_t vit_tokens(const VisionTransformerOptions& options);
/// Normal numbers with the standard deviation sqrt(1 / inputs).
Init vit_init(std::int64_t inputs);
}  // namespace detail

/// One layer of the encoder, with the norms before its two parts:
///
///     z' = z + drop_path(dropout(attention(norm(z))))
///     z  = z' + drop_path(mlp(norm(z')))
struct VitBlock : Layer<VitBlock, VisionTransformerOptions> {
  /// Layer number `layer` of options.layers.
  VitBlock(At here, std::int64_t layer, const Options& options);

  /// z (B, N, D) -> (B, N, D). Throws ShapeError.
  Tensor forward(const Tensor& z) const;

  LayerNorm ln_1{at("ln_1"), options.dim, {.eps = detail::vit_norm_eps}};
  pytorch::MultiheadAttention self_attention{
      at("self_attention"), options.dim, options.heads, {.dropout = options.attention_dropout}};
  Dropout dropout{at("dropout"), options.dropout};
  DropPath drop_path;
  LayerNorm ln_2{at("ln_2"), options.dim, {.eps = detail::vit_norm_eps}};
  Mlp mlp{at("mlp"), vision_mlp(options.dim, options.mlp, options.dropout)};
};

/// The layers of the encoder, called encoder_layer_0, encoder_layer_1, ...
struct VitLayers : Layer<VitLayers> {
  using Options = VisionTransformerOptions;

  VitLayers(At here, const Options& options);

  /// z (B, N, D) -> (B, N, D), one layer after the other.
  Tensor forward(const Tensor& z) const;

  std::vector<std::unique_ptr<VitBlock>> blocks;
};

/// Learned positions, the layers, and a last norm.
struct VitEncoder : Layer<VitEncoder, VisionTransformerOptions> {
  using Layer::Layer;

  /// tokens (B, N, D) -> (B, N, D). Throws ShapeError unless there are as many tokens as positions.
  Tensor forward(const Tensor& tokens) const;

  const Tensor pos_embedding =  ///< (1, N, D), at first normal with standard deviation 0.02
      param("pos_embedding", {1, detail::vit_tokens(options), options.dim}, init::normal({.std = 0.02}), Decay::no);
  Dropout dropout{at("dropout"), options.dropout};
  VitLayers layers{at("layers"), options};
  LayerNorm ln{at("ln"), options.dim, {.eps = detail::vit_norm_eps}};
};

/// A linear map to the logits.
struct VitHead : Layer<VitHead, VisionTransformerOptions> {
  using Layer::Layer;

  /// y (B, D) -> (B, classes)
  Tensor forward(const Tensor& y) const { return head(y); }

  Linear head{at("head"), options.dim, options.classes, {.init = init::zeros(), .bias_init = init::zeros()}};
};

/// Patches as tokens, an encoder, a head:
///
///     z_0 = (class token, patch_1 E, ..., patch_N E) + positions
///     z_l = block_l(z_(l-1)),      logits = head(norm(z_L)_0)
///
/// E is a convolution whose stride is its kernel. ViT-B/16 for 1000 classes has 86,567,656 parameters; weights of
/// torchvision's model of the same sizes load as they are.
///
///     nn::VisionTransformerOptions options{.patch = 4, .dim = 192, .heads = 3};
///     options.image = 28;
///     options.channels = 1;
///     const nn::VisionTransformer model{nn::root, options};
struct VisionTransformer : Layer<VisionTransformer> {
  using Options = VisionTransformerOptions;

  /// Throws ValueError for sizes below 1, an image that does not divide into patches, a dim that does not divide by the
  /// heads, a probability outside [0, 1].
  explicit VisionTransformer(At here, const Options& options = {});
  explicit VisionTransformer(Placeless, ...);  ///< does not compile: the place, at("name") or root, is missing

  /// x (B, channels, H, W) -> logits (B, classes). Throws ShapeError for another image size.
  Tensor forward(const Tensor& x) const;
  /// The results for all tokens, after the last norm: (B, N, D), the class token first. Throws likewise.
  Tensor features(const Tensor& x) const;

  const Options options;
  Conv2d conv_proj{at("conv_proj"),
                   options.channels,
                   options.dim,
                   options.patch,
                   {.stride = options.patch,
                    .init = [](const Shape& shape) { return detail::vit_init(init::fans(shape).in)(shape); },
                    .bias_init = init::zeros()}};  ///< E
  const Tensor class_token =                       ///< (1, 1, D), at first 0
      param("class_token", {1, 1, options.dim}, init::zeros(), Decay::no);
  VitEncoder encoder{at("encoder"), options};
  VitHead heads{at("heads"), options};

 protected:
  std::string extra_repr() const override;
};

}  // namespace xgrad::nn
