// Unit vectors, similarities and distances. All broadcast as in numpy; names and defaults are PyTorch's.
#pragma once

#include "../../core/graph/tensor.h"

namespace xgrad {

struct NormalizeOptions {
  double eps = 1e-12;  ///< vectors with a smaller norm are divided by this
};
/// y = x / max(|x|_p, eps), where |x|_p is the norm (linalg::vector_norm) of each vector along the axis. Throws
/// ValueError for an axis out of range, an eps that is not positive, or a p that is NaN.
Tensor normalize(const Tensor& x, double p = 2, int axis = 1, const NormalizeOptions& options = {});

struct CosineSimilarityOptions {
  double eps = 1e-8;  ///< smaller norms are replaced by this
};
/// y = a b / (max(|a|, eps) max(|b|, eps)), the cosine of the angle between vectors along the axis. Throws ShapeError
/// when the shapes do not broadcast, ValueError for an axis out of range or an eps that is not positive.
Tensor cosine_similarity(const Tensor& a, const Tensor& b, int axis = 1, const CosineSimilarityOptions& options = {});

struct PairwiseDistanceOptions {
  double p = 2;          ///< the order of the norm, as in linalg::vector_norm
  double eps = 1e-6;     ///< added to each difference, so that the distance of equal vectors has a gradient
  bool keepdim = false;  ///< whether to keep the last axis, with size 1
};
/// y = |a - b + eps|_p, the distance of vectors along the last axis. Throws ShapeError when the shapes do not
/// broadcast, ValueError for a p that is NaN.
Tensor pairwise_distance(const Tensor& a, const Tensor& b, const PairwiseDistanceOptions& options = {});

}  // namespace xgrad
