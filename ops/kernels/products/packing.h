// Copies of the factors of products as the multiply-add block wants them: rows of whole packs.
#pragma once

#include "../registers/rows.h"
#include "../registers/transpose.h"
#include "product.h"

namespace xgrad::inline XGRAD_SIMD {

/// Copies rows of `columns` elements to rows that are `to_columns` wide, full packs, padded with 0.
inline void pack_rows(const Real* from, std::int64_t from_stride, std::int64_t rows, std::int64_t columns, Real* to,
                      std::int64_t to_stride, std::int64_t to_columns) {
  for (std::int64_t i = 0; i < rows; ++i, from += from_stride, to += to_stride) {
    each_pack(columns, [&](std::int64_t j, auto part) { part.load(from + j).store(to + j); });
    for (std::int64_t j = padded(columns); j < to_columns; j += pack_width) Pack().store(to + j);
  }
}

/// Copies `count` rows of `length` elements transposed, to rows that are `to_columns` wide, padded with 0.
inline void pack_transposed(const Real* from, std::int64_t from_stride, std::int64_t count, std::int64_t length,
                            Real* to, std::int64_t to_stride, std::int64_t to_columns) {
  const std::int64_t squares = length / pack_width * pack_width;
  for (std::int64_t i = 0; i < to_columns; i += pack_width) {
    const bool full = i + pack_width <= count;
    for (std::int64_t j = 0; full && j < squares; j += pack_width) {
      transpose_tile(to + j * to_stride + i, to_stride, from + i * from_stride + j, from_stride);
    }
    for (std::int64_t j = full ? squares : 0; j < length; ++j) {
      for (std::int64_t k = i; k < i + pack_width; ++k)
        to[j * to_stride + k] = k < count ? from[k * from_stride + j] : 0;
    }
  }
}

/// Rows k ... k + depth - 1 and `columns` columns from j on of b, as rows of `width` filled up with zeros.
template <std::int64_t width>
void pack_panel(const Factor& b, std::int64_t k, std::int64_t depth, std::int64_t j, std::int64_t columns, Real* to) {
  if (b.transposed) {
    pack_transposed(b.data + j * b.stride + k, b.stride, columns, depth, to, width, width);
  } else {
    pack_rows(b.data + k * b.stride + j, b.stride, depth, columns, to, width, width);
  }
}

}  // namespace xgrad::inline XGRAD_SIMD
