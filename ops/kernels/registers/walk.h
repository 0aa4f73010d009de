// Walking through several arrays at once, each with its own strides: the loop around the rows of a kernel.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "../../../core/array/shape.h"

namespace xgrad {

using Strides = ShortList<std::int64_t>;

/// The axes of a loop over K arrays, outermost first.
template <std::size_t K>
class Walk {
 public:
  using Offsets = std::array<std::int64_t, K>;
  struct Axis {
    std::int64_t size = 1;
    Offsets strides{};  // in elements
  };

  Walk() = default;
  /// Leaves out axes of size 1 and merges neighbours where each array can go through both with one stride.
  Walk(const Shape& shape, const std::array<Strides, K>& strides) {
    for (int i = 0; i < shape.rank(); ++i) {
      if (shape[i] == 1) continue;
      Axis axis{.size = shape[i], .strides = {}};
      bool merge = rank() > 0;
      for (std::size_t k = 0; k < K; ++k) {
        axis.strides[k] = strides[k][i];
        merge = merge && axes_.back().strides[k] == axis.strides[k] * axis.size;
      }
      if (merge) axis.size *= pop().size;
      push(axis);
    }
  }

  int rank() const { return axes_.size(); }
  const Axis& operator[](int i) const { return axes_.begin()[i]; }
  /// How many steps the loop has.
  std::int64_t count() const {
    std::int64_t count = 1;
    for (const Axis& axis : axes_) count *= axis.size;
    return count;
  }

  /// Adds an innermost axis.
  void push(const Axis& axis) { axes_.push_back(axis); }
  /// Takes an axis, the innermost one, out of the loop.
  Axis take(int i) {
    const Axis axis = axes_[i];
    axes_.erase(i);
    return axis;
  }
  Axis pop() { return take(rank() - 1); }

  /// Calls f(offsets) for the steps begin ... end - 1, in row-major order.
  void for_each(std::int64_t begin, std::int64_t end, const auto& f) const {
    Offsets offsets{};
    if (rank() == 0) {
      if (begin < end) f(std::as_const(offsets));
      return;
    }
    const auto move = [&](const Axis& axis, std::int64_t count) {
      for (std::size_t k = 0; k < K; ++k) offsets[k] += count * axis.strides[k];
    };
    const int last = rank() - 1;
    Strides index = Strides::filled(rank(), 0);
    for (std::int64_t axis = last, remaining = begin; axis >= 0 && remaining > 0; --axis) {
      const int i = static_cast<int>(axis);
      index[i] = remaining % (*this)[i].size;
      remaining /= (*this)[i].size;
      move((*this)[i], index[i]);
    }
    const Axis inner = axes_.back();
    while (begin < end) {
      const std::int64_t run = std::min(end - begin, inner.size - index[last]);
      for (std::int64_t n = 0; n < run; ++n) {
        f(std::as_const(offsets));
        move(inner, 1);
      }
      begin += run;
      index[last] += run;
      for (int i = last; i > 0 && index[i] == (*this)[i].size; --i) {
        move((*this)[i], -index[i]);
        move((*this)[i - 1], 1);
        index[i] = 0;
        ++index[i - 1];
      }
    }
  }

 private:
  ShortList<Axis> axes_;
};

}  // namespace xgrad
