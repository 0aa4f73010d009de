// Matrix products on plain memory.
#pragma once

#include "product.h"

namespace xgrad {

/// Computes the product, with several threads if it is large. Equal bits for any number of threads. Any size may be 0.
/// Thread-safe.
void gemm(const Gemm& p, const Factor& a, const Factor& b, Real* c, std::int64_t c_stride);

}  // namespace xgrad
