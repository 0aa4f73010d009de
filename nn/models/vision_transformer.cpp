// The vision transformer.
#include "vision_transformer.h"

#include <cmath>

#include "../../core/array/shape_hints.h"
#include "../../ops/elementwise/arithmetic.h"
#include "../../ops/elementwise/elementwise.h"
#include "../../ops/shape/broadcast.h"
#include "../../ops/shape/join.h"
#include "../../ops/shape/shape.h"
#include "../../ops/shape/slice.h"
#include "../containers/stack.h"

namespace xgrad::nn {

std::int64_t detail::vit_tokens(const VisionTransformerOptions& options) {
  return options.image.height / options.patch.height * (options.image.width / options.patch.width) + 1;
}

Init detail::vit_init(std::int64_t inputs) {
  return init::truncated_normal({.std = std::sqrt(1 / static_cast<double>(inputs))});
}

VitBlock::VitBlock(At here, std::int64_t layer, const Options& options)
    : Layer(std::move(here), options),
      drop_path(at("drop_path"), options.layers > 1 ? options.drop_path * static_cast<double>(layer) /
                                                          static_cast<double>(options.layers - 1)
                                                    : options.drop_path) {}

Tensor VitBlock::forward(const Tensor& z) const {
  const Tensor h = z + drop_path(dropout(self_attention(ln_1(z))));  // (B, N, D)
  return h + drop_path(mlp(ln_2(h)));
}

VitLayers::VitLayers(At here, const Options& options) : Layer(std::move(here)) {
  for (std::int64_t i = 0; i < options.layers; ++i) {
    blocks.push_back(std::make_unique<VitBlock>(at(str("encoder_layer_", i)), i, options));
  }
}

Tensor VitLayers::forward(const Tensor& z) const {
  Tensor y = z;
  for (const auto& block : blocks) y = (*block)(y);
  return y;
}

Tensor VitEncoder::forward(const Tensor& tokens) const { return ln(layers(dropout(tokens + pos_embedding))); }

VisionTransformer::VisionTransformer(At here, const Options& given)
    : Layer(std::move(here)), options([&] {
        const Scope scope(place());
        Options checked = given;
        for (const std::int64_t side : {given.image.height, given.image.width}) positive("image", side);
        for (const std::int64_t side : {given.patch.height, given.patch.width}) positive("patch", side);
        if (given.image.height % given.patch.height != 0 || given.image.width % given.patch.width != 0) {
          fail<ValueError>("vision_transformer", "an image of ", given.image.height, " x ", given.image.width,
                           " does not divide into patches of ", given.patch.height, " x ", given.patch.width);
        }
        positive("dim", given.dim);
        positive("layers", given.layers, most_layers);
        probability("drop_path", given.drop_path);
        if (given.mlp == 0) checked.mlp = 4 * given.dim;
        return checked;
      }()) {}

Tensor VisionTransformer::features(const Tensor& x) const {
  const ModuleScope here(*this, x);
  const Shape image{options.channels, options.image.height, options.image.width};
  if (x.rank() != 4 || !std::equal(image.begin(), image.end(), x.shape().begin() + 1)) {
    fail<ShapeError>("vision_transformer", "needs (B, ", image[0], ", ", image[1], ", ", image[2], "), got ", x.shape(),
                     xgrad::detail::batch_axis_hint(x.shape(), image));
  }
  const Tensor patches = transpose(flatten(conv_proj(x), 2), 1, 2);  // (B, N - 1, D)
  return encoder(concat({broadcast_to(class_token, {x.dim(0), 1, options.dim}), patches}, 1));
}

Tensor VisionTransformer::forward(const Tensor& x) const { return heads(features(x)[{_, 0}]); }

std::string VisionTransformer::extra_repr() const {
  return str(options.image.height, " x ", options.image.width, " by ", options.patch.height, " x ", options.patch.width,
             ", ", options.layers, " layers of ", options.dim);
}

}  // namespace xgrad::nn
