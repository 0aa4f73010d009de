// Shared by operations that take an Index: the checks, and the walk over the named elements.
#pragma once

#include <algorithm>
#include <utility>

#include "../../../core/array/array.h"
#include "../../../core/runtime/parallel.h"
#include "copy.h"
#include "walk.h"

namespace xgrad {

/// Whether all are in [0, size).
inline bool all_within(const Index& index, std::int64_t size) {
  bool within = true;
  for (const std::int64_t i : index) within &= static_cast<std::uint64_t>(i) < static_cast<std::uint64_t>(size);
  return within;
}

/// Throws ValueError for an index outside [0, size): for ids, which are names and do not count from the end.
inline void check_ids(const char* op, const Index& ids, std::int64_t size) {
  if (all_within(ids, size)) return;
  for (const std::int64_t i : ids) {
    if (i < 0 || i >= size) fail<ValueError>(op, "index ", i, " is not in [0, ", size, ")");
  }
}

/// Positions on an axis of this size, negative ones counted from the end. Throws ValueError for one outside
/// [-size, size).
inline Index from_start(const char* op, Index positions, std::int64_t size) {
  if (all_within(positions, size)) return positions;
  std::int64_t* to = positions.mutable_data();
  for (std::int64_t i = 0; i < positions.size(); ++i) {
    if (to[i] < -size || to[i] >= size) fail<ValueError>(op, "index ", to[i], " is not in [", -size, ", ", size, ")");
    if (to[i] < 0) to[i] += size;
  }
  return positions;
}

/// The number of rows of this many elements that one thread moves at a time.
inline std::int64_t grain_for(std::int64_t elements) {
  return std::max<std::int64_t>(1, copy_block / std::max<std::int64_t>(1, elements));
}

/// Makes the index of gather and the like count from 0, and returns the axis, which does, too. Throws ShapeError unless
/// the index has x's rank and is no larger except along the axis, ValueError for an index outside.
inline int check_gather(const char* op, const Shape& x, int axis, Index& index) {
  if (index.rank() != x.rank()) fail<ShapeError>(op, "index of shape ", index.shape(), " for shape ", x);
  axis = normalize_axis(op, axis, x.rank());
  for (int i = 0; i < x.rank(); ++i) {
    if (i != axis && index.shape()[i] > x[i]) {
      fail<ShapeError>(op, "index of shape ", index.shape(), " is larger than ", x, " along axis ", i);
    }
  }
  index = from_start(op, std::move(index), x[axis]);
  return axis;
}

/// Calls f(i, k) for the offsets of all elements of the index, and of those of x that they name. Elements of x are
/// visited in the order of the index; threads divide the positions along the other axes.
void for_each_named(const Shape& x, int axis, const Index& index, const auto& f) {
  constexpr std::int64_t block = 64;
  if (index.size() == 0) return;
  const Strides x_strides = strides_of(x), index_strides = strides_of(index.shape());
  const std::int64_t length = index.shape()[axis], step = index_strides[axis], x_stride = x_strides[axis];
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
        if (x_stride == 1 && step == 1) {  // saves a product for each
          for (std::int64_t i = at[0]; i < at[0] + length; ++i) f(i, at[1] + ids[i]);
        } else {
          for (std::int64_t i = at[0]; i < at[0] + length * step; i += step) f(i, at[1] + ids[i] * x_stride);
        }
        return;
      }
      const std::int64_t width = std::min(block, columns - at[2]);
      for (std::int64_t j = 0; j < length; ++j) {
        const std::int64_t i = at[0] + j * step;
        for (std::int64_t c = 0; c < width; ++c) f(i + c, at[1] + c + ids[i + c] * x_stride);
      }
    });
  });
}

}  // namespace xgrad
