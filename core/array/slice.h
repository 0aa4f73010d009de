// Slices: the entries in the brackets of x[{0, _, slice(1, 3)}], each a selection along one axis.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>

#include "shape.h"

namespace xgrad {

/// Stands for the default start, stop or step of a slice.
inline constexpr std::nullopt_t none = std::nullopt;

/// An entry of an indexing expression, with numpy's meaning.
///
///     x[{0}];                       // the first row; the axis is dropped
///     x[{-1, _}];                   // the last row: negative positions count from the end
///     x[{_, slice(1, 3)}];          // columns 1 and 2
///     x[{_, slice(none, none, 2)}]; // every other column
///     x[{slice(none, none, -1)}];   // the rows from last to first
///     x[{ellipsis, 0}];             // position 0 along the last axis
///     x[{_, new_axis}];             // an axis of size 1 after the first
///
/// A range is clipped to the axis; a single position outside it is an error. Threads: slices share no state.
class Slice {
 public:
  enum class Kind : std::uint8_t { range, position, ellipsis, new_axis };
  using Bound = std::optional<std::int64_t>;

  /// Selects the whole axis.
  constexpr Slice() = default;
  /// Selects one position; the axis is dropped. Throws ValueError for an unsigned number that does not fit int64.
  template <std::integral T>
  constexpr Slice(T position) : kind_(Kind::position), start_(as_int64(position)) {}
  /// Selects the positions start, start + step, ... before stop.
  constexpr Slice(Bound start, Bound stop, std::int64_t step) : start_(start), stop_(stop), step_(step) {}
  constexpr explicit Slice(Kind kind) : kind_(kind) {}

  constexpr Kind kind() const { return kind_; }
  constexpr std::int64_t position() const { return *start_; }
  constexpr Bound start() const { return start_; }
  constexpr Bound stop() const { return stop_; }
  constexpr std::int64_t step() const { return step_; }

  /// The number as an int64. Throws ValueError if it does not fit, for example std::size_t{0} - 1.
  template <std::integral T>
  static constexpr std::int64_t as_int64(T number) {
    if constexpr (std::unsigned_integral<T> && sizeof(T) >= sizeof(std::int64_t)) {
      if (number > static_cast<T>(std::numeric_limits<std::int64_t>::max())) {
        fail<ValueError>("slice", number, " is beyond all positions");
      }
    }
    return static_cast<std::int64_t>(number);
  }

 private:
  Kind kind_ = Kind::range;
  Bound start_;
  Bound stop_;
  std::int64_t step_ = 1;
};

/// Makes x[_, 1] without braces an error of the compiler: C++ would drop the part before the comma.
template <std::same_as<Slice> S, class T>
__attribute__((unavailable("x[{_, 1}], with braces"))) S operator,(const S&, const T&);

/// The entries between the brackets of x[{0, _, slice(1, 3)}].
using Slices = ShortList<Slice>;

/// Selects a whole axis.
inline constexpr Slice _;
/// Selects the whole of every axis that has no entry of its own.
inline constexpr Slice ellipsis(Slice::Kind::ellipsis);
/// Adds a new axis of size 1.
inline constexpr Slice new_axis(Slice::Kind::new_axis);

/// A start or a stop: an integer or `none`.
template <class T>
concept SliceBound = std::integral<T> || std::same_as<T, std::nullopt_t>;

/// The positions start, start + step, ... before stop. By default start is the first position, and stop is one past the
/// last. With a negative step, start is the last position, and stop is one before the first. Throws ValueError for an
/// unsigned number that does not fit int64.
template <SliceBound Start, SliceBound Stop, SliceBound Step = std::nullopt_t>
constexpr Slice slice(Start start, Stop stop, Step step = none) {
  const auto bound = []<class T>(T value) -> Slice::Bound {
    if constexpr (std::integral<T>) {
      return Slice::as_int64(value);
    } else {
      return value;
    }
  };
  return {bound(start), bound(stop), bound(step).value_or(1)};
}

}  // namespace xgrad
