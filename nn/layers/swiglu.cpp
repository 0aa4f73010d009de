// SwiGlu.
#include "swiglu.h"

#include "../../ops/elementwise/arithmetic.h"
#include "../../ops/elementwise/elementwise.h"

namespace xgrad::nn {

Tensor SwiGlu::forward(const Tensor& x) const {
  return w2(silu(w1(x)) * w3(x));
}

}  // namespace xgrad::nn
