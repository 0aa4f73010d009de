// Positions.
#include "positions.h"

#include <cmath>
#include <vector>

#include "../../core/graph/record.h"
#include "../../ops/elementwise/arithmetic.h"
#include "../../ops/elementwise/elementwise.h"
#include "../../ops/shape/broadcast.h"
#include "../../ops/shape/join.h"
#include "../../ops/shape/slice.h"

namespace xgrad::nn {
namespace {

// The rows of `table` that belong to x (..., T, C) when it begins at position `first`: (T, C).
Tensor rows_for(const Tensor& table, const Tensor& x, std::int64_t first) {
  if (x.rank() < 2 || x.dim(-1) != table.dim(1)) {
    fail<ShapeError>("positions", "needs (..., T, ", table.dim(1), "), got ", x.shape());
  }
  if (first < 0 || first > table.dim(0) - x.dim(-2)) {
    fail<ValueError>("positions", x.dim(-2), " positions from ", first, " on do not fit a table of ", table.dim(0));
  }
  return narrow(table, 0, first, x.dim(-2));
}

}  // namespace

Array sinusoids(std::int64_t length, std::int64_t dim, Sinusoids layout) {
  Array table(Shape{length, dim});
  Real* out = table.mutable_data();
  const std::int64_t sines = (dim + 1) / 2;
  const bool interleaved = layout == Sinusoids::interleaved;
  std::vector<double> wavelengths(static_cast<std::size_t>(sines));
  for (std::int64_t j = 0; j < sines; ++j) {
    wavelengths[static_cast<std::size_t>(j)] = std::pow(10000., 2. * static_cast<double>(j) / static_cast<double>(dim));
  }
  for (std::int64_t i = 0; i < length; ++i, out += dim) {
    for (std::int64_t j = 0; j < sines; ++j) {
      const double angle = static_cast<double>(i) / wavelengths[static_cast<std::size_t>(j)];
      const std::int64_t sine = interleaved ? 2 * j : j, cosine = interleaved ? 2 * j + 1 : sines + j;
      out[sine] = static_cast<Real>(std::sin(angle));
      if (cosine < dim) out[cosine] = static_cast<Real>(std::cos(angle));
    }
  }
  return table;
}

PositionalEncoding::PositionalEncoding(At here, std::int64_t max_length, std::int64_t dim, const Options& options)
    : Layer(std::move(here)),
      kind(options.kind),
      weight([&]() -> Tensor {
        const Shape sizes{positive("max_length", max_length), positive("dim", dim)};
        if (kind == Positions::none) return {};
        if (kind == Positions::learned) {
          return param("weight", sizes, options.init ? options.init : init::normal(), Decay::no);
        }
        return sinusoids(possible("weight", sizes)[0], dim, options.layout);
      }()),
      dropout(at("dropout"), options.dropout) {}

Tensor PositionalEncoding::forward(const Tensor& x, std::int64_t first) const {
  if (kind == Positions::none) return dropout(x);
  const Tensor rows = rows_for(weight, x, first);
  if (recording() && kind != Positions::learned) rows.named(full_name("positions"));
  return dropout(kind == Positions::joined ? concat({x, broadcast_to(rows, x.shape())}, -1) : x + rows);
}

std::string PositionalEncoding::extra_repr() const {
  if (kind == Positions::none) return "none";
  const char* const how = kind == Positions::learned ? ", learned" : kind == Positions::joined ? ", joined" : "";
  return str(weight.dim(0), " x ", weight.dim(1), how);
}

}  // namespace xgrad::nn
