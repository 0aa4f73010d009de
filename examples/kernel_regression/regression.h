// The data, and three ways to predict from observations: all with equal weight, or near ones with more.
#pragma once

#include <algorithm>

#include <xgrad/xgrad.h>

namespace kernel_regression {

using namespace xgrad;

/// The function to be learned: f(x) = 2 sin x + x^0.8.
inline Tensor truth(const Tensor& x) { return 2 * sin(x) + pow(x, 0.8); }

/// Places and values, each (1, n, 1): one batch of n positions of width 1, as attention has it.
struct Samples {
  Tensor x, y;
};

/// n places in [0, 5), ascending, with noise of deviation 0.5 on the values.
inline Samples observed(std::int64_t n) {
  Array places = (rand({1, n, 1}) * 5).value();
  std::sort(places.mutable_data(), places.mutable_data() + n);
  const Tensor x = places;
  return {.x = x, .y = truth(x) + randn({1, n, 1}) * Real(0.5)};
}

/// n places 5/n apart from 0 on, without noise.
inline Samples asked(std::int64_t n) {
  const Tensor x = reshape(to_real(arange(n)) * (Real(5) / n), {1, n, 1});
  return {.x = x, .y = truth(x)};
}

/// f(x) = mean of y_i: attention whose weights are all 1/n.
inline Tensor average_weights(const Tensor& queries, const Tensor& keys) {
  return full({1, queries.dim(1), keys.dim(1)}, Real(1) / keys.dim(1));
}

/// f(x) = sum_i softmax_i(-(w (x - x_i))^2 / 2) y_i (Nadaraya and Watson 1964), with w = 1 or learned: attention whose
/// scores are high where queries and keys are near each other. Masked keys are ignored.
inline Tensor kernel_weights(const Tensor& queries, const Tensor& keys, const Tensor& w,
                             const Mask& masked = Mask(Shape{}, false)) {
  const Tensor distances = w * (queries - transpose(keys));  // (1, m, 1) - (1, 1, n) -> (1, m, n)
  return masked_softmax(square(distances) / -2, masked);
}

/// Every sample predicted from all the others: alone it would always find itself.      (1, n, 1)
inline Tensor predicted_from_others(const Samples& seen, const Tensor& w) {
  const Mask itself = eye(seen.x.dim(1)) == ones({1});
  return matmul(kernel_weights(seen.x, seen.x, w, itself), seen.y);
}

/// How rough a curve (1, n, 1) is: the mean square of its second differences.
inline Real roughness(const Tensor& y) {
  const Tensor slope = y[{_, slice(1, none)}] - y[{_, slice(0, -1)}];
  return mean(square(slope[{_, slice(1, none)}] - slope[{_, slice(0, -1)}])).item();
}

/// How sharp weights (1, n, m) are: the largest of a query, on average.
inline Real sharpness(const Tensor& weights) { return mean(max(weights, Axes{-1})).item(); }

}  // namespace kernel_regression
