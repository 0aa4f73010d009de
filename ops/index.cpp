// Choosing by index and by mask. Duals stand next to each other: taking rows and adding them up, gather and
// scatter_add. Sums over equal indices run in the order of the indices, and threads share out what is independent of
// them, so results do not depend on the number of threads.
#include "index.h"

#include <utility>

#include "../core/formula.h"
#include "../core/parallel.h"
#include "../core/record.h"
#include "broadcast.h"
#include "kernels/copy.h"
#include "kernels/loops.h"
#include "shape.h"

namespace xgrad {

namespace {

void check_indices(const char* op, const Index& index, std::int64_t size) {
  bool bad = false;
  for (const std::int64_t i : index) bad |= static_cast<std::uint64_t>(i) >= static_cast<std::uint64_t>(size);
  if (!bad) return;
  for (const std::int64_t i : index) {
    if (i < 0 || i >= size) fail<ValueError>(op, "index ", i, " not in [0, ", size, ")");
  }
}

std::int64_t grain_for(std::int64_t elements) {
  return std::max<std::int64_t>(1, copy_block / std::max<std::int64_t>(1, elements));
}

// ---- whole rows: embedding and index_select, and their dual

// An array seen as (outer, size, inner), of which the rows (i, ids[j]) are meant.
struct Rows {
  Index ids;
  std::int64_t outer = 1, size = 0, inner = 1;
  std::int64_t none = -1;  // an id that stands for zeros

  Rows(const Shape& shape, int axis, Index list) : ids(std::move(list)), size(shape[axis]) {
    for (int i = 0; i < axis; ++i) outer *= shape[i];
    for (int i = axis + 1; i < shape.rank(); ++i) inner *= shape[i];
  }
};

// y_ij = x_i(ids[j])
template <class T>
BasicArray<T> take(const BasicArray<T>& x, const Rows& rows, const Shape& shape) {
  BasicArray<T> result(shape);
  T* out = result.mutable_data();
  const T* in = x.data();
  const std::int64_t* ids = rows.ids.data();
  const std::int64_t count = rows.ids.size(), inner = rows.inner;
  with_row_copy<T>(inner, [&](auto copy_row) {
    parallel_for(rows.outer * count, grain_for(inner), [&](std::int64_t begin, std::int64_t end) {
      const T* plane = in + begin / count * rows.size * inner;
      for (std::int64_t row = begin, j = begin % count; row < end; ++row) {
        if (ids[j] == rows.none) {
          std::fill_n(out + row * inner, inner, T(0));
        } else {
          copy_row(out + row * inner, plane + ids[j] * inner);
        }
        if (++j == count) {
          j = 0;
          plane += rows.size * inner;
        }
      }
    });
  });
  return result;
}

// x_i(ids[j]) = sum of y_ij. Columns are independent of each other, rows are not.
Array add_up(const Array& y, const Rows& rows, const Shape& shape) {
  constexpr std::int64_t block = 64;
  Array result(shape);
  Real* out = result.mutable_data();
  const Real* in = y.data();
  const std::int64_t* ids = rows.ids.data();
  const std::int64_t count = rows.ids.size(), inner = rows.inner, blocks = (inner + block - 1) / block;
  const std::int64_t grain = grain_for((count + rows.size) * std::min(inner, block));
  parallel_for(rows.outer * blocks, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t unit = begin; unit < end; ++unit) {
      const std::int64_t plane = unit / blocks, column = unit % blocks * block, width = std::min(block, inner - column);
      Real* to = out + plane * rows.size * inner + column;
      const Real* from = in + plane * count * inner + column;
      for (std::int64_t i = 0; i < rows.size; ++i) std::fill_n(to + i * inner, width, Real(0));
      for (std::int64_t j = 0; j < count; ++j, from += inner) {
        if (ids[j] == rows.none) continue;
        Real* row = to + ids[j] * inner;
        for (std::int64_t c = 0; c < width; ++c) row[c] += from[c];
      }
    }
  });
  return result;
}

Tensor take_rows(const char* op, const Tensor& x, const Rows& rows, const Shape& shape);

