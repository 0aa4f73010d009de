// Dropout. Its gradient is dropout with the same key.
#include "dropout.h"

#include "../core/formula.h"
#include "../core/record.h"
#include "create.h"
#include "kernels/dropout.h"

namespace xgrad {

XGRAD_FORMULA dropout_formula{"dropout", "y = 0 with probability p, else x/(1 - p)",
                              "dL/dx = 0 where y is dropped, else gy/(1 - p)"};
Tensor dropout(const Tensor& x, double p, const RandomKey& key) {
  if (!(p >= 0 && p <= 1)) fail<ValueError>("dropout", "probability ", p, " not in [0, 1]");
  if (p == 0) return x;
  if (p == 1) {
    return record("dropout", Array(x.shape(), Real(0)), wrt(x, [](const Tensor& gy) { return zeros_like(gy); }),
                  told("p", p));
  }
  return record("dropout", drop(x.value(), p, key), wrt(x, [p, key](const Tensor& gy) { return dropout(gy, p, key); }),
                told("p", p));
}

Tensor dropout(const Tensor& x, double p) { return dropout(x, p, next_random_key()); }

}  // namespace xgrad
