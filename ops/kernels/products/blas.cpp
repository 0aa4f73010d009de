// Uses cxxblas::gemm of xtensor-blas. The product of its containers, xt::blas::gemm, has no leading dimension: neither
// the heads of an attention nor blocks of rows could be multiplied in place, and it copies other layouts.
#include "ways.h"

#include <algorithm>
#include <limits>

#include <xtensor-blas/xblas.hpp>

#include "../../../core/base/error.h"
#include "../../../core/runtime/blas.h"

namespace xgrad {
namespace {

int narrow(std::int64_t size) {
  if (size > std::numeric_limits<int>::max())
    fail<LimitError>("matmul", "size ", size, " is beyond what BLAS can count");
  return static_cast<int>(size);
}

cxxblas::Transpose side_of(const Factor& factor) { return factor.transposed ? cxxblas::Trans : cxxblas::NoTrans; }

// BLAS demands strides of at least 1, also where there is one row only.
int stride_of(std::int64_t stride) { return narrow(std::max<std::int64_t>(stride, 1)); }

}  // namespace

void detail::blas_product(const Gemm& p, const Factor& a, const Factor& b, Real* c, std::int64_t c_stride) {
  prepare_blas();
  cxxblas::gemm(cxxblas::RowMajor, side_of(a), side_of(b), narrow(p.m), narrow(p.n), narrow(p.k), p.scale, a.data,
                stride_of(a.stride), b.data, stride_of(b.stride), p.keep, c, stride_of(c_stride));
}

}  // namespace xgrad
