// Combinations, composed of broadcasting and indexing.
#include "combine.h"

#include <numeric>

#include "../../core/base/error.h"
#include "../arrange/broadcast.h"
#include "../arrange/index.h"
#include "../arrange/join.h"
#include "../arrange/shape.h"
#include "../elementwise/arithmetic.h"
#include "../elementwise/elementwise.h"

namespace xgrad {

Tensor kron(const Tensor& a, const Tensor& b) {
  const int rank = std::max(a.rank(), b.rank());
  Shape spread_a, spread_b, result;
  for (int axis = 0; axis < rank; ++axis) {
    const auto size_of = [&](const Tensor& x) {
      const int own = axis - (rank - x.rank());
      return own < 0 ? std::int64_t{1} : x.shape()[own];
    };
    const std::int64_t m = size_of(a), p = size_of(b);
    result.push_back(checked_multiply("kron", m, p));
    for (const std::int64_t size : {m, std::int64_t{1}}) spread_a.push_back(size);
    for (const std::int64_t size : {std::int64_t{1}, p}) spread_b.push_back(size);
  }
  return reshape(reshape(a, spread_a) * reshape(b, spread_b), result);
}

Tensor cross(const Tensor& a, const Tensor& b, int axis) {
  const Shape shape = broadcast_shapes("cross", a.shape(), b.shape());
  axis = normalize_axis("cross", axis, shape.rank());
  const auto of_shape = [&](const Tensor& x) {
    if (x.rank() < shape.rank() - axis || x.dim(axis - shape.rank()) != 3) {
      fail<ShapeError>("cross", "needs three numbers along axis ", axis, ", got ", a.shape(), " and ", b.shape());
    }
    return broadcast_to(x, shape);
  };
  const Tensor p = of_shape(a), q = of_shape(b);
  return roll(p, -1, axis) * roll(q, -2, axis) - roll(p, -2, axis) * roll(q, -1, axis);
}

Tensor vander(const Tensor& x, const VanderOptions& options) {
  if (x.rank() == 0) fail<ShapeError>("vander", "needs an axis, got ", x.shape());
  const std::int64_t n = options.n.value_or(x.shape().back());
  if (n < 0) fail<ValueError>("vander", "negative n ", n);
  Array exponents(Shape{n});
  Real* to = exponents.mutable_data();
  for (std::int64_t j = 0; j < n; ++j) to[j] = static_cast<Real>(options.increasing ? j : n - 1 - j);
  return pow(unsqueeze(x, -1), Tensor(exponents));
}

Tensor cartesian_prod(const Tensors& lists) {
  if (lists.empty()) fail<ValueError>("cartesian_prod", "needs at least 1 list");
  for (const Tensor& list : lists) {
    if (list.rank() != 1) fail<ShapeError>("cartesian_prod", "needs lists, got ", list.shape());
  }
  if (lists.size() == 1) return lists[0];
  Tensors columns;
  for (const Tensor& grid : meshgrid(lists)) columns.push_back(reshape(grid, {-1}));
  return stack(columns, 1);
}

namespace {

// The number of choices of r out of n, which grows with every factor of (n - r + 1)/1 (n - r + 2)/2 ... n/r.
std::int64_t number_of_choices(std::int64_t n, std::int64_t r) {
  if (r > n) return 0;
  r = std::min(r, n - r);
  std::int64_t count = 1;
  for (std::int64_t k = 1; k <= r; ++k) {
    const std::int64_t shared = std::gcd(count, k);
    count = checked_multiply("combinations", count / shared, (n - r + k) / (k / shared));
  }
  return count;
}

}  // namespace

Tensor combinations(const Tensor& x, const CombinationsOptions& options) {
  constexpr std::int64_t most = 1 << 20;
  const std::int64_t r = options.r;
  if (x.rank() != 1) fail<ShapeError>("combinations", "needs a list, got ", x.shape());
  if (r < 0 || r > most) fail<ValueError>("combinations", "r ", r, " is not in [0, ", most, "]");
  if (r == 0) return reshape(index_select(x, 0, Index(Shape{0})), {0});
  // With replacement, by stars and bars: the elements are r of n + r - 1 places, the others steps to the next element.
  const std::int64_t places = options.with_replacement && x.size() > 0 ? x.size() + r - 1 : x.size();
  const std::int64_t count = number_of_choices(places, r);
  Index all(Shape{checked_multiply("combinations", count, r)});
  // As an odometer: the last place that can advance does, and those behind it restart after it, or equal to it.
  const std::int64_t n = x.size(), step = options.with_replacement ? 0 : 1;
  const auto last = [&](std::int64_t place) { return n - 1 - step * (r - 1 - place); };
  std::int64_t* at = all.mutable_data();
  for (std::int64_t row = 0; row < count; ++row, at += r) {
    if (row == 0) {
      for (std::int64_t place = 0; place < r; ++place) at[place] = step * place;
      continue;
    }
    std::copy_n(at - r, r, at);
    std::int64_t place = r - 1;
    while (at[place] == last(place)) --place;
    ++at[place];
    for (++place; place < r; ++place) at[place] = at[place - 1] + step;
  }
  return reshape(index_select(x, 0, all), {count, r});
}

}  // namespace xgrad
