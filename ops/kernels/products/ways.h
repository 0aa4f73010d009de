// The ways to compute a matrix product on the calling thread, of which gemm() chooses one.
#pragma once

#include "product.h"

namespace xgrad::detail {

/// By BLAS, without the bias; the only access to it. Throws LimitError for sizes that the BLAS cannot count,
/// std::bad_alloc if it has no memory for its workspace.
void blas_product(const Gemm& p, const Factor& a, const Factor& b, Real* c, std::int64_t c_stride);

/// Tile by tile in registers; suits_tiles: not for a few rows or columns, where a BLAS reads a factor only once. Here
/// and below an element of c is summed in an order that depends on k alone.
bool suits_tiles(const Gemm& p);
void tile_gemm(const Gemm& p, const Factor& a, const Factor& b, Real* c, std::int64_t c_stride);

/// A few rows of a by a transposed b, which is read once, in place: a linear layer when a model generates token by
/// token.
bool suits_few_rows(const Gemm& p, const Factor& a, const Factor& b);
void few_rows_gemm(const Gemm& p, const Factor& a, const Factor& b, Real* c, std::int64_t c_stride);

}  // namespace xgrad::detail
