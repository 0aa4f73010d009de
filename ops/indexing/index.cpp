// Choosing by index and by mask. Duals stand next to each other: taking rows and adding them up, gather and
// scatter_add. Sums over equal indices run in the order of the indices, and threads divide only independent work, so
// results do not depend on the number of threads.
#include "index.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "../../core/array/shape_hints.h"
#include "../../core/base/assert.h"
#include "../../core/base/error.h"
#include "../../core/base/formula.h"
#include "../../core/graph/record.h"
#include "../../core/runtime/parallel.h"
#include "../elementwise/compare.h"
#include "../kernels/registers/copy.h"
#include "../kernels/registers/indexed.h"
#include "../kernels/registers/loops.h"
#include "../shape/broadcast.h"
#include "../shape/shape.h"
#include "axis.h"

namespace xgrad {

namespace {

// ---- whole rows: embedding and index_select, and their dual

// The rows (i, ids[j]) of an array seen as (outer, size, inner).
struct ChosenRows {
  Index ids;
  int axis;
  std::int64_t outer = 1, size = 0, inner = 1;
  std::int64_t none = -1;  // an id that stands for zeros

  ChosenRows(const Shape& shape, int of_axis, Index list) : ids(std::move(list)), axis(of_axis), size(shape[axis]) {
    for (int i = 0; i < axis; ++i) outer *= shape[i];
    for (int i = axis + 1; i < shape.rank(); ++i) inner *= shape[i];
  }
};

// y_ij = x_i(ids[j])
template <class T>
BasicArray<T> take(const BasicArray<T>& x, const ChosenRows& rows, const Shape& shape) {
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

// Sums of at least this many terms run in double: as a sum grows, its rounding loses more and more of each term.
constexpr std::int64_t long_sum = 1 << 12;

// Whether an id occurs that often.
bool has_long_sum(const ChosenRows& rows) {
  if (rows.ids.size() < long_sum) return false;
  std::vector<std::int64_t> counts(static_cast<std::size_t>(rows.size), 0);
  for (const std::int64_t id : rows.ids) counts[static_cast<std::size_t>(id)] += id != rows.none;
  return std::ranges::max(counts) >= long_sum;
}

// sums_i(ids[j]) += y_ij. Columns are independent of each other, rows are not.
void add_up(const Array& y, const ChosenRows& rows, Array& sums) {
  constexpr std::int64_t block = 64;
  Real* out = sums.mutable_data();
  const Real* in = y.data();
  const std::int64_t* ids = rows.ids.data();
  const std::int64_t count = rows.ids.size(), inner = rows.inner, blocks = (inner + block - 1) / block;
  const std::int64_t grain = grain_for((count + rows.size) * std::min(inner, block));
  const bool in_double = sizeof(Real) < sizeof(double) && has_long_sum(rows);
  parallel_for(rows.outer * blocks, grain, [&](std::int64_t begin, std::int64_t end) {
    std::vector<double, PoolAllocator<double>> wide;
    for (std::int64_t unit = begin; unit < end; ++unit) {
      const std::int64_t plane = unit / blocks, column = unit % blocks * block, width = std::min(block, inner - column);
      Real* to = out + plane * rows.size * inner + column;
      const Real* from = in + plane * count * inner + column;
      const auto add = [&](auto* row_0, std::int64_t step) {
        for (std::int64_t j = 0; j < count; ++j) {
          if (ids[j] == rows.none) continue;
          auto* row = row_0 + ids[j] * step;
          const Real* terms = from + j * inner;
          for (std::int64_t c = 0; c < width; ++c) row[c] += terms[c];
        }
      };
      if (!in_double) {
        add(to, inner);
        continue;
      }
      wide.resize(static_cast<std::size_t>(rows.size * width));
      for (std::int64_t i = 0; i < rows.size; ++i) std::copy_n(to + i * inner, width, wide.data() + i * width);
      add(wide.data(), width);
      for (std::int64_t i = 0; i < rows.size; ++i) {
        std::transform(wide.data() + i * width, wide.data() + (i + 1) * width, to + i * inner,
                       [](double sum) { return static_cast<Real>(sum); });
      }
    }
  });
}

Tensor take_rows(const char* op, const Tensor& x, const ChosenRows& rows, const Shape& shape);

XGRAD_FORMULA add_rows_formula{"add_rows", "y_j = sum of x_i with index_i = j", "dL/dx_i = gy_(index_i)"};
Tensor add_rows(const Tensor& y, const ChosenRows& rows, const Shape& shape) {
  Array sums(shape, Real(0));
  add_up(y.value(), rows, sums);
  return record("add_rows", std::move(sums),
                wrt(y, [rows, to = y.shape()](const Tensor& g) { return take_rows("take_rows", g, rows, to); }),
                attribute("axis", rows.axis), attribute("index", rows.ids),
                attribute("padding_idx", unless(-1, rows.none)));
}

XGRAD_FORMULA take_rows_formula{"take_rows", "y_i = x_(index_i)", "dL/dx_j = sum of gy_i with index_i = j"};
Tensor take_rows(const char* op, const Tensor& x, const ChosenRows& rows, const Shape& shape) {
  return record(op, take(x.value(), rows, shape),
                wrt(x, [rows, to = x.shape()](const Tensor& gy) { return add_rows(gy, rows, to); }),
                attribute("axis", rows.axis), attribute("index", rows.ids),
                attribute("padding_idx", unless(-1, rows.none)));
}

// The rows of index_select and the like; makes the axis count from 0.
ChosenRows rows_of(const char* op, const Shape& shape, int& axis, const Index& index) {
  axis = normalize_axis(op, axis, shape.rank());
  if (index.rank() != 1) fail<ShapeError>(op, "the index needs one axis, its shape is ", index.shape());
  return ChosenRows(shape, axis, from_start(op, index, shape[axis]));
}

Shape with_axis(Shape shape, int axis, std::int64_t size) {
  shape[axis] = size;
  return shape;
}

template <class T>
BasicArray<T> selected(const BasicArray<T>& x, int axis, const Index& index) {
  const ChosenRows rows = rows_of("index_select", x.shape(), axis, index);
  return take(x, rows, with_axis(x.shape(), axis, index.size()));
}

}  // namespace

Array rows_along(const Array& x, int axis, const Index& positions) {
  return take(x, ChosenRows(x.shape(), axis, positions), with_axis(x.shape(), axis, positions.size()));
}
Tensor added_rows_along(const Tensor& x, int axis, const Index& positions, const Shape& shape) {
  return add_rows(x, ChosenRows(shape, axis, positions), shape);
}

XGRAD_FORMULA embedding_formula{"embedding", "y_i = weight_(ids_i)", "dL/dweight_j = sum of gy_i with ids_i = j"};
Tensor embedding(const Tensor& weight, const Index& ids, const EmbeddingFuncOptions& options) {
  if (weight.rank() != 2) fail<ShapeError>("embedding", "the table needs two axes, its shape is ", weight.shape());
  const std::int64_t size = weight.shape()[0];
  check_ids("embedding", ids, size);
  const std::optional<std::int64_t> padding = options.padding_idx;
  if (padding && (*padding < -size || *padding >= size)) {
    fail<ValueError>("embedding", "padding_idx ", *padding, " is not in [", -size, ", ", size, ")");
  }
  ChosenRows rows(weight.shape(), 0, ids);
  Array value = take(weight.value(), rows, joined(ids.shape(), {weight.shape()[1]}));
  if (padding) rows.none = *padding < 0 ? *padding + size : *padding;
  return record("embedding", std::move(value),
                wrt(weight, [rows, to = weight.shape()](const Tensor& gy) { return add_rows(gy, rows, to); }),
                attribute("ids", ids), attribute("padding_idx", padding));
}

XGRAD_FORMULA index_select_formula{"index_select", "y_i = x_(index_i)", "dL/dx_j = sum of gy_i with index_i = j"};
Tensor index_select(const Tensor& x, int axis, const Index& index) {
  const ChosenRows rows = rows_of("index_select", x.shape(), axis, index);
  return take_rows("index_select", x, rows, with_axis(x.shape(), axis, index.size()));
}
Index index_select(const Index& x, int axis, const Index& index) { return selected(x, axis, index); }
Mask index_select(const Mask& x, int axis, const Index& index) { return selected(x, axis, index); }

XGRAD_FORMULA index_add_formula{"index_add", "y_j = x_j + sum of src_i with index_i = j",
                                "dL/dx = gy; dL/dsrc_i = gy_(index_i)"};
Tensor index_add(const Tensor& x, int axis, const Index& index, const Tensor& src) {
  const ChosenRows rows = rows_of("index_add", x.shape(), axis, index);
  const Shape expected = with_axis(x.shape(), axis, index.size());
  if (src.shape() != expected) {
    fail<ShapeError>("index_add", "a source of shape ", src.shape(), " for ", index.size(), " positions of axis ", axis,
                     " of ", x.shape());
  }
  Array sums = x.value();
  add_up(src.value(), rows, sums);
  return record("index_add", std::move(sums), wrt(x, [](const Tensor& gy) { return gy; }),
                wrt(src, [rows, expected](const Tensor& gy) { return take_rows("take_rows", gy, rows, expected); }),
                attribute("axis", axis), attribute("index", index));
}

Tensor repeat_interleave(const Tensor& x, const Index& counts, int axis) {
  axis = normalize_axis("repeat_interleave", axis, x.rank());
  if (counts.shape() != Shape{x.shape()[axis]}) {
    fail<ShapeError>("repeat_interleave", "counts of shape ", counts.shape(), " for axis ", axis, " of ", x.shape());
  }
  std::int64_t total = 0;
  for (const std::int64_t count : counts) {
    if (count < 0) fail<ValueError>("repeat_interleave", "negative count ", count);
    total = checked_add("repeat_interleave", total, count);
  }
  Index positions(Shape{total});
  std::int64_t* to = positions.mutable_data();
  for (std::int64_t i = 0; i < counts.size(); ++i) to = std::fill_n(to, counts.data()[i], i);
  return chosen_rows_along("repeat_interleave", x, x.shape(), axis, positions, with_axis(x.shape(), axis, total),
                           attribute("axis", axis), attribute("counts", counts));
}

// ---- single elements: gather, scatter and scatter_add

namespace {

Array scattered(Array sum, int axis, const Index& index, const Array& src) {
  Real* out = sum.mutable_data();
  const Real* in = src.data();
  const auto add_to = [&](auto* to) {
    for_each_named(sum.shape(), axis, index, [&](std::int64_t i, std::int64_t k) { to[k] += in[i]; });
  };
  if (sizeof(Real) < sizeof(double) && index.shape()[axis] >= long_sum) {
    std::vector<double, PoolAllocator<double>> wide(sum.begin(), sum.end());
    add_to(wide.data());
    std::ranges::transform(wide, out, [](double each) { return static_cast<Real>(each); });
  } else {
    add_to(out);
  }
  return sum;
}

void check_source(const char* op, const Index& index, const Tensor& src) {
  if (src.shape() == index.shape()) return;
  fail<ShapeError>(op, "index of shape ", index.shape(), " for a source of shape ", src.shape());
}

Tensor gathered(const Tensor& x, int axis, const Index& positions) {
  return record(
      "gather", taken_along(x.value(), axis, positions),
      wrt(x, [axis, positions](const Tensor& gy, InputShape to) { return added_along(gy, axis, positions, to); }),
      attribute("axis", axis), attribute("index", positions));
}

}  // namespace

Array taken_along(const Array& x, int axis, const Index& positions) {
  XGRAD_ASSERT(x.rank() == 0 || all_within(positions, x.shape()[axis]));
  Array result(positions.shape());
  Real* out = result.mutable_data();
  const Real* in = x.data();
  for_each_named(x.shape(), axis, positions, [&](std::int64_t i, std::int64_t k) { out[i] = in[k]; });
  return result;
}

Tensor added_along(const Tensor& x, int axis, const Index& positions, const Shape& shape) {
  return record("scatter_add", scattered(Array(shape, Real(0)), axis, positions, x.value()),
                wrt(x, [axis, positions](const Tensor& gy) { return gathered(gy, axis, positions); }),
                attribute("axis", axis), attribute("index", positions));
}

XGRAD_FORMULA gather_formula{"gather", "y_i = x_(index_i) along the axis", "dL/dx_j = sum of gy_i with index_i = j"};
Tensor gather(const Tensor& x, int axis, const Index& given) {
  Index index = given;
  axis = check_gather("gather", x.shape(), axis, index);
  return gathered(x, axis, index);
}

XGRAD_FORMULA scatter_add_formula{"scatter_add", "y_j = x_j + sum of src_i with index_i = j",
                                  "dL/dx = gy; dL/dsrc_i = gy_(index_i)"};
Tensor scatter_add(const Tensor& x, int axis, const Index& given, const Tensor& src) {
  Index index = given;
  axis = check_gather("scatter_add", x.shape(), axis, index);
  check_source("scatter_add", index, src);
  return record("scatter_add", scattered(x.value(), axis, index, src.value()),
                wrt(x, [](const Tensor& gy) { return gy; }),
                wrt(src, [axis, index](const Tensor& gy) { return gather(gy, axis, index); }), attribute("axis", axis),
                attribute("index", index));
}

namespace {

// x with values written at the elements that the index names; `value(i)` belongs to element i of the index.
template <class T, class F>
BasicArray<T> written(BasicArray<T> x, int axis, const Index& index, const F& value) {
  T* out = x.mutable_data();
  for_each_named(x.shape(), axis, index, [&](std::int64_t i, std::int64_t k) { out[k] = value(i); });
  return x;
}

// True for elements of the index whose value is overwritten by a later one.
Mask written_over(const Shape& shape, int axis, const Index& index) {
  const Index owner =
      written(Index(shape), axis, index, [](std::int64_t i) { return i; });  // other elements are not read
  Mask over(index.shape());
  for_each_named(
      shape, axis, index,
      [out = over.mutable_data(), owners = owner.data()](std::int64_t i, std::int64_t k) { out[i] = owners[k] != i; });
  return over;
}

}  // namespace

XGRAD_FORMULA scatter_formula{"scatter", "y = x, but y_j = src_i where index_i = j",
                              "dL/dx = gy, 0 where written; dL/dsrc_i = gy_(index_i), 0 if written over"};
Tensor scatter(const Tensor& x, int axis, const Index& given, const Tensor& src) {
  Index index = given;
  axis = check_gather("scatter", x.shape(), axis, index);
  check_source("scatter", index, src);
  Array value = written(x.value(), axis, index, [in = src.value().data()](std::int64_t i) { return in[i]; });
  return record("scatter", std::move(value),
                wrt(x, [axis, index](const Tensor& gy) { return scatter(gy, axis, index, 0); }),
                wrt(src,
                    [axis, index](const Tensor& gy) {
                      return masked_fill(gather(gy, axis, index), written_over(gy.shape(), axis, index), 0);
                    }),
                attribute("axis", axis), attribute("index", index));
}

Tensor scatter(const Tensor& x, int axis, const Index& given, Real value) {
  Index index = given;
  axis = check_gather("scatter", x.shape(), axis, index);
  return record("scatter", written(x.value(), axis, index, [value](std::int64_t) { return value; }),
                wrt(x, [axis, index](const Tensor& gy) { return scatter(gy, axis, index, 0); }),
                attribute("axis", axis), attribute("index", index), attribute("value", value));
}

Tensor take_along_dim(const Tensor& x, const Index& index, int axis) {
  if (index.rank() != x.rank()) {
    fail<ShapeError>("take_along_dim", "index of shape ", index.shape(), " for shape ", x.shape());
  }
  axis = normalize_axis("take_along_dim", axis, x.rank());
  const Index at = from_start("take_along_dim", index, x.shape()[axis]);
  // Both are broadcast to one shape along the other axes.
  Shape others = broadcast_shapes("take_along_dim", with_axis(x.shape(), axis, 1), with_axis(index.shape(), axis, 1));
  return gathered(broadcast_to(x, with_axis(others, axis, x.shape()[axis])), axis,
                  broadcast_to(at, with_axis(others, axis, index.shape()[axis])));
}

Tensor take_along_dim(const Tensor& x, const Index& index) {
  return gathered(reshape(x, {-1}), 0, from_start("take_along_dim", index, x.size()).reshaped({-1}));
}

Array one_hot(const Index& index, std::int64_t classes) {
  if (classes < 0) fail<ValueError>("one_hot", "negative number of classes ", classes);
  check_ids("one_hot", index, classes);
  Array result(joined(index.shape(), {classes}), Real(0));
  Real* out = result.mutable_data();
  for (std::int64_t i = 0; i < index.size(); ++i) out[i * classes + index.data()[i]] = 1;
  return result;
}

// ---- masks

namespace {

void check_mask(const char* op, const Tensor& x, const Mask& mask) {
  if (!broadcasts_to(mask.shape(), x.shape())) {
    fail<ShapeError>(op, "mask of shape ", mask.shape(), " does not broadcast to ", x.shape(),
                     detail::mask_hint(mask.shape(), x.shape()));
  }
}

}  // namespace

XGRAD_FORMULA masked_fill_formula{"masked_fill", "y = value where the mask is true, else x",
                                  "dL/dx = 0 where it is true, else gy", OperationKind::masks};
Tensor masked_fill(const Tensor& x, const Mask& mask, Real value) {
  check_mask("masked_fill", x, mask);
  return record("masked_fill",
                map_elements<Real>(
                    x.shape(), [value](Real v, bool masked) { return masked ? value : v; }, x.value(), mask),
                wrt(x, [mask](const Tensor& gy) { return masked_fill(gy, mask, 0); }), attribute("mask", mask),
                attribute("value", value));
}

XGRAD_FORMULA masked_select_formula{"masked_select", "y = the x_i where the mask is true",
                                    "dL/dx_i = gy_j where x_i is y_j, else 0"};
Tensor masked_select(const Tensor& x, const Mask& mask) {
  check_mask("masked_select", x, mask);
  const Index positions = flatnonzero(broadcast_to(mask, x.shape()));
  return chosen_rows_along("masked_select", x, {x.size()}, 0, positions, positions.shape(), attribute("mask", mask));
}

Index flatnonzero(const Mask& mask) {
  Index result(Shape{std::count(mask.begin(), mask.end(), true)});
  std::int64_t* out = result.mutable_data();
  for (std::int64_t i = 0; i < mask.size(); ++i) {
    if (mask.data()[i]) *out++ = i;
  }
  return result;
}

Index nonzero(const Tensor& x) { return nonzero(x != 0); }
Index nonzero(const Index& x) { return nonzero(x != 0); }
Index nonzero(const Mask& mask) {
  const int rank = mask.rank();
  Index result(Shape{std::count(mask.begin(), mask.end(), true), rank});
  if (rank == 0) return result;
  const std::int64_t columns = mask.shape().back();
  std::int64_t* out = result.mutable_data();
  // The true positions of a row; the number of axes is mostly a compile-time constant.
  const auto places_of_row = [&](const bool* in, const Shape& at, auto axes) {
    for (std::int64_t j = 0; j < columns; ++j) {
      if (!in[j]) continue;
      for (int axis = 0; axis < axes - 1; ++axis) out[axis] = at[axis];
      out[axes - 1] = j;
      out += axes;
    }
  };
  for (std::int64_t row = 0; row * columns < mask.size(); ++row) {
    const bool* in = mask.data() + row * columns;
    const Shape at = position_of(row * columns, mask.shape());
    if (rank == 1) {
      places_of_row(in, at, std::integral_constant<int, 1>());
    } else if (rank == 2) {
      places_of_row(in, at, std::integral_constant<int, 2>());
    } else {
      places_of_row(in, at, rank);
    }
  }
  return result;
}

}  // namespace xgrad
