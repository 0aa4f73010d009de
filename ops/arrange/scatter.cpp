// Several numbers for one position. Extremes have a loop of their own; products are taken over groups, so that their
// gradients are right where a factor is 0.
#include "scatter.h"

#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <numeric>
#include <vector>

#include "../../core/graph/record.h"
#include "../../core/base/formula.h"
#include "../elementwise/arithmetic.h"
#include "../elementwise/compare.h"
#include "../kernels/registers/indexed.h"
#include "../reduce/reduce.h"
#include "create.h"
#include "index.h"
#include "join.h"
#include "shape.h"

namespace xgrad {
namespace {

// The count of numbers for each position.
Tensor counts_of(const Shape& shape, int axis, const Index& index, bool with_own) {
  Index counts(shape, with_own);
  std::int64_t* to = counts.mutable_data();
  for_each_named(shape, axis, index, [to](std::int64_t, std::int64_t k) { ++to[k]; });
  return to_real(counts);
}

// x with `value` where something is written.
Tensor without_own(const Tensor& x, int axis, const Index& index, Real value) {
  return masked_fill(x, counts_of(x.shape(), axis, index, false) > 0, value);
}

XGRAD_FORMULA scatter_extreme_formula{"scatter_extreme",
                                      "y_j = the largest (smallest) of x_j and src_i with index_i = j",
                                      "dL/dx, dL/dsrc = gy at the elements that y is, shared evenly"};
// The largest of x_j and all src_i with index_i = j, or with sign -1 the smallest; NaN if there is one.
Tensor scatter_extreme(const Tensor& x, int axis, const Index& index, const Tensor& src, Real sign) {
  Array y = x.value();
  Real* to = y.mutable_data();
  const Real* from = src.value().data();
  for_each_named(x.shape(), axis, index, [=](std::int64_t i, std::int64_t k) {
    if (!(sign * from[i] <= sign * to[k]) && !std::isnan(to[k])) to[k] = from[i];
  });
  const auto rule = [x = kept(x), src = kept(src), axis, index](const Tensor& gy, const Tensor& y, Wanted wanted) {
    // Which elements are the result, and their share of it.
    const Real* result = y.value().data();
    const auto is_result = [result](Real v, std::int64_t k) {
      return v == result[k] || (std::isnan(v) && std::isnan(result[k]));
    };
    Array own(x.shape()), given(src.shape()), share(x.shape());
    Real *own_to = own.mutable_data(), *given_to = given.mutable_data(), *share_to = share.mutable_data();
    for (std::int64_t k = 0; k < own.size(); ++k) own_to[k] = share_to[k] = is_result(x.value().data()[k], k);
    for_each_named(x.shape(), axis, index, [=, from = src.value().data()](std::int64_t i, std::int64_t k) {
      given_to[i] = is_result(from[i], k);
      share_to[k] += given_to[i];
    });
    const Tensor shared = gy / Tensor(std::move(share));
    return std::array<Tensor, 2>{wanted[0] ? shared * Tensor(std::move(own)) : Tensor(),
                                 wanted[1] ? gather(shared, axis, index) * Tensor(std::move(given)) : Tensor()};
  };
  return record("scatter_extreme", std::move(y), jointly(rule, x, src), told("axis", axis), told("index", index),
                told("reduce", sign > 0 ? "amax" : "amin"));
}

// The product of x_j and all src_i with index_i = j. Positions with 2^k to 2^(k+1) - 1 factors are rows of a matrix,
// filled up with ones.
Tensor scatter_product(const Tensor& x, int axis, const Index& index, const Tensor& src) {
  const std::int64_t places = x.size(), numbers = src.size();
  if (numbers == 0) return x;
  // The numbers for each place, place by place.
  std::vector<std::int64_t> begin(static_cast<std::size_t>(places) + 1, 0), given(static_cast<std::size_t>(numbers));
  for_each_named(x.shape(), axis, index,
                 [&](std::int64_t, std::int64_t k) { ++begin[static_cast<std::size_t>(k) + 1]; });
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  std::vector<std::int64_t> next = begin;
  for_each_named(x.shape(), axis, index, [&](std::int64_t i, std::int64_t k) {
    given[static_cast<std::size_t>(next[static_cast<std::size_t>(k)]++)] = places + i;
  });
  std::map<std::uint64_t, std::vector<std::size_t>> by_width;
  for (std::size_t k = 0; k + 1 < begin.size(); ++k) {
    by_width[std::bit_ceil(static_cast<std::uint64_t>(begin[k + 1] - begin[k] + 1))].push_back(k);
  }
  const Tensor all = concat({reshape(x, {places}), reshape(src, {numbers}), ones({1})});
  Tensors products;
  Index row(Shape{places});
  for (std::int64_t rows = 0; const auto& [width, group] : by_width) {
    const auto columns = static_cast<std::int64_t>(width);
    Index members(Shape{std::ssize(group) * columns}, places + numbers);
    std::int64_t* to = members.mutable_data();
    for (const std::size_t k : group) {
      to[0] = static_cast<std::int64_t>(k);
      std::copy(given.begin() + begin[k], given.begin() + begin[k + 1], to + 1);
      to += columns;
      row.mutable_data()[k] = rows++;
    }
    products.push_back(prod(reshape(index_select(all, 0, members), {-1, columns}), 1));
  }
  return reshape(index_select(concat(products), 0, row), x.shape());
}

}  // namespace

Tensor scatter_reduce(const Tensor& x, int axis, const Index& given, const Tensor& src, ScatterReduce reduce,
                      const ScatterReduceOptions& options) {
  constexpr const char* op = "scatter_reduce";
  Index index = given;
  axis = check_gather(op, x.shape(), axis, index);
  if (src.shape() != index.shape()) {
    fail<ShapeError>(op, "index of shape ", index.shape(), " for a source of shape ", src.shape());
  }
  const bool own = options.include_self;
  const auto base = [&](Real neutral) { return own ? x : without_own(x, axis, index, neutral); };
  switch (reduce) {
    case ScatterReduce::sum:
      return scatter_add(base(0), axis, index, src);
    case ScatterReduce::mean: {
      const Tensor counts = counts_of(x.shape(), axis, index, own);
      return scatter_add(base(0), axis, index, src) / maximum(counts, 1);
    }
    case ScatterReduce::prod:
      return scatter_product(base(1), axis, index, src);
    case ScatterReduce::amax:
      return scatter_extreme(base(-detail::infinity), axis, index, src, 1);
    case ScatterReduce::amin:
      return scatter_extreme(base(detail::infinity), axis, index, src, -1);
  }
  fail<ValueError>(op, "an unknown reduction");
}

}  // namespace xgrad
