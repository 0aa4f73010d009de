// Products over named axes.
#pragma once

#include <string_view>

#include "../../core/graph/tensor.h"

namespace xgrad {

/// The product of a and b, summed over the last `count` axes of a and the first `count` axes of b, in their order:
///   (I..., K...) (K..., J...) -> (I..., J...)
/// Throws ShapeError when the sizes differ, ValueError unless 0 <= count <= both ranks.
Tensor tensordot(const Tensor& a, const Tensor& b, int count);
/// The product of a and b, summed over axis axes_a[i] of a and axis axes_b[i] of b, for all i. Throws ShapeError when
/// the sizes differ, ValueError for an axis out of range, repeated, or without a partner.
Tensor tensordot(const Tensor& a, const Tensor& b, const Axes& axes_a, const Axes& axes_b);

/// Einstein's summation. `formula` names the axes of every factor by letters and, after an arrow, the axes of the
/// result. The product is summed over letters that the result does not have.
///     einsum("ij,jk->ik", {a, b});         // matrix product
///     einsum("bqd,bkd->bqk", {q, k});      // scores of an attention
///     einsum("ii->", {a});                 // trace: a letter repeated within a factor means the diagonal
///     einsum("...ij->...ji", {a});         // dots stand for any axes, which broadcast
/// Without an arrow the result has the letters that appear only once, in alphabetical order. Factors are multiplied
/// from left to right, each pair by one matmul. Throws ValueError for a malformed formula or a wrong number of factors,
/// ShapeError when the axes of a factor are more or fewer than its letters, or a letter has two sizes.
Tensor einsum(std::string_view formula, const Tensors& factors);

}  // namespace xgrad
