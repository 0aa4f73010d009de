// The number of samples in a batch.
#pragma once

#include <concepts>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include <xgrad/kit/data/collate.h>

namespace xgrad::kit::detail {

/// A batch that says how many samples it holds.
template <class Batch>
concept WithSize = requires(const Batch& batch) {
  { batch.size() } -> std::integral;
};

/// Whether samples_of() takes such a batch: an array, something with size(), or a pair, tuple or plain struct whose
/// first part is one of those.
template <class Batch>
constexpr bool has_samples() {
  if constexpr (is_array<Batch>) {
    return true;
  } else if constexpr (TupleLike<Batch>) {
    return has_samples<std::remove_cvref_t<std::tuple_element_t<0, Batch>>>();
  } else if constexpr (WithSize<Batch>) {
    return true;
  } else if constexpr (field_count<Batch>() > 0) {
    using Fields = decltype(fields(std::declval<const Batch&>()));
    return has_samples<std::remove_cvref_t<std::tuple_element_t<0, Fields>>>();
  } else {
    return false;
  }
}

/// The number of samples in a batch; for a pair, tuple or struct, the number in its first part.
template <class Batch>
std::int64_t samples_of(const Batch& batch) {
  if constexpr (is_array<Batch>) {
    return batch.rank() == 0 ? 1 : batch.shape()[0];
  } else if constexpr (TupleLike<Batch>) {
    return samples_of(std::get<0>(batch));
  } else if constexpr (WithSize<Batch>) {
    return static_cast<std::int64_t>(batch.size());
  } else {
    return samples_of(std::get<0>(fields(batch)));
  }
}

}  // namespace xgrad::kit::detail
