// Samples of a batch: how many there are, and some of them.
#pragma once

#include <concepts>
#include <cstdint>
#include <tuple>
#include <utility>

#include <xgrad/core/array/slice.h>

namespace xgrad::mpi::detail {

/// An array of any kind.
template <class T>
concept ArrayLike = requires(const T& x) {
  x.shape();
  x.rank();
};
/// Something that gives samples begin ... end - 1 of itself.
template <class T>
concept WithRows = requires(const T& x) {
  { x.rows(0, 1) } -> std::convertible_to<T>;
};
/// A pair or a tuple.
template <class T>
concept TupleLike = requires { std::tuple_size<T>::value; };

/// Whether rows_of() takes such a batch: an array, a vector, a pair or tuple of those, or a class with size() and
/// rows(begin, end).
template <class Batch>
constexpr bool has_rows() {
  if constexpr (WithRows<Batch> || ArrayLike<Batch>) {
    return true;
  } else if constexpr (TupleLike<Batch>) {
    return []<std::size_t... i>(std::index_sequence<i...>) {
      return (has_rows<std::tuple_element_t<i, Batch>>() && ...);
    }(std::make_index_sequence<std::tuple_size_v<Batch>>());
  } else {
    return requires(const Batch& b) { Batch(b.begin(), b.end()); };
  }
}

/// How many samples a batch has; of a pair or tuple, its first.
template <class Batch>
std::int64_t samples_of(const Batch& batch) {
  if constexpr (ArrayLike<Batch>) {
    return batch.rank() == 0 ? 1 : batch.shape()[0];
  } else if constexpr (TupleLike<Batch>) {
    return samples_of(std::get<0>(batch));
  } else {
    return static_cast<std::int64_t>(batch.size());
  }
}

/// Samples begin ... end - 1.
template <class Batch>
Batch rows_of(const Batch& batch, std::int64_t begin, std::int64_t end) {
  static_assert(has_rows<Batch>(), "a batch of this type cannot be cut: give it size() and rows(begin, end)");
  if constexpr (WithRows<Batch>) {
    return batch.rows(begin, end);
  } else if constexpr (ArrayLike<Batch>) {
    return batch[{slice(begin, end)}];
  } else if constexpr (TupleLike<Batch>) {
    return std::apply([&](const auto&... part) { return Batch(rows_of(part, begin, end)...); }, batch);
  } else {
    return Batch(batch.begin() + begin, batch.begin() + end);
  }
}

}  // namespace xgrad::mpi::detail