XGRAD_FORMULA add_rows_formula{"add_rows", "y_j = sum of x_i with index_i = j", "dL/dx_i = gy_(index_i)"};
Tensor add_rows(const Tensor& y, const Rows& rows, const Shape& shape) {
  return record("add_rows", add_up(y.value(), rows, shape),
                wrt(y, [rows, to = y.shape()](const Tensor& g) { return take_rows("take_rows", g, rows, to); }),
                told("index", rows.ids));
}

XGRAD_FORMULA take_rows_formula{"take_rows", "y_i = x_(index_i)", "dL/dx_j = sum of gy_i with index_i = j"};
Tensor take_rows(const char* op, const Tensor& x, const Rows& rows, const Shape& shape) {
  return record(op, take(x.value(), rows, shape),
                wrt(x, [rows, to = x.shape()](const Tensor& gy) { return add_rows(gy, rows, to); }),
                told("index", rows.ids));
}

// The axis of index_select, counted from 0.
int selected_axis(const Shape& shape, int axis, const Index& index) {
  axis = normalize_axis("index_select", axis, shape.rank());
  if (index.rank() != 1) fail<ShapeError>("index_select", "the index needs one axis, its shape is ", index.shape());
  check_indices("index_select", index, shape[axis]);
  return axis;
}

Shape with_axis(Shape shape, int axis, std::int64_t size) {
  shape[axis] = size;
  return shape;
}

template <class T>
BasicArray<T> selected(const BasicArray<T>& x, int axis, const Index& index) {
  axis = selected_axis(x.shape(), axis, index);
  return take(x, Rows(x.shape(), axis, index), with_axis(x.shape(), axis, index.size()));
}

}  // namespace

XGRAD_FORMULA embedding_formula{"embedding", "y_i = weight_(ids_i)", "dL/dweight_j = sum of gy_i with ids_i = j"};
Tensor embedding(const Tensor& weight, const Index& ids, const EmbeddingFuncOptions& options) {
  if (weight.rank() != 2) fail<ShapeError>("embedding", "the table needs two axes, its shape is ", weight.shape());
  const std::int64_t size = weight.shape()[0];
  check_indices("embedding", ids, size);
  const std::optional<std::int64_t> padding = options.padding_idx;
  if (padding && (*padding < -size || *padding >= size)) {
    fail<ValueError>("embedding", "padding_idx ", *padding, " not in [", -size, ", ", size, ")");
  }
  Shape shape = ids.shape();
  shape.push_back(weight.shape()[1]);
  Rows rows(weight.shape(), 0, ids);
  Array value = take(weight.value(), rows, shape);
  if (padding) rows.none = *padding < 0 ? *padding + size : *padding;
  return record("embedding", std::move(value),
                wrt(weight, [rows, to = weight.shape()](const Tensor& gy) { return add_rows(gy, rows, to); }),
                told("ids", ids), told("padding_idx", padding));
}

XGRAD_FORMULA index_select_formula{"index_select", "y_i = x_(index_i)", "dL/dx_j = sum of gy_i with index_i = j"};
Tensor index_select(const Tensor& x, int axis, const Index& index) {
  axis = selected_axis(x.shape(), axis, index);
  return take_rows("index_select", x, Rows(x.shape(), axis, index), with_axis(x.shape(), axis, index.size()));
}
Index index_select(const Index& x, int axis, const Index& index) { return selected(x, axis, index); }
Mask index_select(const Mask& x, int axis, const Index& index) { return selected(x, axis, index); }

// ---- single elements: gather and scatter_add

namespace {

int check_gather(const char* op, const Shape& x, int axis, const Index& index) {
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

// Calls f(i, k) for the offsets of all elements of the index, and of those of x that they name. Elements of x are met
// in the order of the index; threads share out the positions along the other axes.
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
      const std::int64_t width = std::min(block, columns - at[2]);
      for (std::int64_t j = 0; j < length; ++j) {
        const std::int64_t i = at[0] + j * step;
        for (std::int64_t c = 0; c < width; ++c) f(i + c, at[1] + c + ids[i + c] * x_step);
      }
    });
  });
}

