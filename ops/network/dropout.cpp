// Dropout. Its gradient is dropout with the same key.
#include "dropout.h"

#include "../../core/array/shape_hints.h"
#include "../../core/base/formula.h"
#include "../../core/graph/record.h"
#include "../creation/create.h"
#include "../elementwise/arithmetic.h"
#include "../kernels/network/dropout.h"

namespace xgrad {

XGRAD_FORMULA dropout_formula{"dropout", "y = 0 with probability p, else x/(1 - p)",
                              "dL/dx = 0 where y is dropped, else gy/(1 - p)"};
Tensor dropout(const Tensor& x, double p, const RandomKey& key) {
  if (!(p >= 0 && p <= 1)) fail<ValueError>("dropout", "probability ", p, " is not in [0, 1]");
  if (p == 0) return record("dropout", x.value(), wrt(x, [](const Tensor& gy) { return gy; }), attribute("p", p));
  if (p == 1) {
    return record("dropout", Array(x.shape(), Real(0)), wrt(x, [](const Tensor& gy) { return zeros_like(gy); }),
                  attribute("p", p));
  }
  return record("dropout", drop(x.value(), p, key), wrt(x, [p, key](const Tensor& gy) { return dropout(gy, p, key); }),
                attribute("p", p), attribute("key", seed_and_draw(key)));
}

Tensor dropout(const Tensor& x, double p) { return dropout(x, p, next_random_key()); }

Tensor dropout2d(const Tensor& x, double p, const RandomKey& key) {
  if (!(p >= 0 && p <= 1)) fail<ValueError>("dropout2d", "probability ", p, " is not in [0, 1]");
  if (x.rank() != 3 && x.rank() != 4) {
    fail<ShapeError>("dropout2d", "needs (B, C, H, W) or (C, H, W), got ", x.shape(), detail::volume_hint(x.shape()));
  }
  Shape channels = x.shape();
  channels[x.rank() - 2] = channels[x.rank() - 1] = 1;
  return x * dropout(ones(channels), p, key);
}
Tensor dropout2d(const Tensor& x, double p) { return dropout2d(x, p, next_random_key()); }

}  // namespace xgrad
