// Unit vectors, cosines and distances, composed of norms.
#include "similarity.h"

#include <cmath>

#include "../../core/base/error.h"
#include "../elementwise/arithmetic.h"
#include "../reduce/reduce.h"
#include "../shape/broadcast.h"
#include "linalg.h"

namespace xgrad {
namespace {

void check_p(const char* op, double p) {
  if (std::isnan(p)) fail<ValueError>(op, "p is NaN");
}

void check_eps(const char* op, double eps) {
  if (!(eps > 0)) fail<ValueError>(op, "eps ", eps, " is not positive");
}

// x over its norm, or over eps where that is larger.
Tensor unit_vectors(const Tensor& x, double p, int axis, double eps) {
  const Tensor norm = linalg::vector_norm(x, p, axis, {.keepdim = true});
  return x / maximum(norm, static_cast<Real>(eps));
}

}  // namespace

Tensor normalize(const Tensor& x, double p, int axis, const NormalizeOptions& options) {
  check_p("normalize", p);
  check_eps("normalize", options.eps);
  return unit_vectors(x, p, normalize_axis("normalize", axis, x.rank()), options.eps);
}

Tensor cosine_similarity(const Tensor& a, const Tensor& b, int axis, const CosineSimilarityOptions& options) {
  check_eps("cosine_similarity", options.eps);
  const Shape shape = broadcast_shapes("cosine_similarity", a.shape(), b.shape());
  axis = normalize_axis("cosine_similarity", axis, shape.rank());
  const auto unit = [&](const Tensor& x) { return unit_vectors(broadcast_to(x, shape), 2, axis, options.eps); };
  return sum(unit(a) * unit(b), axis);
}

Tensor pairwise_distance(const Tensor& a, const Tensor& b, const PairwiseDistanceOptions& options) {
  if (broadcast_shapes("pairwise_distance", a.shape(), b.shape()).rank() == 0) {
    fail<ShapeError>("pairwise_distance", "needs vectors along the last axis, got ", a.shape(), " and ", b.shape());
  }
  check_p("pairwise_distance", options.p);
  return linalg::vector_norm(a - b + static_cast<Real>(options.eps), options.p, -1, {.keepdim = options.keepdim});
}

}  // namespace xgrad
