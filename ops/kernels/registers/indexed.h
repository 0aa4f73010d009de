// Shared by operations that take an Index: the checks, and the walk over the named elements.
#pragma once

#include <algorithm>

#include "../../../core/array/array.h"
#include "../../../core/runtime/parallel.h"
#include "copy.h"
#include "walk.h"

namespace xgrad {

/// Throws ValueError for an index outside [0, size).
inline void check_indices(const char* op, const Index& index, std::int64_t size) {
  bool bad = false;
  for (const std::int64_t i : index) bad |= static_cast<std::uint64_t>(i) >= static_cast<std::uint64_t>(size);
  if (!bad) return;
  for (const std::int64_t i : index) {
    if (i < 0 || i >= size) fail<ValueError>(op, "index ", i, " is not in [0, ", size, ")");
  }
}

/// The number of rows of this many elements that one thread moves at a time.
inline std::int64_t grain_for(std::int64_t elements) {
  return std::max<std::int64_t>(1, copy_block / std::max<std::int64_t>(1, elements));
}

/// The axis of gather and the like, counted from 0. Throws ShapeError unless the index has x's rank and is no larger
/// except along the axis, ValueError for an index outside.
inline int check_gather(const char* op, const Shape& x, int axis, const Index& index) {
  if (index.rank() != x.rank()) fail<ShapeError>(op, "index of shape ", index.shape(), " for shape ", x);
  axis = normalize_axis(op, axis, x.rank());
  for (int i = 0; i < x.rank(); ++i) {
    if (i != axis && index.shape()[i] > x[i]) {
      fail<ShapeError>(op, "index of shape ", index.shape(), " is larger than ", x, " along axis ", i);
    }
  }
  check_indices(op, index, x[axis]);
  return axis;
}

/// Calls f(i, k) for the offsets of all elements of the index, and of those of x that they name. Elements of x are
/// visited in the order of the index; threads divide the positions along the other axes.
template <class F>
void for_each_named(const Shape& x, int axis, const Index& index, const F& f) {
  constexpr std::int64_t block = 64;
  if (index.size() == 0) return;
  const Strides x_strides = strides_of(x), index_strides = strides_of(index.shape());
  const std::int64_t length = index.shape()[axis], step = index_strides[axis], x_step = x_strides[axis];
  const std::int64_t columns = axis == x.rank() - 1 ? 1 : index.shape().back();
  const std::int64_t blocks = (columns + block - 1) / block;
  Walk<3> walk;  // of the index, of x, and of the columns
  for (int i = 0; i < x.rank() - 1; ++i) {
    if (i != axis) walk.push({index.shape()[i], {index_strides[i], x_strides[i], 0}});
  }
  walk.push({blocks, {block, block, block}});
  const std::int64_t* ids = index.data();
  parallel_for(walk.count(), grain_for(length * std::min(columns, block)), [&](std::int64_t begin, std::int64_t end) {
    walk.for_each(begin, end, [&](const auto& at) {
      if (columns == 1) {
        if (x_step == 1 && step == 1) {  // saves a product for each
          for (std::int64_t i = at[0]; i < at[0] + length; ++i) f(i, at[1] + ids[i]);
        } else {
          for (std::int64_t i = at[0]; i < at[0] + length * step; i += step) f(i, at[1] + ids[i] * x_step);
        }
        return;
      }
      const std::int64_t width = std::min(block, columns - at[2]);
      for (std::int64_t j = 0; j < length; ++j) {
        const std::int64_t i = at[0] + j * step;
        for (std::int64_t c = 0; c < width; ++c) f(i + c, at[1] + c + ids[i + c] * x_step);
      }
    });
  });
}

}  // namespace xgrad
