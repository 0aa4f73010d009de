// Products.
#include "matmul.h"

#include <algorithm>

#include "../../core/base/formula.h"
#include "../../core/graph/record.h"
#include "../../core/runtime/parallel.h"
#include "../elementwise/arithmetic.h"
#include "../indexing/axis.h"
#include "../kernels/products/product.h"
#include "../kernels/registers/walk.h"
#include "../reduce/reduce.h"
#include "../shape/broadcast.h"
#include "../shape/shape.h"
#include "matmul_precision.h"

namespace xgrad {
namespace {

// Multiplications that one thread does at a time when there are many small products.
constexpr std::int64_t batch_multiplications = 1 << 18;

// All rows as one matrix: (..., C) -> (R, C).
Tensor rows(const Tensor& x) {
  if (x.rank() == 2) return x;
  return reshape(x, {leading(x.shape(), 1).numel(), x.shape().back()});
}

// A hint for factors with different inner sizes that would fit with other options.
std::string transpose_hint(const Shape& a, const Shape& b, const MatmulOptions& given) {
  const auto size = [](const Shape& shape, bool second) {
    return shape.rank() < 2 ? shape[0] : shape.dim(second ? -2 : -1);
  };
  const auto fits = [&](const MatmulOptions& options) {
    return size(a, options.transpose_a) == size(b, !options.transpose_b);
  };
  std::string hint;
  const auto add = [&](const MatmulOptions& other, const char* name, bool was) {
    if (!fits(other)) return;
    append(hint, str(hint.empty() ? "; did you mean " : " or ", was ? "without " : "{", name, was ? "" : " = true}"));
  };
  if (b.rank() >= 2) {
    add({.transpose_a = given.transpose_a, .transpose_b = !given.transpose_b}, ".transpose_b", given.transpose_b);
  }
  if (a.rank() >= 2) {
    add({.transpose_a = !given.transpose_a, .transpose_b = given.transpose_b}, ".transpose_a", given.transpose_a);
  }
  return hint.empty() ? hint : hint + "?";
}

// How two factors are multiplied: a vector as a is a matrix of one row, as b of one column, and leading axes broadcast.
struct MatmulShapes {
  Shape a, b;     // the factors as matrices
  Shape product;  // of these
  Shape result;   // without the axes that vectors do not have

  // Errors name the factors, if they are given.
  MatmulShapes(const Shape& given_a, const Shape& given_b, const MatmulOptions& options, const Tensor* left = nullptr,
               const Tensor* right = nullptr)
      : a(given_a), b(given_b) {
    const auto factors = [&](const char* after_a = "", const char* after_b = "") {
      const auto name = [](const Tensor* x) { return x && !x->name().empty() ? str("'", x->name(), "' ") : ""; };
      return str(name(left), given_a, after_a, " @ ", name(right), given_b, after_b);
    };
    if (a.empty() || b.empty()) fail<ShapeError>("matmul", "a factor has no axis: ", factors());
    const bool row = a.rank() == 1, column = b.rank() == 1;
    if ((row && options.transpose_a) || (column && options.transpose_b)) {
      fail<ShapeError>("matmul", "a vector cannot be transposed: ", factors());
    }
    if (row) a.insert(0, 1);
    if (column) b.push_back(1);
    if (a.dim(options.transpose_a ? -2 : -1) != b.dim(options.transpose_b ? -1 : -2)) {
      const auto mark = [](bool transposed) { return transposed ? "'" : ""; };
      fail<ShapeError>("matmul", "inner sizes differ: ", factors(mark(options.transpose_a), mark(options.transpose_b)),
                       transpose_hint(given_a, given_b, options));
    }
    const Shape batch_a = leading(a, 2), batch_b = leading(b, 2);
    if (!broadcast_together(batch_a, batch_b)) {
      fail<ShapeError>("matmul", factors(), ": the axes in front of the matrices, ", batch_a, " and ", batch_b,
                       ", do not broadcast");
    }
    result = broadcast_shapes("matmul", batch_a, batch_b);
    const std::int64_t rows = a.dim(options.transpose_a ? -1 : -2), columns = b.dim(options.transpose_b ? -2 : -1);
    product = joined(result, {rows, columns});
    if (!row) result.push_back(rows);
    if (!column) result.push_back(columns);
  }
};

Array product(const Array& a, const Array& b, const Shape& shape, const MatmulOptions& options) {
  Array y(shape);
  if (y.size() == 0) return y;
  Real* out = y.mutable_data();
  Gemm one{.m = shape.dim(-2),
           .n = shape.dim(-1),
           .k = a.dim(options.transpose_a ? -2 : -1),
           .rounding = detail::rounding_of_products()};
  if (b.rank() == 2 && !options.transpose_a) {
    one.m = y.size() / one.n;
    gemm(one, {a.data(), a.dim(-1), false}, {b.data(), b.dim(-1), options.transpose_b}, out, one.n);
    return y;
  }
  const Shape batch = leading(shape, 2);
  const Walk<3> walk(batch, {broadcast_strides(leading(a.shape(), 2), batch),
                             broadcast_strides(leading(b.shape(), 2), batch), strides_of(batch)});
  const std::int64_t multiplications = one.m * one.n * std::max<std::int64_t>(one.k, 1);
  const std::int64_t grain = std::max<std::int64_t>(1, batch_multiplications / multiplications);
  parallel_for(walk.count(), grain, [&](std::int64_t begin, std::int64_t end) {
    walk.for_each(begin, end, [&](const auto& at) {
      gemm(one, {a.data() + at[0] * one.m * one.k, a.dim(-1), options.transpose_a},
           {b.data() + at[1] * one.k * one.n, b.dim(-1), options.transpose_b}, out + at[2] * one.m * one.n, one.n);
    });
  });
  return y;
}

void check_linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  if (weight.rank() != 2 || x.rank() == 0 || x.shape().back() != weight.dim(1)) {
    const bool transposed = weight.rank() == 2 && x.rank() > 0 && x.shape().back() == weight.dim(0);
    const bool one = weight.rank() == 2 && weight.dim(1) == 1 && x.rank() == 1;
    fail<ShapeError>("linear", "input ", x.shape(), " does not fit weight ", weight.shape(),
                     one          ? str("; unsqueeze(x, -1) would fit, ", Shape{x.dim(0), 1})
                     : transposed ? "; weight is (out, in), and would fit transposed"
                                  : "");
  }
  if (bias.defined() && bias.shape() != Shape{weight.dim(0)}) {
    fail<ShapeError>("linear", "bias ", bias.shape(), " does not fit weight ", weight.shape());
  }
}

}  // namespace

