// Some samples of a batch.
#pragma once

#include <concepts>
#include <cstdint>
#include <tuple>
#include <utility>

#include <xgrad/kit/data/samples.h>

namespace xgrad::mpi::detail {

using kit::detail::is_array;
using kit::detail::samples_of;
using kit::detail::TupleLike;

/// Something that gives samples begin ... end - 1 of itself.
template <class T>
concept WithRows = requires(const T& x) {
  { x.rows(0, 1) } -> std::convertible_to<T>;
};
/// A list of samples.
template <class T>
concept ListLike = requires(const T& x) {
  x.size();
  T(x.begin(), x.end());
};
/// Samples begin ... end - 1 of an array, a list, a pair, tuple or plain struct of those, or a class with size() and
/// rows(begin, end).
template <class Batch>
Batch rows_of(const Batch& batch, std::int64_t begin, std::int64_t end) {
  if constexpr (WithRows<Batch>) {
    return batch.rows(begin, end);
  } else if constexpr (is_array<Batch>) {
    return batch[{slice(begin, end)}];
  } else if constexpr (ListLike<Batch>) {
    return Batch(batch.begin() + begin, batch.begin() + end);
  } else if constexpr (TupleLike<Batch>) {
    return std::apply([&](const auto&... part) { return Batch(rows_of(part, begin, end)...); }, batch);
  } else {
    static_assert(kit::detail::field_count<Batch>() > 0, "this type cannot be cut: give it size() and rows()");
    return std::apply([&](const auto&... part) { return Batch{rows_of(part, begin, end)...}; },
                      kit::detail::fields(batch));
  }
}

}  // namespace xgrad::mpi::detail
