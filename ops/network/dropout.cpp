// Dropout. Its gradient is dropout with the same key.
#include "dropout.h"

#include <cmath>

#include "../../core/array/shape_hints.h"
#include "../../core/base/formula.h"
#include "../../core/graph/record.h"
#include "../arrange/create.h"
#include "../arrange/index.h"
#include "../elementwise/arithmetic.h"
#include "../elementwise/compare.h"
#include "../kernels/network/dropout.h"
#include "../private/key.h"

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

namespace {

void check_probability(const char* op, double p) {
  if (!(p >= 0 && p <= 1)) fail<ValueError>(op, "probability ", p, " is not in [0, 1]");
}

// Dropout of ones along the first `leading` axes; size 1 along the others.
Tensor decided(const Tensor& x, int leading, double p, const RandomKey& key) {
  Shape shape = Shape::filled(x.rank(), 1);
  for (int axis = 0; axis < leading; ++axis) shape[axis] = x.dim(axis);
  return dropout(ones(shape), p, key);
}

Tensor channels_dropped(const char* op, const Tensor& x, int axes, double p, const RandomKey& key) {
  check_probability(op, p);
  const int leading = x.rank() - axes;
  if (leading != 1 && leading != 2) {
    fail<ShapeError>(op, "needs ", axes == 1 ? "(B, C, L) or (C, L)" : "(B, C, H, W) or (C, H, W)", ", got ", x.shape(),
                     detail::volume_hint(x.shape()));
  }
  return x * decided(x, leading, p, key);
}

Tensor to_least_value(const Tensor& x, int leading, double p, const RandomKey& key) {
  constexpr double alpha = -1.7580993408473766;  // -scale alpha of selu
  if (p == 1) return dropout(x, p, key);
  const double a = 1 / std::sqrt((1 - p) * (1 + p * alpha * alpha)), b = -a * p * alpha;
  const Mask dropped = decided(x, leading, p, key) == 0;
  return masked_fill(x, dropped, static_cast<Real>(alpha)) * static_cast<Real>(a) + static_cast<Real>(b);
}

}  // namespace

Tensor dropout1d(const Tensor& x, double p, const RandomKey& key) {
  return channels_dropped("dropout1d", x, 1, p, key);
}
Tensor dropout1d(const Tensor& x, double p) { return dropout1d(x, p, next_random_key()); }
Tensor dropout2d(const Tensor& x, double p, const RandomKey& key) {
  return channels_dropped("dropout2d", x, 2, p, key);
}
Tensor dropout2d(const Tensor& x, double p) { return dropout2d(x, p, next_random_key()); }

Tensor alpha_dropout(const Tensor& x, double p, const RandomKey& key) {
  check_probability("alpha_dropout", p);
  return to_least_value(x, x.rank(), p, key);
}
Tensor alpha_dropout(const Tensor& x, double p) { return alpha_dropout(x, p, next_random_key()); }

Tensor feature_alpha_dropout(const Tensor& x, double p, const RandomKey& key) {
  check_probability("feature_alpha_dropout", p);
  if (x.rank() < 2) fail<ShapeError>("feature_alpha_dropout", "needs (B, C, ...), got ", x.shape());
  return to_least_value(x, 2, p, key);
}
Tensor feature_alpha_dropout(const Tensor& x, double p) { return feature_alpha_dropout(x, p, next_random_key()); }

}  // namespace xgrad
