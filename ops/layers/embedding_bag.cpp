// Bags of words, made of embedding and scatter_add; the largest rows are an operation of their own.
#include "embedding_bag.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "../../core/base/formula.h"
#include "../../core/graph/record.h"
#include "../arrange/broadcast.h"
#include "../arrange/create.h"
#include "../arrange/index.h"
#include "../arrange/shape.h"
#include "../elementwise/arithmetic.h"

namespace xgrad {
namespace {

// Which bag each id of a list is in.
Index bags_of(const Index& ids, const Index& offsets) {
  const auto wrong = [&](std::int64_t b) {
    fail<ValueError>("embedding_bag", "offset ", offsets.data()[b], " of bag ", b,
                     ": offsets begin with 0, ascend and stay within the ", ids.size(), " ids");
  };
  for (std::int64_t b = 0; b < offsets.size(); ++b) {
    const std::int64_t least = b == 0 ? 0 : offsets.data()[b - 1], most = b == 0 ? 0 : ids.size();
    if (offsets.data()[b] < least || offsets.data()[b] > most) wrong(b);
  }
  if (offsets.size() == 0 && ids.size() > 0) fail<ValueError>("embedding_bag", ids.size(), " ids, but no bag");
  Index bags(ids.shape());
  for (std::int64_t i = 0, b = 0; i < ids.size(); ++i) {
    while (b + 1 < offsets.size() && offsets.data()[b + 1] <= i) ++b;
    bags.mutable_data()[i] = b;
  }
  return bags;
}

// Calls f(i, k) for each element i of the rows (n, C) of bags, and its place k in the result (B, C).
template <class F>
void each_of_rows(const Index& bags, std::int64_t C, const F& f) {
  for (std::int64_t row = 0; row < bags.size(); ++row) {
    const std::int64_t i = row * C, k = bags.data()[row] * C;
    for (std::int64_t c = 0; c < C; ++c) f(i + c, k + c);
  }
}

XGRAD_FORMULA bag_max_formula{"bag_max", "y_b = the largest x_i in bag b",
                              "dL/dx_i = gy_b at the elements that y_b is, shared evenly"};
// Largest elements over the rows of each bag; NaN if there is one.
Tensor largest(const Tensor& rows, const Index& bags, std::int64_t B) {
  const std::int64_t n = rows.dim(0), C = rows.dim(1);
  if (n == 0) return zeros({B, C});
  Mask empty(Shape{B, 1}, true);
  for (const std::int64_t b : bags) empty.mutable_data()[b] = false;
  Array y(Shape{B, C}, -detail::infinity);
  each_of_rows(bags, C, [to = y.mutable_data(), from = rows.value().data()](std::int64_t i, std::int64_t k) {
    if (!(from[i] <= to[k]) && !std::isnan(to[k])) to[k] = from[i];
  });
  const auto rule = [rows = kept(rows), bags, C](const Tensor& gy, const Tensor& y) {
    // Which elements are the result, and how many of them share it.
    Array hits(rows.shape()), counts(y.shape(), Real(0));
    Real *hit = hits.mutable_data(), *count = counts.mutable_data();
    each_of_rows(bags, C, [&](std::int64_t i, std::int64_t k) {
      const Real v = rows.value().data()[i], most = y.value().data()[k];
      hit[i] = v == most || (std::isnan(v) && std::isnan(most));
      count[k] += hit[i];
    });
    std::replace(count, count + counts.size(), Real(0), Real(1));  // of empty bags
    return index_select(gy / Tensor(counts), 0, bags) * Tensor(hits);
  };
  const Tensor most = record("bag_max", std::move(y), wrt(rows, rule), told("index", bags));
  return masked_fill(most, empty, 0);
}

Tensor bags(const Tensor& weight, const Index& ids, const Index& bag_of, std::int64_t B,
            const EmbeddingBagFuncOptions& options) {
  const char* op = "embedding_bag";
  if (weight.rank() != 2) fail<ShapeError>(op, "the table needs two axes, its shape is ", weight.shape());
  const std::int64_t V = weight.dim(0), C = weight.dim(1);
  const Tensor& scale = options.per_sample_weights;
  if (scale.defined() && options.mode != BagMode::sum) fail<ValueError>(op, "per_sample_weights are for sums only");
  if (scale.defined() && scale.size() != ids.size()) {
    fail<ShapeError>(op, "per_sample_weights ", scale.shape(), " for ids ", ids.shape());
  }
  std::optional<std::int64_t> padding = options.padding_idx;
  if (padding && (*padding < -V || *padding >= V)) {
    fail<ValueError>(op, "padding_idx ", *padding, " is not in [", -V, ", ", V, ")");
  }
  if (padding && *padding < 0) *padding += V;
  std::vector<std::int64_t> positions, known, of_bag;
  for (std::int64_t i = 0; i < ids.size(); ++i) {
    const std::int64_t id = ids.data()[i];
    if (id < 0 || id >= V) fail<ValueError>(op, "index ", id, " is not in [0, ", V, ")");
    if (id == padding) continue;
    positions.push_back(i);
    known.push_back(id);
    of_bag.push_back(bag_of.data()[i]);
  }
  const std::int64_t n = std::ssize(known);
  Tensor rows = embedding(weight, Index(known));  // (n, C)
  if (options.mode == BagMode::max) return largest(rows, Index(of_bag), B);
  if (scale.defined()) rows = rows * index_select(reshape(scale, {ids.size(), 1}), 0, Index(positions));
  const Index column = Index(of_bag).reshaped({n, 1});
  const Tensor sums = scatter_add(zeros({B, C}), 0, broadcast_to(column, {n, C}), rows);
  if (options.mode == BagMode::sum) return sums;
  return sums / maximum(scatter_add(zeros({B, 1}), 0, column, ones({n, 1})), 1);
}

}  // namespace

Tensor embedding_bag(const Tensor& weight, const Index& ids, const EmbeddingBagFuncOptions& options) {
  if (ids.rank() != 2) {
    fail<ShapeError>("embedding_bag", "needs ids (B, L), or a list and offsets, got ids ", ids.shape());
  }
  const std::int64_t B = ids.dim(0);
  return bags(weight, ids, broadcast_to(arange(B).reshaped({B, 1}), ids.shape()), B, options);
}

Tensor embedding_bag(const Tensor& weight, const Index& ids, const Index& offsets,
                     const EmbeddingBagFuncOptions& options) {
  if (ids.rank() != 1 || offsets.rank() != 1) {
    fail<ShapeError>("embedding_bag", "needs lists of ids and offsets, got ", ids.shape(), " and ", offsets.shape());
  }
  return bags(weight, ids, bags_of(ids, offsets), offsets.size(), options);
}

}  // namespace xgrad
