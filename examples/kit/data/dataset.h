// Data sets: numbered samples. Every type with size() and operator[] is a data set, for example a std::vector, or a
// class that reads a file on demand.
//
//     struct Squares {                                           // a data set of your own
//       std::int64_t size() const { return 100; }
//       std::pair<Tensor, std::int64_t> operator[](std::int64_t i) const { return {tensor({Real(i)}), i * i}; }
//     };
//     const kit::TensorDataset points{x, labels};                // the rows of arrays in memory
#pragma once

#include <concepts>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <xgrad/core/graph/tensor.h>
#include <xgrad/ops/shape/join.h>

namespace xgrad::kit {

namespace detail {
template <class T>
inline constexpr bool is_array =
    std::same_as<T, Tensor> || std::same_as<T, Array> || std::same_as<T, Index> || std::same_as<T, Mask>;

template <class D>
concept Sized = requires(const D& data) {
  { data.size() } -> std::convertible_to<std::int64_t>;
} && !is_array<D>;

/// The type that numbers samples.
template <class D>
struct Position {
  using type = std::int64_t;
};
template <class D>
  requires requires { typename D::size_type; }
struct Position<D> {
  using type = typename D::size_type;
};
}  // namespace detail

/// `data.size()` samples; sample i is `data.get(i)` or `data[i]`. Worker threads call these functions at the same time.
template <class D>
concept Dataset = detail::Sized<D> && (
                                          requires(const D& data, std::int64_t i) { data.get(i); } ||
                                          requires(const D& data, typename detail::Position<D>::type i) { data[i]; });

/// `data.size()` samples that are read in batches: `data.batch(rows)` is a batch of the samples with these numbers.
template <class D>
concept BatchedDataset = detail::Sized<D> && requires(const D& data, const Index& rows) { data.batch(rows); };

/// Sample i of a data set.
template <Dataset D>
auto sample_of(const D& data, std::int64_t i) {
  if constexpr (requires { data.get(i); }) {
    return data.get(i);
  } else {
    return data[static_cast<typename detail::Position<D>::type>(i)];
  }
}

namespace detail {
/// Throws ShapeError unless all shapes have the same number of rows.
inline void check_rows(const std::vector<Shape>& shapes) {
  for (const Shape& shape : shapes) {
    if (shape.rank() == 0 || shapes.front().rank() == 0 || shape[0] != shapes.front()[0]) {
      fail<ShapeError>("tensor_dataset", "needs arrays with equally many rows, got ", shapes);
    }
  }
}

/// Throws ValueError unless 0 <= i < size.
inline void check_sample(const char* op, std::int64_t i, std::int64_t size) {
  if (i < 0 || i >= size) fail<ValueError>(op, "sample ", i, " is not in [0, ", size, ")");
}

inline Tensor without_history(const Tensor& part) { return part.detach(); }
template <class T>
BasicArray<T> without_history(BasicArray<T> part) {
  return part;
}
}  // namespace detail

/// The rows of several arrays as samples: sample i is (x[i], y[i], ...). Each array is a Tensor, Array, Index or Mask.
/// Only the values of a Tensor are used, not its graph.
///
/// Threads: several threads may read one object.
template <class... Parts>
  requires(sizeof...(Parts) > 0 && (detail::is_array<Parts> && ...))
class TensorDataset {
 public:
  /// Throws ShapeError unless all arrays have the same number of rows.
  explicit TensorDataset(Parts... parts) : parts_(detail::without_history(std::move(parts))...) {
    std::apply([](const Parts&... part) { detail::check_rows({part.shape()...}); }, parts_);
  }

  std::int64_t size() const { return std::get<0>(parts_).dim(0); }
  /// Row i of each array. Throws ValueError if there is no such row.
  std::tuple<Parts...> get(std::int64_t i) const {
    detail::check_sample("tensor_dataset", i, size());
    return std::apply([i](const Parts&... part) { return std::tuple<Parts...>(part[{i}]...); }, parts_);
  }
  /// The rows with these numbers (B): arrays whose first axis has size B. Throws ValueError if there is no such row.
  std::tuple<Parts...> batch(const Index& rows) const {
    for (const std::int64_t row : rows) detail::check_sample("tensor_dataset", row, size());
    return std::apply([&](const Parts&... part) { return std::tuple<Parts...>(part[rows]...); }, parts_);
  }

 private:
  std::tuple<Parts...> parts_;
};

}  // namespace xgrad::kit