Array gathered(const Array& x, int axis, const Index& index) {
  Array result(index.shape());
  Real* out = result.mutable_data();
  const Real* in = x.data();
  for_each_named(x.shape(), axis, index, [&](std::int64_t i, std::int64_t k) { out[i] = in[k]; });
  return result;
}

Array scattered(Array sum, int axis, const Index& index, const Array& src) {
  Real* out = sum.mutable_data();
  const Real* in = src.data();
  for_each_named(sum.shape(), axis, index, [&](std::int64_t i, std::int64_t k) { out[k] += in[i]; });
  return sum;
}

// scatter_add to zeros
Tensor scatter(const Shape& shape, int axis, const Index& index, const Tensor& src) {
  return record("scatter_add", scattered(Array(shape, Real(0)), axis, index, src.value()),
                wrt(src, [axis, index](const Tensor& gy) { return gather(gy, axis, index); }), told("axis", axis),
                told("index", index));
}

}  // namespace

XGRAD_FORMULA gather_formula{"gather", "y_i = x_(index_i) along the axis", "dL/dx_j = sum of gy_i with index_i = j"};
Tensor gather(const Tensor& x, int axis, const Index& index) {
  axis = check_gather("gather", x.shape(), axis, index);
  return record("gather", gathered(x.value(), axis, index),
                wrt(x, [axis, index, to = x.shape()](const Tensor& gy) { return scatter(to, axis, index, gy); }),
                told("axis", axis), told("index", index));
}

XGRAD_FORMULA scatter_add_formula{"scatter_add", "y_j = x_j + sum of src_i with index_i = j",
                                  "dL/dx = gy; dL/dsrc_i = gy_(index_i)"};
Tensor scatter_add(const Tensor& x, int axis, const Index& index, const Tensor& src) {
  axis = check_gather("scatter_add", x.shape(), axis, index);
  if (src.shape() != index.shape()) {
    fail<ShapeError>("scatter_add", "index of shape ", index.shape(), " for a source of shape ", src.shape());
  }
  return record("scatter_add", scattered(x.value(), axis, index, src.value()),
                wrt(x, [](const Tensor& gy) { return gy; }),
                wrt(src, [axis, index](const Tensor& gy) { return gather(gy, axis, index); }), told("axis", axis),
                told("index", index));
}

Array one_hot(const Index& index, std::int64_t classes) {
  if (classes < 0) fail<ValueError>("one_hot", "negative number of classes ", classes);
  check_indices("one_hot", index, classes);
  Shape shape = index.shape();
  shape.push_back(classes);
  Array result(shape, Real(0));
  Real* out = result.mutable_data();
  for (std::int64_t i = 0; i < index.size(); ++i) out[i * classes + index.data()[i]] = 1;
  return result;
}

// ---- masks

namespace {

void check_mask(const char* op, const Tensor& x, const Mask& mask) {
  if (!broadcasts_to(mask.shape(), x.shape())) {
    fail<ShapeError>(op, "mask of shape ", mask.shape(), " for shape ", x.shape());
  }
}

}  // namespace

XGRAD_FORMULA masked_fill_formula{"masked_fill", "y = value where the mask is true, else x",
                                  "dL/dx = 0 where it is true, else gy"};
Tensor masked_fill(const Tensor& x, const Mask& mask, Real value) {
  check_mask("masked_fill", x, mask);
  return record("masked_fill",
                map_elements<Real>(
                    x.shape(), [value](Real v, bool masked) { return masked ? value : v; }, x.value(), mask),
                wrt(x, [mask](const Tensor& gy) { return masked_fill(gy, mask, 0); }), told("mask", mask),
                told("value", value));
}

Tensor masked_select(const Tensor& x, const Mask& mask) {
  check_mask("masked_select", x, mask);
  return index_select(reshape(x, {-1}), 0, flatnonzero(broadcast_to(mask, x.shape())));
}

Index flatnonzero(const Mask& mask) {
  Index result(Shape{std::count(mask.begin(), mask.end(), true)});
  std::int64_t* out = result.mutable_data();
  for (std::int64_t i = 0; i < mask.size(); ++i) {
    if (mask.data()[i]) *out++ = i;
  }
  return result;
}

}  // namespace xgrad
