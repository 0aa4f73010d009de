// Elementwise operations of a user's own, in a file compiled without any flag for the processor, as users' programs are, beside
// the library's operations of the same formula. (hump has no such; copy is the floor of all that read and write.)
#include <xgrad/ops/elementwise/fused.h>
#include <xgrad/xgrad.h>

#include "table.h"

namespace {

using namespace micro;

Tensor own_hump(const Tensor& x) {
  return elementwise(
      "own_hump", x, [](auto v) { return 1 / (1 + v * v); }, [](auto v, auto y) { return -2 * v * y * y; });
}
Tensor own_silu(const Tensor& x) {
  return elementwise(
      "own_silu", x, [](auto v) { return v * sigmoid(v); },
      [](auto v, auto) {
        const auto s = sigmoid(v);
        return s * (1 + v * (1 - s));
      });
}
Tensor own_tanh(const Tensor& x) {
  return elementwise(
      "own_tanh", x, [](auto v) { return tanh(v); }, [](auto, auto y) { return 1 - y * y; });
}
Tensor own_exp(const Tensor& x) {
  return elementwise(
      "own_exp", x, [](auto v) { return exp(v); }, [](auto, auto y) { return y; });
}
Tensor own_mul(const Tensor& a, const Tensor& b) {
  return elementwise(
      "own_mul", a, b, [](auto p, auto q) { return p * q; }, [](auto, auto q, auto) { return q; },
      [](auto p, auto, auto) { return p; });
}

const bool lambdas_added =
    add("lambdas", {
                       of_numbers("copy", 2 * N, [](const Tensor& x) { return flip(x, {0}); }),
                       of_numbers("own_hump", 2 * N, own_hump),
                       gradient("own_hump'", 3 * N, own_hump),
                       of_numbers("own_silu", 2 * N, own_silu),
                       of_numbers("silu", 2 * N, [](const Tensor& x) { return silu(x); }),
                       gradient("own_silu'", 3 * N, own_silu),
                       gradient("silu'", 3 * N, [](const Tensor& x) { return silu(x); }),
                       of_numbers("own_tanh", 2 * N, own_tanh),
                       of_numbers("tanh", 2 * N, [](const Tensor& x) { return tanh(x); }),
                       of_numbers("own_exp", 2 * N, own_exp),
                       of_numbers("exp", 2 * N, [](const Tensor& x) { return exp(x); }),
                       of_numbers("own_mul_row", 2 * N, [row = numbers({512})](const Tensor& x) { return own_mul(x, row); }),
                       of_numbers("mul_row", 2 * N, [row = numbers({512})](const Tensor& x) { return x * row; }),
                   });

}  // namespace
