// Shapes that have to agree, and padding.
#include <xgrad/kit/data/collate.h>

#include <algorithm>
#include <cmath>

#include <xgrad/core/base/error.h>

namespace xgrad::kit {
namespace {

/// `rest` after these first axes.
Shape behind(std::initializer_list<std::int64_t> first, const Shape& rest) {
  Shape shape(first);
  for (int axis = 1; axis < rest.rank(); ++axis) shape.push_back(rest[axis]);
  return shape;
}

template <class T>
PaddedSequences<BasicArray<T>> padded(const std::vector<BasicArray<T>>& sequences, T padding) {
  if (sequences.empty()) fail<ValueError>("pad_sequence", "needs sequences");
  std::vector<std::int64_t> lengths;
  for (const auto& sequence : sequences) {
    const Shape& shape = sequence.shape();
    if (shape.rank() == 0) fail<ShapeError>("pad_sequence", "sequence ", lengths.size(), " has no axis");
    if (behind({}, shape) != behind({}, sequences.front().shape())) {
      fail<ShapeError>("pad_sequence", "sequence ", lengths.size(), " is ", shape, ", the first ",
                       sequences.front().shape(), "; only the first axis may differ");
    }
    lengths.push_back(shape[0]);
  }
  const std::int64_t longest = *std::ranges::max_element(lengths);
  BasicArray<T> values(behind({std::ssize(sequences), longest}, sequences.front().shape()), padding);
  const std::int64_t row = values.size() / std::ssize(sequences);
  T* out = values.mutable_data();
  for (const auto& sequence : sequences) {
    std::ranges::copy(sequence, out);
    out += row;
  }
  return {std::move(values), Index(lengths)};
}

}  // namespace

void detail::check_rows(const std::vector<Shape>& shapes) {
  for (const Shape& shape : shapes) {
    if (shape.rank() == 0 || shapes.front().rank() == 0 || shape[0] != shapes.front()[0]) {
      fail<ShapeError>("tensor_dataset", "needs arrays with equally many rows, got ", shapes);
    }
  }
}

void detail::check_same_shape(const std::vector<Shape>& shapes) {
  for (std::size_t i = 1; i < shapes.size(); ++i) {
    if (shapes[i] != shapes[0]) {
      fail<ShapeError>("collate", "sample ", i, " of the batch is ", shapes[i], ", sample 0 ", shapes[0],
                       "; pad_sequence makes sequences equally long");
    }
  }
}

PaddedSequences<Tensor> pad_sequence(const Tensors& sequences, const PadSequenceOptions& options) {
  std::vector<Array> arrays;
  for (const Tensor& sequence : sequences) arrays.push_back(sequence.value());
  auto [values, lengths] = padded(arrays, static_cast<Real>(options.padding_value));
  return {Tensor(std::move(values)), std::move(lengths)};
}

PaddedSequences<Index> pad_sequence(const std::vector<Index>& sequences, const PadSequenceOptions& options) {
  const double value = options.padding_value;
  if (std::trunc(value) != value || std::abs(value) > 0x1p53) {
    fail<ValueError>("pad_sequence", "whole numbers cannot be padded with ", value);
  }
  return padded(sequences, static_cast<std::int64_t>(value));
}

}  // namespace xgrad::kit
