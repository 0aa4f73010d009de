// Normalising layers.
#include <xgrad/nn/norm.h>

#include <xgrad/ops/normalize.h>

namespace xgrad::inline XGRAD_ABI::nn {

LayerNorm::LayerNorm(At here, std::int64_t size, const LayerNormOptions& options)
    : LayerNorm(std::move(here), Shape{size}, options) {}

LayerNorm::LayerNorm(At here, const Shape& given, const LayerNormOptions& options)
    : Module(std::move(here)),
      sizes(given),
      eps(options.eps),
      weight(options.affine ? param("weight", sizes, init::ones()) : Tensor()),
      bias(options.affine && options.bias ? param("bias", sizes, init::zeros()) : Tensor()) {
  const auto constructing = enter();
  if (sizes.empty()) fail<ValueError>("layer_norm", "no axis to normalise over");
  for (const std::int64_t size : sizes) positive("size", size);
  if (!(eps >= 0)) fail<ValueError>("layer_norm", "eps must not be negative, got ", eps);
}

Tensor LayerNorm::operator()(const Tensor& x) const {
  const auto here = enter(x);
  return here(layer_norm(x, weight, bias, {.eps = static_cast<Real>(eps), .normalized = sizes}));
}

std::string LayerNorm::settings() const { return sizes.rank() == 1 ? cat(sizes[0]) : cat(sizes); }

}  // namespace xgrad::inline XGRAD_ABI::nn
