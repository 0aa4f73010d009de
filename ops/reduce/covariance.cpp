// Covariances as a product of deviations, composed, so that there are gradients of any order.
#include "covariance.h"

#include <algorithm>
#include <cmath>

#include "../arrange/create.h"
#include "../arrange/shape.h"
#include "../elementwise/arithmetic.h"
#include "../elementwise/elementwise.h"
#include "../products/linalg.h"
#include "../products/matmul.h"
#include "reduce.h"

namespace xgrad {
namespace {

// Throws unless there is a weight for each of the n observations and none is negative.
void check_weights(const char* op, const char* name, const Tensor& weights, std::int64_t n) {
  if (weights.shape() != Shape{n}) {
    fail<ShapeError>(op, name, " has shape ", weights.shape(), "; needs one weight for each of ", n, " observations");
  }
  for (std::int64_t i = 0; i < n; ++i) {
    const Real weight = weights.value().data()[i];
    if (!(weight >= 0)) fail<ValueError>(op, name, " has ", weight, " at ", i, "; needs weights of 0 or more");
  }
}

// The covariances (m, m) of `op`'s argument.
Tensor covariances(const char* op, const Tensor& x, const CovOptions& options) {
  if (x.rank() > 2) fail<ShapeError>(op, "needs variables (m, n) or one (n), got shape ", x.shape());
  const Tensor rows = x.rank() == 2 ? x : reshape(x, {1, x.size()});
  const std::int64_t n = rows.dim(1);
  Tensor weights = ones({n});
  if (options.fweights) {
    weights = to_real(*options.fweights);
    check_weights(op, "fweights", weights, n);
  }
  const Tensor& aweights = options.aweights;
  if (aweights.defined()) {
    check_weights(op, "aweights", aweights, n);
    weights = weights * aweights;
  }
  const Tensor total = sum(weights);
  if (!(total.item() > 0) || std::isinf(total.item())) {
    fail<ValueError>(op, "the weights of ", n, " observations have the sum ", total.item());
  }
  const Tensor taken = aweights.defined() ? sum(weights * aweights) / total : Tensor(1);
  const Tensor correction = static_cast<Real>(options.correction) * taken;
  const Tensor freedom = total - correction;
  if (!(freedom.item() > 0)) {
    fail<ValueError>(op, "the sum of the weights, ", total.item(), ", does not exceed the correction, ",
                     correction.item());
  }
  const bool weighted = options.fweights || aweights.defined();
  const auto in_all = [&](const Tensor& numbers) { return weighted ? numbers * weights : numbers; };
  const Tensor deviations = rows - sum(in_all(rows), {.axis = 1, .keepdim = true}) / total;
  return matmul(in_all(deviations), deviations, {.transpose_b = true}) / freedom;
}

// The matrix of a single variable as a scalar.
Tensor without_axes_of_one(const Tensor& matrix) { return matrix.size() == 1 ? reshape(matrix, {}) : matrix; }

void check_varies(const Tensor& x, const Tensor& variance) {
  const std::int64_t n = variance.size() == 0 ? 0 : x.size() / variance.size();
  for (std::int64_t i = 0; i < variance.size(); ++i) {
    const Real* row = x.value().data() + i * n;
    // Rounding may leave a variance above 0 where all numbers are the same.
    if (variance.value().data()[i] == 0 || std::all_of(row, row + n, [&](Real value) { return value == row[0]; })) {
      fail<ValueError>("corrcoef", "variable ", i, " does not vary; needs each to have a variance");
    }
  }
}

}  // namespace

Tensor cov(const Tensor& x, const CovOptions& options) { return without_axes_of_one(covariances("cov", x, options)); }

Tensor corrcoef(const Tensor& x) {
  const Tensor c = covariances("corrcoef", x, {}), variance = diagonal(c);
  check_varies(x, variance);
  const Tensor deviation = sqrt(variance);
  const Tensor r = c / unsqueeze(deviation, 1) / unsqueeze(deviation, 0);
  return without_axes_of_one(clamp(r, {.min = -1, .max = 1}));
}

}  // namespace xgrad
