// Functions of one tensor, element by element, and the choice between two.
#include <xgrad/ops/elementwise.h>

#include <xgrad/ops/fused.h>

namespace xgrad::inline XGRAD_ABI {

Tensor exp(const Tensor& x) {
  return elementwise("exp", x, [](auto v) { return exp(v); }, [](auto, auto y) { return y; });
}

Tensor tanh(const Tensor& x) {
  return elementwise("tanh", x, [](auto v) { return tanh(v); }, [](auto, auto y) { return 1 - y * y; });
}

Tensor where(const Mask& mask, const Tensor& a, const Tensor& b) {
  const Shape shape =
      broadcast_shapes("where", mask.shape(), broadcast_shapes("where", a.shape(), b.shape()));
  const auto choose = [](const Mask& m, const Array& p, const Array& q, const Shape& to) {
    const auto ms = broadcast_strides(m.shape(), to), ps = broadcast_strides(p.shape(), to),
               qs = broadcast_strides(q.shape(), to);
    Array result(to);
    Real* out = result.mutable_data();
    for (std::int64_t i = 0; i < result.size(); ++i) {
      std::int64_t rest = i, mi = 0, pi = 0, qi = 0;
      for (int axis = to.rank() - 1; axis >= 0; --axis) {
        const std::int64_t at = rest % to[axis];
        mi += at * ms[axis];
        pi += at * ps[axis];
        qi += at * qs[axis];
        rest /= to[axis];
      }
      out[i] = m.data()[mi] ? p.data()[pi] : q.data()[qi];
    }
    return result;
  };
  return record("where", choose(mask, a.value(), b.value(), shape),
                wrt(a, [mask, to = a.shape()](const Tensor& gy) { return sum_to(where(mask, gy, 0), to); }),
                wrt(b, [mask, to = b.shape()](const Tensor& gy) { return sum_to(where(mask, 0, gy), to); }));
}

}  // namespace xgrad::inline XGRAD_ABI
