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

const Shape shape{768, 512};
constexpr double N = 768 * 512;

template <class F>
Row forwards(const char* name, F f) {
  return {name, 2 * N, 0, [=] {
            const Tensor x = numbers(shape);
            return forward([=] { return f(x); });
          }};
}
template <class F>
Row backwards(const char* name, F f) {
  return {name, 3 * N, 0, [=] {
            const Tensor x = parameter(shape);
            return backward({x}, [=] { return f(x); });
          }};
}

const bool lambdas_added =
    add("lambdas", {
                       forwards("copy", [](const Tensor& x) { return flip(x, {0}); }),
                       forwards("own_hump", own_hump),
                       backwards("own_hump'", own_hump),
                       forwards("own_silu", own_silu),
                       forwards("silu", [](const Tensor& x) { return silu(x); }),
                       backwards("own_silu'", own_silu),
                       backwards("silu'", [](const Tensor& x) { return silu(x); }),
                       forwards("own_tanh", own_tanh),
                       forwards("tanh", [](const Tensor& x) { return tanh(x); }),
                       forwards("own_exp", own_exp),
                       forwards("exp", [](const Tensor& x) { return exp(x); }),
                       forwards("own_mul_row", [row = numbers({512})](const Tensor& x) { return own_mul(x, row); }),
                       forwards("mul_row", [row = numbers({512})](const Tensor& x) { return x * row; }),
                   });

}  // namespace
