// The defaults of functions of a tensor and a number, which their addresses do not tell.
#include "activation.h"

#include "../../ops/elementwise/activations.h"

namespace xgrad::nn {

Activation::Activation(Tensor (*f)(const Tensor&, double)) {
  refuse_empty(f);
  if (f == &elu) {
    f_ = [](const Tensor& x) { return elu(x); };
  } else if (f == &celu) {
    f_ = [](const Tensor& x) { return celu(x); };
  } else if (f == &hardshrink) {
    f_ = [](const Tensor& x) { return hardshrink(x); };
  } else if (f == &softshrink) {
    f_ = [](const Tensor& x) { return softshrink(x); };
  } else {
    fail<ValueError>("activation",
                     "this function of a tensor and a number has no default for the number: write a lambda");
  }
}

}  // namespace xgrad::nn
