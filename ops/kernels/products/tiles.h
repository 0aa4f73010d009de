// Matrix products tile by tile in registers.
#pragma once

#include "product.h"

namespace xgrad::detail {

/// Whether tile_gemm is the faster way: for a few rows or columns a BLAS is, which then reads a factor only once.
bool suits_tiles(const Gemm& p);

/// The product on the calling thread. An element of c is summed in an order that depends on k alone: it has the same
/// bits whichever part of c is computed with it.
void tile_gemm(const Gemm& p, const Factor& a, const Factor& b, Real* c, std::int64_t c_stride);

}  // namespace xgrad::detail
