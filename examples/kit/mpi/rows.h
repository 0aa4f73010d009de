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
/// A plain struct.
template <class T>
concept StructLike = kit::detail::field_count<T>() > 0;

/// Whether rows_of() takes such a batch: an array, a list, a pair, tuple or plain struct of those, or a class with
/// size() and rows(begin, end).
template <class Batch>
constexpr bool has_rows();
/// Whether that holds for all parts of a tuple.
template <class Tuple>
constexpr bool all_have_rows() {
  return []<std::size_t... i>(std::index_sequence<i...>) {
    return (has_rows<std::remove_cvref_t<std::tuple_element_t<i, Tuple>>>() && ...);
  }(std::make_index_sequence<std::tuple_size_v<Tuple>>());
}
template <class Batch>
constexpr bool has_rows() {
  if constexpr (WithRows<Batch> || is_array<Batch> || ListLike<Batch>) {
    return true;
  } else if constexpr (TupleLike<Batch>) {
    return all_have_rows<Batch>();
  } else if constexpr (StructLike<Batch>) {
    return all_have_rows<decltype(kit::detail::fields(std::declval<const Batch&>()))>();
  } else {
    return false;
  }
}

/// Samples begin ... end - 1.
template <class Batch>
Batch rows_of(const Batch& batch, std::int64_t begin, std::int64_t end) {
  static_assert(has_rows<Batch>(), "a batch of this type cannot be cut: give it size() and rows(begin, end)");
  if constexpr (WithRows<Batch>) {
    return batch.rows(begin, end);
  } else if constexpr (is_array<Batch>) {
    return batch[{slice(begin, end)}];
  } else if constexpr (ListLike<Batch>) {
    return Batch(batch.begin() + begin, batch.begin() + end);
  } else if constexpr (TupleLike<Batch>) {
    return std::apply([&](const auto&... part) { return Batch(rows_of(part, begin, end)...); }, batch);
  } else {
    return std::apply([&](const auto&... part) { return Batch{rows_of(part, begin, end)...}; },
                      kit::detail::fields(batch));
  }
}

}  // namespace xgrad::mpi::detail
