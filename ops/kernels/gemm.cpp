// Products are cut into pieces for the threads; each piece goes to the register tiles or to the BLAS.
#include "gemm.h"

#include <algorithm>

#include "../../core/parallel.h"
#include "blas.h"
#include "tiles.h"

namespace xgrad {
namespace {

// c = keep c + bias
void start_rows(const Gemm& p, Real* c, std::int64_t c_stride) {
  for (std::int64_t i = 0; i < p.m; ++i) {
    Real* row = c + i * c_stride;
    for (std::int64_t j = 0; j < p.n; ++j) row[j] = (p.bias ? p.bias[j] : 0) + (p.keep == 0 ? 0 : p.keep * row[j]);
  }
}

void serial_gemm(Gemm p, const Factor& a, const Factor& b, Real* c, std::int64_t c_stride, bool tiles) {
  if (tiles) return detail::tile_gemm(p, a, b, c, c_stride);
  if (p.bias) {
    start_rows(p, c, c_stride);
    p.keep = 1;
  }
  detail::blas_product(p, a, b, c, c_stride);
}

// Into how many pieces a product is cut, along the longer side of c. A BLAS may give other bits for other pieces, so
// their number must not depend on the number of threads. Tiles give the same bits; but each piece copies the other
// factor anew, so there are no more of them than threads.
std::int64_t pieces(const Gemm& p, bool tiles) {
  constexpr std::int64_t least = 1 << 18, most_for_blas = 8;
  return std::min<std::int64_t>(tiles ? threads() : most_for_blas, p.m * p.n * p.k / least);
}

}  // namespace

void gemm(const Gemm& p, const Factor& a, const Factor& b, Real* c, std::int64_t c_stride) {
  if (p.m == 0 || p.n == 0) return;
  if (p.k == 0) return start_rows(p, c, c_stride);
  const bool tiles = detail::suits_tiles(p);
  const bool by_rows = p.m >= p.n;
  const std::int64_t side = by_rows ? p.m : p.n;
  const std::int64_t piece = (side / std::max<std::int64_t>(1, pieces(p, tiles)) + 31) / 32 * 32;
  parallel_for(side, piece, [&](std::int64_t begin, std::int64_t end) {
    Gemm part = p;
    Factor from_a = a, from_b = b;
    if (by_rows) {
      part.m = end - begin;
      from_a.data += begin * (a.transposed ? 1 : a.stride);
    } else {
      part.n = end - begin;
      from_b.data += begin * (b.transposed ? b.stride : 1);
      if (p.bias) part.bias += begin;
    }
    serial_gemm(part, from_a, from_b, c + begin * (by_rows ? c_stride : 1), c_stride, tiles);
  });
}

}  // namespace xgrad
