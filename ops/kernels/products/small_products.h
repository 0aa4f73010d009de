// Products of small matrices, by a register-blocked loop on copies whose rows are whole packs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "../../../core/array/array.h"
#include "../../../core/base/assert.h"
#include "../registers/multiply_add.h"
#include "packing.h"

namespace xgrad::inline XGRAD_SIMD {

/// The rows of a Matrix from a given one on.
struct MatrixRows {
  Real* data;
  std::int64_t stride_;

  std::int64_t stride() const { return stride_; }
  Real* row(std::int64_t i) const { return data + i * stride_; }
};

/// A matrix whose rows are padded to whole packs, so that they can be read and written without a remainder.
class Matrix {
 public:
  Matrix(std::int64_t rows, std::int64_t columns)
      : rows_(rows), stride_(padded(columns)), elements_(Shape{rows, stride_}), data_(elements_.mutable_data()) {}

  std::int64_t stride() const { return stride_; }
  Real* row(std::int64_t i) { return data_ + i * stride_; }
  const Real* row(std::int64_t i) const { return data_ + i * stride_; }
  MatrixRows rows_from(std::int64_t i) const { return {data_ + i * stride_, stride_}; }
  LeftRows left() const { return {data_, stride_, 1}; }
  LeftRows left_transposed() const { return {data_, 1, stride_}; }
  // Of all rows, the padding included.
  bool finite() const { return all_finite(data_, rows_ * stride_); }

  void fill(Real value) { std::fill_n(data_, rows_ * stride_, value); }
  // Takes `count` rows of `columns` numbers, 0 in the padding; rows without a counterpart become 0.
  void read(const Real* from, std::int64_t row_stride, std::int64_t count, std::int64_t columns) {
    XGRAD_ASSERT(count <= rows_ && columns <= stride_);
    pack_rows(from, row_stride, count, columns, data_, stride_, stride_);
    std::fill(row(count), row(rows_), Real(0));
  }
  // Column i becomes row i of `from`, times `scale`; further columns become 0.
  void read_transposed(const Real* from, std::int64_t row_stride, std::int64_t count, std::int64_t columns,
                       Real scale = 1) {
    XGRAD_ASSERT(columns <= rows_ && count <= stride_);
    pack_transposed(from, row_stride, count, columns, data_, stride_, stride_);
    if (scale == 1) return;
    for (std::int64_t i = 0; i < columns * stride_; i += pack_width) (Pack::load(data_ + i) * scale).store(data_ + i);
  }
  void write(Real* to, std::int64_t row_stride, std::int64_t count, std::int64_t columns) const {
    XGRAD_ASSERT(count <= rows_ && columns <= stride_);
    for (std::int64_t i = 0; i < count; ++i) {
      each_pack(columns,
                [&](std::int64_t j, auto part) { part.store(Pack::load(row(i) + j), to + i * row_stride + j); });
    }
  }

 private:
  std::int64_t rows_, stride_;
  Array elements_;
  Real* data_;
};

/// The range of the inner index and the first column that a group of rows of a product needs.
struct Extent {
  std::int64_t begin, end, first_column;
};
enum class Into { replace, add };

template <int rows, int packs>
void product_block(const LeftRows& a, const Real* b, std::int64_t b_stride, std::int64_t begin, std::int64_t end,
                   Real* c, std::int64_t c_stride, Into into) {
  Pack sum[rows][packs];
  if (into == Into::add) {
    XGRAD_UNROLL
    for (int i = 0; i < rows; ++i) {
      XGRAD_UNROLL
      for (int j = 0; j < packs; ++j) sum[i][j] = Pack::load(c + i * c_stride + j * pack_width);
    }
  }
  multiply_add_block(sum, {a.data + begin * a.depth_stride, a.row_stride, a.depth_stride}, b + begin * b_stride,
                     b_stride, end - begin);
  XGRAD_UNROLL
  for (int i = 0; i < rows; ++i) {
    XGRAD_UNROLL
    for (int j = 0; j < packs; ++j) sum[i][j].store(c + i * c_stride + j * pack_width);
  }
}

/// c = a b or c += a b for the first `rows` rows; `extent(i, j)` is that of rows i ... j - 1.
void product(std::int64_t rows, const LeftRows& a, const MatrixRows& b, const MatrixRows& c, Into into,
             const auto& extent) {
  std::int64_t i = 0;
  const auto take = [&]<int together>(std::integral_constant<int, together>) {
    for (; i + together <= rows; i += together) {
      const Extent part = extent(i, i + together);
      const LeftRows some{a.data + i * a.row_stride, a.row_stride, a.depth_stride};
      std::int64_t j = part.first_column;
      for (; j + 2 * pack_width <= c.stride(); j += 2 * pack_width) {
        product_block<together, 2>(some, b.row(0) + j, b.stride(), part.begin, part.end, c.row(i) + j, c.stride(),
                                   into);
      }
      if (j < c.stride()) {
        product_block<together, 1>(some, b.row(0) + j, b.stride(), part.begin, part.end, c.row(i) + j, c.stride(),
                                   into);
      }
    }
  };
  // Many rows at once: every sum waits for the one before.
  take(std::integral_constant<int, std::min(rows_in_registers<2>, 8)>());
  take(std::integral_constant<int, 4>());
  take(std::integral_constant<int, 2>());
  take(std::integral_constant<int, 1>());
}

/// The same for a left operand of weights or their gradients where b holds infinities or NaN: they are not multiplied
/// by the zeros of a mask.
inline void product_skipping_zeros(std::int64_t rows, std::int64_t depth, const LeftRows& a, const MatrixRows& b,
                                   const MatrixRows& c, Into into) {
  for (std::int64_t i = 0; i < rows; ++i) {
    Real* y = c.row(i);
    if (into == Into::replace) std::fill_n(y, c.stride(), Real(0));
    for (std::int64_t k = 0; k < depth; ++k) {
      const Real factor = a.data[i * a.row_stride + k * a.depth_stride];
      if (factor == 0) continue;
      for (std::int64_t j = 0; j < c.stride(); ++j) y[j] += factor * b.row(k)[j];
    }
  }
}

}  // namespace xgrad::inline XGRAD_SIMD
