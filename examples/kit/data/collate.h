// Collating samples into a batch: arrays are stacked, numbers become arrays.
#pragma once

#include <concepts>
#include <cstdint>
#include <ranges>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <xgrad/core/graph/tensor.h>
#include <xgrad/kit/data/dataset.h>
#include <xgrad/ops/shape/join.h>

namespace xgrad::kit {

namespace detail {
template <class T>
concept TupleLike = requires { std::tuple_size<T>::value; };

template <class T>
concept NumberList = std::ranges::contiguous_range<const T> && std::is_arithmetic_v<std::ranges::range_value_t<const T>> &&
                     !std::same_as<T, std::string> && !is_array<T>;

/// The numbers of a list (N).
template <class List>
auto numbers_of(const List& list) {
  using Number = std::ranges::range_value_t<const List>;
  if constexpr (std::same_as<Number, bool>) {
    return Mask(list);
  } else if constexpr (std::integral<Number>) {
    return Index(list);
  } else {
    return Tensor(Array(list));
  }
}

/// A value that converts to the type of any field, for counting fields.
struct Anything {
  template <class T>
  operator T() const;
};
template <class T, std::size_t... Places>
constexpr bool takes(std::index_sequence<Places...>) {
  return requires { T{(static_cast<void>(Places), Anything())...}; };
}
/// The number of fields of a plain struct, from 1 to 6; 0 for other types.
template <class T, int Most = 6>
constexpr int field_count() {
  if constexpr (!std::is_aggregate_v<T> || takes<T>(std::make_index_sequence<7>())) {
    return 0;
  } else if constexpr (Most == 0 || takes<T>(std::make_index_sequence<Most>())) {
    return Most;
  } else {
    return field_count<T, Most - 1>();
  }
}
/// The fields of a plain struct as a tuple of references.
template <class T>
auto fields(const T& sample) {
  constexpr int count = field_count<T>();
  if constexpr (count == 1) {
    const auto& [a] = sample;
    return std::tie(a);
  } else if constexpr (count == 2) {
    const auto& [a, b] = sample;
    return std::tie(a, b);
  } else if constexpr (count == 3) {
    const auto& [a, b, c] = sample;
    return std::tie(a, b, c);
  } else if constexpr (count == 4) {
    const auto& [a, b, c, d] = sample;
    return std::tie(a, b, c, d);
  } else if constexpr (count == 5) {
    const auto& [a, b, c, d, e] = sample;
    return std::tie(a, b, c, d, e);
  } else {
    const auto& [a, b, c, d, e, f] = sample;
    return std::tie(a, b, c, d, e, f);
  }
}
}  // namespace detail

/// Collates samples of type T into a batch:
///
///     a floating-point number        Tensor (B)
///     an integer, a boolean          Index (B), Mask (B)
///     Tensor, Array, Index, Mask     the same type with one more axis at the front: (B, ...)
///     a list of numbers              Tensor, Index or Mask (B, N)
///     std::string                    std::vector<std::string>
///     a pair, a tuple, a struct      std::tuple with a batch for each part (a struct may have up to 6 fields)
///
/// Throws ShapeError, which names the sample, if shapes differ; ValueError for an empty list.
template <class T>
auto default_collate(const std::vector<T>& samples) {
  if (samples.empty()) fail<ValueError>("collate", "a batch needs samples");
  const auto parts = [&]<std::size_t... Places>(const auto& part_of, std::index_sequence<Places...>) {
    const auto part = [&]<std::size_t J>(std::integral_constant<std::size_t, J>) {
      std::vector<std::remove_cvref_t<decltype(std::get<J>(part_of(samples.front())))>> all;
      all.reserve(samples.size());
      for (const T& sample : samples) all.push_back(std::get<J>(part_of(sample)));
      return default_collate(all);
    };
    return std::tuple<decltype(part(std::integral_constant<std::size_t, Places>()))...>(
        part(std::integral_constant<std::size_t, Places>())...);
  };
  if constexpr (std::is_arithmetic_v<T>) {
    return detail::numbers_of(samples);
  } else if constexpr (detail::is_array<T>) {
    for (std::size_t i = 1; i < samples.size(); ++i) {
      if (samples[i].shape() == samples[0].shape()) continue;
      fail<ShapeError>("collate", "sample ", i, " of the batch is ", samples[i].shape(), ", sample 0 ",
                       samples[0].shape(), "; a function that makes the batch can pad them");
    }
    return stack(samples);
  } else if constexpr (std::same_as<T, std::string>) {
    return samples;
  } else if constexpr (detail::NumberList<T>) {
    std::vector<decltype(detail::numbers_of(samples.front()))> lists;
    for (const T& sample : samples) lists.push_back(detail::numbers_of(sample));
    return default_collate(lists);
  } else if constexpr (detail::TupleLike<T>) {
    return parts([](const T& sample) -> const T& { return sample; }, std::make_index_sequence<std::tuple_size_v<T>>());
  } else if constexpr (detail::field_count<T>() > 0) {
    return parts([](const T& sample) { return detail::fields(sample); },
                 std::make_index_sequence<static_cast<std::size_t>(detail::field_count<T>())>());
  } else {
    static_assert(detail::field_count<T>() > 0,
                  "samples of this type need a function that makes a batch of them: DataLoader loader{data, {...}, f}");
  }
}

}  // namespace xgrad::kit
