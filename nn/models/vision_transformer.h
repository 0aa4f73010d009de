// The vision transformer (Dosovitskiy et al., "An Image Is Worth 16x16 Words", 2020), with the names of torchvision.
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
  Size2d image = 224;  ///< height and width in pixels
  Size2d patch = 16;
  std::int64_t channels = 3;
  std::int64_t dim = 768;  ///< D, the width of the embeddings
  std::int64_t heads = 12;
  std::int64_t layers = 12;
  std::int64_t mlp = 0;  ///< width of the hidden layer of the feed-forward network; 4 D if 0
  std::int64_t classes = 1000;
  double dropout = 0;
  double attention_dropout = 0;  ///< dropout probability of the attention weights
  double drop_path = 0;          ///< drop probability of the last layer; it grows linearly from 0 in the first layer
};

/// The options of ViT-B with this patch: dim 768, 12 heads, 12 layers. (Ti has dim 192 and 3 heads, S dim 384 and 6
/// heads, L dim 1024, 16 heads and 24 layers.)
inline VisionTransformerOptions vit_b(const Size2d& patch = 16) { return {.patch = patch}; }

namespace detail {
constexpr double vit_norm_eps = 1e-6;
/// The number of tokens: the patches of an image and the class token.
std::int64_t vit_tokens(const VisionTransformerOptions& options);
/// Normal with standard deviation sqrt(1 / inputs).
Init vit_init(std::int64_t inputs);
}  // namespace detail

/// One layer of the encoder, with a norm before each of its two parts:
///
///     z' = z + drop_path(dropout(attention(norm(z))))
///     z  = z' + drop_path(mlp(norm(z')))
struct VitBlock : Layer<VitBlock, VisionTransformerOptions> {
  /// Layer number `layer` of options.layers, which determines its drop_path.
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

/// The layers of the encoder. Their names are encoder_layer_0, encoder_layer_1, ....
struct VitLayers : Layer<VitLayers> {
  using Options = VisionTransformerOptions;

  VitLayers(At here, const Options& options);

  /// z (B, N, D) -> (B, N, D), through one layer after the other.
  Tensor forward(const Tensor& z) const;

  std::vector<std::unique_ptr<VitBlock>> blocks;
};

/// The encoder: learned positions, the layers, and a last norm.
struct VitEncoder : Layer<VitEncoder, VisionTransformerOptions> {
  using Layer::Layer;

  /// tokens (B, N, D) -> (B, N, D). Throws ShapeError unless there are as many tokens as positions.
  Tensor forward(const Tensor& tokens) const;

  const Tensor pos_embedding =  ///< (1, N, D), initially normal with standard deviation 0.02
      param("pos_embedding", {1, detail::vit_tokens(options), options.dim}, init::normal({.std = 0.02}), Decay::no);
  Dropout dropout{at("dropout"), options.dropout};
  VitLayers layers{at("layers"), options};
  LayerNorm ln{at("ln"), options.dim, {.eps = detail::vit_norm_eps}};
};

/// The head: a linear map to the logits.
struct VitHead : Layer<VitHead, VisionTransformerOptions> {
  using Layer::Layer;

  /// y (B, D) -> (B, classes)
  Tensor forward(const Tensor& y) const { return head(y); }

  Linear head{at("head"), options.dim, options.classes, {.init = init::zeros(), .bias_init = init::zeros()}};
};

/// The vision transformer: patches as tokens, an encoder, and a head:
///
///     z_0 = (class token, patch_1 E, ..., patch_N E) + positions
///     z_l = block_l(z_(l-1)),      logits = head(norm(z_L)_0)
///
/// E is a convolution whose stride is the size of its kernel. For 1000 classes ViT-B/16 has 86,567,656 parameters. The
/// weights of torchvision's model of the same sizes load without changes.
///
///     nn::VisionTransformerOptions options{.patch = 4, .dim = 192, .heads = 3};
///     options.image = 28;
///     options.channels = 1;
///     const nn::VisionTransformer model{nn::root, options};
struct VisionTransformer : Layer<VisionTransformer> {
  using Options = VisionTransformerOptions;

  /// Throws ValueError for sizes below 1, an image that patches do not divide, a dim that is not a multiple of the
  /// heads, or a probability outside [0, 1].
  explicit VisionTransformer(At here, const Options& options = {});
  explicit VisionTransformer(Placeless, ...);  ///< compile error: the first argument must be at("name") or root

  /// x (B, channels, H, W) -> logits (B, classes). Throws ShapeError for another image size.
  Tensor forward(const Tensor& x) const;
  /// The encoder's result for all tokens, after the last norm: (B, N, D), with the class token first. Throws the same
  /// errors.
  Tensor features(const Tensor& x) const;

  const Options options;
  Conv2d conv_proj{at("conv_proj"),
                   options.channels,
                   options.dim,
                   options.patch,
                   {.stride = options.patch,
                    .init = [](const Shape& shape) { return detail::vit_init(init::fans(shape).in)(shape); },
                    .bias_init = init::zeros()}};  ///< E
  const Tensor class_token =                       ///< (1, 1, D), initially 0
      param("class_token", {1, 1, options.dim}, init::zeros(), Decay::no);
  VitEncoder encoder{at("encoder"), options};
  VitHead heads{at("heads"), options};

 protected:
  std::string extra_repr() const override;
};

}  // namespace xgrad::nn
