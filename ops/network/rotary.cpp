// Rotary positions: the formula, checks, and the rule, a rotation by the opposite angles.
#include "rotary.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <numbers>
#include <tuple>
#include <type_traits>

#include "../../core/base/formula.h"
#include "../../core/graph/record.h"
#include "../elementwise/arithmetic.h"
#include "../indexing/axis.h"
#include "../kernels/attention/rotary.h"
#include "../shape/join.h"
#include "../shape/shape.h"
#include "../shape/slice.h"

namespace xgrad {
namespace {

// The cosines and sines of T positions, (T, d / 2) each.
struct Tables {
  Array cosines, sines;
};

Tables tables_of(std::int64_t T, std::int64_t d, const RotaryOptions& options);

// The width of a head.
std::int64_t checked_width(const Tensor& x, const RotaryOptions& options);

}  // namespace

XGRAD_FORMULA rotary_formula{
    "rotary",
    "y_a = x_a cos t - x_b sin t, y_b = x_a sin t + x_b cos t with the angle t of the position and the pair a, b",
    "dL/dx = gy, turned back"};
Tensor plain::rotary(const Tensor& x, const RotaryOptions& options) {
  const std::int64_t d = checked_width(x, options), T = x.dim(-2);
  const bool halves = options.layout == RotaryLayout::halves;
  // (..., T, heads, 2, d / 2), or (..., T, heads, d / 2, 2)
  const Shape in_pairs = joined(leading(x.shape(), 1), {options.heads, halves ? 2 : d / 2, halves ? d / 2 : 2});
  const Tensors pair = unbind(reshape(x, in_pairs), halves ? -2 : -1);
  const Tables tables = tables_of(T, d, options);
  const Tensor cosine = tables.cosines.reshaped({T, 1, d / 2}), sine = tables.sines.reshaped({T, 1, d / 2});
  const Tensor a = pair[0] * cosine - pair[1] * sine, b = pair[0] * sine + pair[1] * cosine;
  return reshape(stack({a, b}, halves ? -2 : -1), x.shape());
}

namespace {

// How rows are turned. `direction`: 1, or -1 for back.
struct Rotation {
  Tables tables;
  std::int64_t d;
  RotaryOptions options;
  Real direction = 1;
};

// The factor of a frequency.
double slower(double frequency, const RotaryScaling& scaling) {
  const double turns = static_cast<double>(scaling.context) * frequency / (2 * std::numbers::pi);
  const double weight = std::clamp((turns - scaling.low) / (scaling.high - scaling.low), 0., 1.);
  return (1 - weight) / scaling.factor + weight;
}

// The angles are in double: at positions in the thousands, a float would have lost visible digits.
Tables tables_of(std::int64_t T, std::int64_t d, const RotaryOptions& options) {
  const Shape shape{T, d / 2};
  Tables tables{Array(shape), Array(shape)};
  Real *cosine = tables.cosines.mutable_data(), *sine = tables.sines.mutable_data();
  for (std::int64_t j = 0; j < d / 2; ++j) {
    double frequency = std::pow(options.theta, -2 * static_cast<double>(j) / static_cast<double>(d));
    if (options.scaling) frequency *= slower(frequency, *options.scaling);
    for (std::int64_t t = 0; t < T; ++t) {
      const double angle = static_cast<double>(options.first + t) * frequency;
      cosine[t * (d / 2) + j] = static_cast<Real>(std::cos(angle));
      sine[t * (d / 2) + j] = static_cast<Real>(std::sin(angle));
    }
  }
  return tables;
}

// The same tables, cached: queries, keys and all layers use the same ones. Thread-safe.
Tables cached_tables(std::int64_t T, std::int64_t d, const RotaryOptions& options) {
  const RotaryScaling scaling = options.scaling.value_or(RotaryScaling{});
  const std::tuple asked(T, d, options.first, options.theta, options.scaling.has_value(), scaling.factor, scaling.low,
                         scaling.high, scaling.context);
  static std::mutex mutex;
  static std::remove_const_t<decltype(asked)> last{};
  static Tables& tables = *new Tables;  // outlives every tensor
  {
    const std::lock_guard lock(mutex);
    if (asked == last) return tables;
  }
  Tables made = tables_of(T, d, options);
  const std::lock_guard lock(mutex);
  tables = made;
  last = asked;
  return made;
}

Tensor rotated(const Tensor& x, const Rotation& rotation) {
  Array y(x.shape());
  if (y.size() > 0) {
    const bool halves = rotation.options.layout == RotaryLayout::halves;
    rotate_rows({.rows = x.size() / x.dim(-1),
                 .positions = x.dim(-2),
                 .heads = rotation.options.heads,
                 .d = rotation.d,
                 .stride = halves ? 1 : 2,
                 .distance = halves ? rotation.d / 2 : 1,
                 .cosines = rotation.tables.cosines.data(),
                 .sines = rotation.tables.sines.data(),
                 .direction = rotation.direction},
                x.value().data(), y.mutable_data());
  }
  const auto& [heads, first, layout, theta, scaling] = rotation.options;
  const auto scaled = [&scaling = scaling](auto RotaryScaling::*number) {
    return scaling ? std::optional((*scaling).*number) : std::nullopt;
  };
  const Rotation back{rotation.tables, rotation.d, rotation.options, -rotation.direction};
  return record("rotary", std::move(y), wrt(x, [back](const Tensor& gy) { return rotated(gy, back); }),
                attribute("heads", unless(1, heads)), attribute("first", unless(0, first)),
                attribute("interleaved", unless(false, layout == RotaryLayout::interleaved)),
                attribute("theta", unless(10000, theta)), attribute("factor", scaled(&RotaryScaling::factor)),
                attribute("low", scaled(&RotaryScaling::low)), attribute("high", scaled(&RotaryScaling::high)),
                attribute("context", scaled(&RotaryScaling::context)),
                attribute("back", unless(false, rotation.direction < 0)));
}

// Throws unless x and the options fit.
std::int64_t checked_width(const Tensor& x, const RotaryOptions& options) {
  constexpr std::int64_t furthest = std::int64_t{1} << 40;
  if (x.rank() < 2) fail<ShapeError>("rotary", "needs (..., positions, width), got ", x.shape());
  if (options.heads < 1) fail<ValueError>("rotary", "heads ", options.heads, " is not positive");
  const std::int64_t d = x.dim(-1) / options.heads;
  if (x.dim(-1) % options.heads != 0 || d % 2 != 0) {
    fail<ValueError>("rotary", "width ", x.dim(-1), " does not divide into ", options.heads, " heads of even width");
  }
  if (options.first < 0 || options.first > furthest) {
    fail<ValueError>("rotary", "position ", options.first, " is not in [0, 2^40]");
  }
  if (!(options.theta >= 1) || std::isinf(options.theta)) {
    fail<ValueError>("rotary", "theta ", options.theta, " is not a finite number of at least 1");
  }
  if (const auto& scaling = options.scaling) {
    if (!(scaling->factor >= 1) || std::isinf(scaling->factor)) {
      fail<ValueError>("rotary", "factor ", scaling->factor, " is not a finite number of at least 1");
    }
    if (!(0 < scaling->low && scaling->low < scaling->high) || std::isinf(scaling->high)) {
      fail<ValueError>("rotary", "low ", scaling->low, " and high ", scaling->high,
                       ", needs 0 < low < high < infinity");
    }
    if (scaling->context < 1) fail<ValueError>("rotary", "context ", scaling->context, " is not positive");
  }
  return d;
}

}  // namespace

Tensor rotary(const Tensor& x, const RotaryOptions& options) {
  const std::int64_t d = checked_width(x, options);
  return rotated(x, {cached_tables(x.size() > 0 ? x.dim(-2) : 0, d, options), d, options});
}

}  // namespace xgrad
