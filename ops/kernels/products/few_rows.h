// Products of a few rows with the rows of a matrix: a linear layer when a model generates token by token.
#pragma once

#include "product.h"

namespace xgrad::detail {

/// Whether few_rows_gemm is the faster way: b is read once, in place, without a copy.
bool suits_few_rows(const Gemm& p, const Factor& a, const Factor& b);

/// The product on the calling thread, of factors that suit. An element of c is summed in an order that depends on k
/// alone.
void few_rows_gemm(const Gemm& p, const Factor& a, const Factor& b, Real* c, std::int64_t c_stride);

}  // namespace xgrad::detail
