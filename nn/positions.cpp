// Positions.
#include "positions.h"

#include "../core/record.h"
#include "../core/xtensor_functions.h"
#include "../ops/arithmetic.h"
#include "../ops/elementwise.h"
#include "../ops/slice.h"

namespace xgrad::nn {
namespace {

// The rows of `table` that belong to x (..., T, C) when it begins at position `first`: (T, C).
Tensor rows_for(const Tensor& table, const Tensor& x, std::int64_t first) {
  if (x.rank() < 2 || x.dim(-1) != table.dim(1)) {
    fail<ShapeError>("positions", "needs (..., T, ", table.dim(1), "), got ", x.shape());
  }
  if (first < 0 || first > table.dim(0) - x.dim(-2)) {
    fail<ValueError>("positions", x.dim(-2), " positions from ", first, " on, of ", table.dim(0));
  }
  return narrow(table, 0, first, x.dim(-2));
}

}  // namespace

Array sinusoids(std::int64_t length, std::int64_t dim, Sinusoids layout) {
  Array table(Shape{length, dim});  // before xtensor hears of the sizes, which it does not check
  if (table.size() == 0) return table;
  const std::int64_t sines = (dim + 1) / 2, cosines = dim / 2;
  const xt::xarray<double> position = xt::expand_dims(xt::arange(length), 1);
  const xt::xarray<double> wavelength = xt::pow(10000., 2. * xt::arange(sines) / static_cast<double>(dim));
  const xt::xarray<double> angle = position / wavelength;  // (length, sines)
  auto columns = mutable_view(table);
  const bool interleaved = layout == Sinusoids::interleaved;
  xt::view(columns, xt::all(), interleaved ? xt::range(0, dim, 2) : xt::range(0, sines, 1)) = xt::sin(angle);
  xt::view(columns, xt::all(), interleaved ? xt::range(1, dim, 2) : xt::range(sines, dim, 1)) =
      xt::cos(xt::view(angle, xt::all(), xt::range(0, cosines)));
  return table;
}

SinusoidalPositions::SinusoidalPositions(At here, std::int64_t dim, const Options& options)
    : Module(std::move(here)),
      table([&] {
        possible("table", {positive("max_length", options.max_length), positive("dim", dim)});
        return sinusoids(options.max_length, dim, options.layout);
      }()),
      dropout(at("dropout"), options.dropout) {}

Tensor SinusoidalPositions::operator()(const Tensor& x, std::int64_t first) const {
  const auto here = enter(x);
  const Tensor rows = rows_for(table, x, first);
  if (recording()) rows.named(full_name("positions"));
  return here(dropout(x + rows));
}

std::string SinusoidalPositions::settings() const { return cat(table.dim(0), " x ", table.dim(1)); }

LearnedPositions::LearnedPositions(At here, std::int64_t max_length, std::int64_t dim, const Options& options)
    : Module(std::move(here)),
      weight(param("weight", {positive("max_length", max_length), positive("dim", dim)},
                   options.init ? options.init : init::normal())),
      dropout(at("dropout"), options.dropout) {}

Tensor LearnedPositions::operator()(const Tensor& x, std::int64_t first) const {
  const auto here = enter(x);
  return here(dropout(x + rows_for(weight, x, first)));
}

std::string LearnedPositions::settings() const { return cat(weight.dim(0), " x ", weight.dim(1)); }

}  // namespace xgrad::nn