XGRAD_FORMULA matmul_formula{"matmul", "y = a b", "dL/da = gy b^T; dL/db = a^T gy", OperationKind::product};
XGRAD_FORMULA matmul_a_formula{"matmul transpose_a", "y = a^T b", "dL/da = b gy^T; dL/db = a gy"};
XGRAD_FORMULA matmul_b_formula{"matmul transpose_b", "y = a b^T", "dL/da = gy b; dL/db = gy^T a"};
XGRAD_FORMULA matmul_ab_formula{"matmul transpose_a transpose_b", "y = a^T b^T", "dL/da = b^T gy^T; dL/db = gy^T a^T"};
Tensor matmul(const Tensor& a, const Tensor& b, const MatmulOptions& options) {
  const MatmulShapes shapes(a.shape(), b.shape(), options, &a, &b);
  const Array y = product(a.value().reshaped(shapes.a), b.value().reshaped(shapes.b), shapes.product, options);
  return record("matmul", y.reshaped(shapes.result),
                wrt(a,
                    [b, options](const Tensor& gy, InputShape to) {
                      const auto [ta, tb] = options;
                      const MatmulShapes shapes(to, b.shape(), options);
                      const Tensor g = reshape(gy, shapes.product), m = reshape(b, shapes.b);
                      return reshape(sum_to(ta ? matmul(m, g, {.transpose_a = tb, .transpose_b = true})
                                               : matmul(g, m, {.transpose_b = !tb}),
                                            shapes.a),
                                     to);
                    }),
                wrt(b,
                    [a, options](const Tensor& gy, InputShape to) {
                      const auto [ta, tb] = options;
                      const MatmulShapes shapes(a.shape(), to, options);
                      // One product over all rows rather than one for each of a's leading axes and then their sum.
                      const bool one = shapes.b.rank() == 2 && !ta;
                      const Tensor m = reshape(a, shapes.a), g = reshape(gy, shapes.product);
                      const Tensor x = one ? rows(m) : m, h = one ? rows(g) : g;
                      return reshape(sum_to(tb ? matmul(h, x, {.transpose_a = true, .transpose_b = ta})
                                               : matmul(x, h, {.transpose_a = !ta}),
                                            shapes.b),
                                     to);
                    }),
                attribute("transpose_a", unless(false, options.transpose_a)),
                attribute("transpose_b", unless(false, options.transpose_b)),
                multiply_adds(y.size(), shapes.a.dim(options.transpose_a ? -2 : -1)));
}

XGRAD_FORMULA linear_formula{"linear", "y = x weight^T[ + bias]",
                             "dL/dx = gy weight; dL/dweight = gy^T x; dL/dbias = sum of gy", OperationKind::product};
Tensor plain::linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  check_linear(x, weight, bias);
  const Tensor y = matmul(x, weight, {.transpose_b = true});
  return bias.defined() ? y + bias : y;
}

Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  check_linear(x, weight, bias);
  const std::int64_t in = weight.dim(1), out = weight.dim(0);
  Array y(joined(leading(x.shape(), 1), {out}));
  if (y.size() > 0) {
    const std::int64_t count = y.size() / out;
    Real* to = y.mutable_data();
    gemm({.m = count,
          .n = out,
          .k = in,
          .bias = bias.defined() ? bias.value().data() : nullptr,
          .rounding = detail::rounding_of_products()},
         {x.value().data(), in, false}, {weight.value().data(), in, true}, to, out);
  }
  auto to_x = wrt(x, [weight](const Tensor& gy) { return matmul(gy, weight); });
  auto to_weight = wrt(weight, [x](const Tensor& gy) { return matmul(rows(gy), rows(x), {.transpose_a = true}); });
  auto to_bias = wrt(bias, [](const Tensor& gy) { return sum(rows(gy), 0); });
  const auto count = multiply_adds(y.size(), in);
  return bias.defined()
             ? record("linear", std::move(y), std::move(to_x), std::move(to_weight), std::move(to_bias), count)
             : record("linear", std::move(y), std::move(to_x), std::move(to_weight), count);
}

Tensor dot(const Tensor& a, const Tensor& b) {
  if (a.rank() != 1 || a.shape() != b.shape())
    fail<ShapeError>("dot", "needs two vectors of one size, got ", a.shape(), " and ", b.shape());
  return matmul(a, b);
}

Tensor outer(const Tensor& a, const Tensor& b) {
  if (a.rank() != 1 || b.rank() != 1)
    fail<ShapeError>("outer", "needs two vectors, got ", a.shape(), " and ", b.shape());
  return unsqueeze(a, 1) * b;
}

}  // namespace xgrad
