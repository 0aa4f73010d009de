// Arrays and tensors from numbers, patterns and chance.
#include <xgrad/ops/create.h>

#include <vector>

namespace xgrad::inline XGRAD_ABI {
namespace {

// Goes down nested lists of numbers: notes the size of each level, refuses rows of unequal length.
template <class T>
class Nested {
 public:
  explicit Nested(const char* op) : op_(op) {}

  void add(std::initializer_list<T> row, int level) {
    measure(level, row.size());
    values_.insert(values_.end(), row.begin(), row.end());
  }
  template <class List>
  void add(std::initializer_list<std::initializer_list<List>> rows, int level) {
    measure(level, rows.size());
    for (const auto& row : rows) add(row, level + 1);
  }
  BasicArray<T> array(int levels) {
    while (shape_.rank() < levels) shape_.push_back(0);
    return BasicArray<T>(shape_, std::span<const T>(values_));
  }

 private:
  void measure(int level, std::size_t count) {
    const auto size = static_cast<std::int64_t>(count);
    if (level == shape_.rank()) shape_.push_back(size);
    if (shape_[level] != size) {
      fail<ShapeError>(op_, "rows of ", shape_[level], " and of ", size, " elements at depth ", level);
    }
  }

  const char* op_;
  Shape shape_;
  std::vector<T> values_;
};

template <class T, class List>
BasicArray<T> nested(const char* op, const List& list, int levels) {
  Nested<T> numbers(op);
  numbers.add(list, 0);
  return numbers.array(levels);
}

template <class T>
Tensor reals(const BasicArray<T>& from) {
  Array result(from.shape());
  std::transform(from.begin(), from.end(), result.mutable_data(), [](T value) { return static_cast<Real>(value); });
  return result;
}

}  // namespace

Tensor tensor(std::initializer_list<Real> values) { return nested<Real>("tensor", values, 1); }
Tensor tensor(std::initializer_list<std::initializer_list<Real>> values) { return nested<Real>("tensor", values, 2); }
Tensor tensor(std::initializer_list<std::initializer_list<std::initializer_list<Real>>> values) {
  return nested<Real>("tensor", values, 3);
}
Index index(std::initializer_list<std::int64_t> values) { return nested<std::int64_t>("index", values, 1); }
Index index(std::initializer_list<std::initializer_list<std::int64_t>> values) {
  return nested<std::int64_t>("index", values, 2);
}

Tensor zeros(const Shape& shape) { return full(shape, 0); }
Tensor ones(const Shape& shape) { return full(shape, 1); }
Tensor full(const Shape& shape, Real value) { return Array(shape, value); }
Tensor zeros_like(const Tensor& x) { return zeros(x.shape()); }
Tensor ones_like(const Tensor& x) { return ones(x.shape()); }

Index arange(std::int64_t n) {
  if (n < 0) fail<ValueError>("arange", "negative count ", n);
  return arange(0, n);
}

Index arange(std::int64_t first, std::int64_t last, std::int64_t step) {
  if (step == 0) fail<ValueError>("arange", "step is 0");
  const std::int64_t distance = step > 0 ? last - first : first - last;
  const std::int64_t stride = step > 0 ? step : -step;
  Index result(Shape{distance > 0 ? (distance + stride - 1) / stride : 0});
  std::int64_t* out = result.mutable_data();
  for (std::int64_t i = 0; i < result.size(); ++i) out[i] = first + i * step;
  return result;
}

Tensor linspace(Real first, Real last, std::int64_t count) {
  if (count < 0) fail<ValueError>("linspace", "negative count ", count);
  Array result(Shape{count});
  Real* out = result.mutable_data();
  for (std::int64_t i = 0; i < count; ++i) {
    const Real t = count == 1 ? 0 : static_cast<Real>(i) / static_cast<Real>(count - 1);
    out[i] = i == count - 1 && count > 1 ? last : first + t * (last - first);
  }
  return result;
}

Tensor eye(std::int64_t n) { return eye(n, n); }

Tensor eye(std::int64_t rows, std::int64_t columns) {
  Array result(Shape{rows, columns}, Real(0));
  Real* out = result.mutable_data();
  for (std::int64_t i = 0; i < std::min(rows, columns); ++i) out[i * columns + i] = 1;
  return result;
}

Tensor to_real(const Index& numbers) { return reals(numbers); }
Tensor to_real(const Mask& mask) { return reals(mask); }

Tensor rand(const Shape& shape) { return random_uniform(shape, next_random_key()); }
Tensor randn(const Shape& shape) { return random_normal(shape, next_random_key()); }
Index randint(std::int64_t low, std::int64_t high, const Shape& shape) {
  return random_integers(low, high, shape, next_random_key());
}

}  // namespace xgrad::inline XGRAD_ABI
