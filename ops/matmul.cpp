// Products.
#include <xgrad/ops/matmul.h>

#include <algorithm>

#include <xgrad/core/parallel.h>
#include <xgrad/core/record.h>
#include <xgrad/ops/arithmetic.h>
#include <xgrad/ops/blas.h>
#include <xgrad/ops/reduce.h>
#include <xgrad/ops/shape.h>

namespace xgrad::inline XGRAD_ABI {
namespace {

// Multiplications that one thread does at a time when there are many small products.
constexpr std::int64_t batch_multiplications = 1 << 18;

Shape leading(const Shape& shape) { return Shape(ShortList<std::int64_t>(std::span(shape.begin(), shape.end() - 2))); }

// All rows below one another: (..., C) -> (R, C).
Tensor rows(const Tensor& x) {
  if (x.rank() == 2) return x;
  const Shape& shape = x.shape();
  std::int64_t count = 1;
  for (int axis = 0; axis < shape.rank() - 1; ++axis) count *= shape[axis];
  return reshape(x, {count, shape.back()});
}

void check_factors(const Shape& a, const Shape& b, const MatmulOptions& options) {
  if (a.empty() || b.empty()) fail<ShapeError>("matmul", "a factor has no axis: ", a, " @ ", b);
  const bool row = a.rank() == 1, column = b.rank() == 1;
  if ((row && options.transpose_a) || (column && options.transpose_b)) {
    fail<ShapeError>("matmul", "a vector cannot be transposed: ", a, " @ ", b);
  }
  if (a.dim(options.transpose_a ? -2 : -1) != b.dim(column || options.transpose_b ? -1 : -2)) {
    const auto mark = [](bool transposed) { return transposed ? "'" : ""; };
    fail<ShapeError>("matmul", "inner sizes differ: ", a, mark(options.transpose_a), " @ ", b,
                     mark(options.transpose_b));
  }
}

Shape product_shape(const Shape& a, const Shape& b, const MatmulOptions& options) {
  Shape shape = broadcast_shapes("matmul", leading(a), leading(b));
  shape.push_back(a.dim(options.transpose_a ? -1 : -2));
  shape.push_back(b.dim(options.transpose_b ? -2 : -1));
  return shape;
}

Array product(const Array& a, const Array& b, const Shape& shape, const MatmulOptions& options) {
  Array y(shape);
  if (y.size() == 0) return y;
  Real* out = y.mutable_data();
  Gemm one{.m = shape.dim(-2), .n = shape.dim(-1), .k = a.dim(options.transpose_a ? -2 : -1)};
  if (b.rank() == 2 && !options.transpose_a) {
    one.m = y.size() / one.n;
    gemm(one, {a.data(), a.dim(-1), false}, {b.data(), b.dim(-1), options.transpose_b}, out, one.n);
    return y;
  }
  const Shape batch = leading(shape);
  const auto strides_a = broadcast_strides(leading(a.shape()), batch);
  const auto strides_b = broadcast_strides(leading(b.shape()), batch);
  const std::int64_t multiplications = one.m * one.n * std::max<std::int64_t>(one.k, 1);
  const std::int64_t grain = std::max<std::int64_t>(1, batch_multiplications / multiplications);
  parallel_for(batch.numel(), grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      std::int64_t rest = i, at_a = 0, at_b = 0;
      for (int axis = batch.rank() - 1; axis >= 0; --axis) {
        at_a += rest % batch[axis] * strides_a[axis];
        at_b += rest % batch[axis] * strides_b[axis];
        rest /= batch[axis];
      }
      gemm(one, {a.data() + at_a * one.m * one.k, a.dim(-1), options.transpose_a},
           {b.data() + at_b * one.k * one.n, b.dim(-1), options.transpose_b}, out + i * one.m * one.n, one.n);
    }
  });
  return y;
}

}  // namespace

Tensor matmul(const Tensor& a, const Tensor& b, const MatmulOptions& options) {
  check_factors(a.shape(), b.shape(), options);
  if (b.rank() == 1) return squeeze(matmul(a, unsqueeze(b, 1), options), {-1});
  if (a.rank() == 1) return squeeze(matmul(unsqueeze(a, 0), b, options), {-2});
  const Shape shape = product_shape(a.shape(), b.shape(), options);
  const auto [ta, tb] = options;
  return record(
      "matmul", product(a.value(), b.value(), shape, options),
      wrt(a,
          [b, to = a.shape(), ta = ta, tb = tb](const Tensor& gy) {
            return sum_to(
                ta ? matmul(b, gy, {.transpose_a = tb, .transpose_b = true}) : matmul(gy, b, {.transpose_b = !tb}), to);
          }),
      wrt(b, [a, to = b.shape(), ta = ta, tb = tb](const Tensor& gy) {
        // One product over all rows rather than one for each of a's leading axes and then their sum.
        const bool one = to.rank() == 2 && !ta;
        const Tensor x = one ? rows(a) : a, g = one ? rows(gy) : gy;
        return sum_to(tb ? matmul(g, x, {.transpose_a = true, .transpose_b = ta}) : matmul(x, g, {.transpose_a = !ta}),
                      to);
      }));
}

Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  if (weight.rank() != 2 || x.rank() == 0 || x.shape().back() != weight.dim(1)) {
    fail<ShapeError>("linear", "input ", x.shape(), " does not fit weight ", weight.shape());
  }
  const std::int64_t in = weight.dim(1), out = weight.dim(0);
  if (bias.defined() && bias.shape() != Shape{out}) {
    fail<ShapeError>("linear", "bias ", bias.shape(), " does not fit weight ", weight.shape());
  }
  Shape shape = x.shape();
  shape[shape.rank() - 1] = out;
  Array y(shape);
  if (y.size() > 0) {
    const std::int64_t count = y.size() / out;
    Real* to = y.mutable_data();
    if (bias.defined()) {
      const Real* from = bias.value().data();
      parallel_for(count, std::max<std::int64_t>(1, (1 << 15) / out), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t row = begin; row < end; ++row) std::copy_n(from, out, to + row * out);
      });
    }
    gemm({.m = count, .n = out, .k = in, .keep = bias.defined() ? Real(1) : Real(0)}, {x.value().data(), in, false},
         {weight.value().data(), in, true}, to, out);
  }
  auto to_x = wrt(x, [weight](const Tensor& gy) { return matmul(gy, weight); });
  auto to_weight = wrt(weight, [x](const Tensor& gy) { return matmul(rows(gy), rows(x), {.transpose_a = true}); });
  auto to_bias = wrt(bias, [](const Tensor& gy) { return sum(rows(gy), {.axis = 0}); });
  return bias.defined() ? record("linear", std::move(y), std::move(to_x), std::move(to_weight), std::move(to_bias))
                        : record("linear", std::move(y), std::move(to_x), std::move(to_weight));
}

Tensor dot(const Tensor& a, const Tensor& b) {
  if (a.rank() != 1 || a.shape() != b.shape()) fail<ShapeError>("dot", "no two vectors: ", a.shape(), " . ", b.shape());
  return matmul(a, b);
}

Tensor outer(const Tensor& a, const Tensor& b) {
  if (a.rank() != 1 || b.rank() != 1) fail<ShapeError>("outer", "no two vectors: ", a.shape(), ", ", b.shape());
  return unsqueeze(a, 1) * b;
}

}  // namespace xgrad::inline XGRAD_ABI
