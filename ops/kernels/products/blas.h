// Matrix products by BLAS, and the only access to it.
#pragma once

#include "product.h"

namespace xgrad::detail {

/// The product without its bias, on the calling thread. Throws LimitError for sizes that the BLAS cannot count,
/// std::bad_alloc if it has no memory for its workspace.
void blas_product(const Gemm& p, const Factor& a, const Factor& b, Real* c, std::int64_t c_stride);

}  // namespace xgrad::detail
