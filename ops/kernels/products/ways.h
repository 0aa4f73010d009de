// The ways to compute a matrix product on the calling thread, of which gemm() chooses one.
#pragma once

#include "product.h"

namespace xgrad::detail {

/// Tile by tile in registers. An element of c, here and below, is summed in an order that depends on k alone.
/// `low`: for a few rows of a, with sums of `low_depth` products at a time, so that rows of b are read a long way.
inline constexpr std::int64_t low_depth = 16;
void tile_gemm(const Gemm& p, const Factor& a, const Factor& b, Real* c, std::int64_t c_stride, bool low);

/// A few rows of a by a transposed b, which is read once, in place: a linear layer when a model generates token by
/// token. suits_few_rows: k is long enough for sums in registers.
bool suits_few_rows(const Gemm& p, const Factor& b);
void few_rows_gemm(const Gemm& p, const Factor& a, const Factor& b, Real* c, std::int64_t c_stride);

}  // namespace xgrad::detail
