// Fourier transforms: two linear maps along the last axis, each the gradient of the other up to weights, since a
// result that also represents its conjugate counts twice.
#include "fft.h"

#include <cmath>

#include "../../core/graph/record.h"
#include "../../core/base/formula.h"
#include "../arrange/shape.h"
#include "../arrange/slice.h"
#include "../elementwise/arithmetic.h"
#include "../kernels/reduce/fft.h"

namespace xgrad::fft {
namespace {

// `inner` for results that represent two, 1 for the others: the first and, for an even n, the last.
Tensor weights(std::int64_t n, Real inner) {
  Array all(Shape{n / 2 + 1, 1}, inner);
  Real* of = all.mutable_data();
  of[0] = 1;
  if (n % 2 == 0) of[n / 2] = 1;
  return all;
}

Tensor back(const Tensor& c, std::int64_t n, Real scale);

XGRAD_FORMULA rfft_formula{"rfft", "y_k = sum_j x_j e^(-2 pi i j k/n)",
                           "dL/dx_j = real part of sum_k gy_k e^(2 pi i j k/n)"};
// x (..., n) -> (..., n/2 + 1, 2)
Tensor forth(const Tensor& x, Real scale) {
  const std::int64_t n = x.shape().back();
  Shape shape = x.shape();
  shape[shape.rank() - 1] = n / 2 + 1;
  shape.push_back(2);
  Array y(shape);
  transform_rows(x.size() / n, n, scale, x.value().data(), y.mutable_data());
  return record("rfft", std::move(y),
                wrt(x, [n, scale](const Tensor& gy) { return back(gy * weights(n, Real(0.5)), n, scale); }),
                told("n", n));
}

XGRAD_FORMULA irfft_formula{"irfft", "y_j = sum_k x_k e^(2 pi i j k/n)/n",
                            "dL/dx_k = w_k sum_j gy_j e^(-2 pi i j k/n)/n"};
// c (..., n/2 + 1, 2) -> (..., n)
Tensor back(const Tensor& c, std::int64_t n, Real scale) {
  Shape shape = c.shape();
  shape.erase(shape.rank() - 1);
  shape[shape.rank() - 1] = n;
  Array x(shape);
  transform_rows_back(x.size() / n, n, scale, c.value().data(), x.mutable_data());
  return record("irfft", std::move(x),
                wrt(c, [n, scale](const Tensor& gy) { return forth(gy, scale) * weights(n, 2); }), told("n", n));
}

// x with `size` positions along the axis: cut off, or zeros behind.
Tensor resized(const Tensor& x, int axis, std::int64_t size) {
  const std::int64_t given = x.shape()[axis];
  if (given >= size) return given == size ? x : narrow(x, axis, 0, size);
  auto paddings = ShortList<Padding>::filled(x.rank(), {});
  paddings[axis].after = size - given;
  return pad(x, paddings);
}

void check_length(const char* op, std::int64_t n) {
  if (n < 1) fail<ValueError>(op, "n ", n, " is not positive");
}

Real scale_of(FftNorm norm, FftNorm divided, std::int64_t n) {
  if (norm == FftNorm::ortho) return static_cast<Real>(1 / std::sqrt(static_cast<double>(n)));
  return norm == divided ? static_cast<Real>(1 / static_cast<double>(n)) : Real(1);
}

}  // namespace

Tensor rfft(const Tensor& x, const RfftOptions& options) {
  const int axis = normalize_axis("rfft", options.axis, x.rank()), last = x.rank() - 1;
  const std::int64_t n = options.n.value_or(x.shape()[axis]);
  check_length("rfft", n);
  const Real scale = scale_of(options.norm, FftNorm::forward, n);
  const Tensor of_n = resized(x, axis, n);
  return axis == last ? forth(of_n, scale) : movedim(forth(movedim(of_n, axis, last), scale), last, axis);
}

Tensor irfft(const Tensor& c, const IrfftOptions& options) {
  if (c.rank() < 2 || c.shape().back() != 2) {
    fail<ShapeError>("irfft", "needs complex numbers (..., m, 2), got ", c.shape());
  }
  const int axis = normalize_axis("irfft", options.axis, c.rank() - 1), last = c.rank() - 2;
  const std::int64_t n = options.n.value_or(2 * (c.shape()[axis] - 1));
  check_length("irfft", n);
  const Real scale = scale_of(options.norm, FftNorm::backward, n);
  const Tensor of_n = resized(c, axis, n / 2 + 1);
  return axis == last ? back(of_n, n, scale) : movedim(back(movedim(of_n, axis, last), n, scale), last, axis);
}

Tensor rfftfreq(std::int64_t n, double d) {
  check_length("rfftfreq", n);
  if (!(std::isfinite(d) && d != 0)) fail<ValueError>("rfftfreq", "d ", d, " is 0 or not finite");
  Array all(Shape{n / 2 + 1});
  Real* f = all.mutable_data();
  for (std::int64_t k = 0; k <= n / 2; ++k)
    f[k] = static_cast<Real>(static_cast<double>(k) / (static_cast<double>(n) * d));
  return all;
}

}  // namespace xgrad::fft
