// Distinct numbers.
#include "search.h"

#include <iterator>
#include <vector>

#include "../kernels/sort/sort.h"

namespace xgrad {
namespace {

template <class T>
Unique<T> unique_of(const BasicArray<T>& x) {
  std::vector<T> values;
  std::vector<std::int64_t> counts;
  Index inverse(x.shape());
  std::int64_t* positions = inverse.mutable_data();
  T last{};
  for (const std::int64_t at : first_in_order(x.reshaped({x.size()}), 0, x.size(), false)) {
    const T value = x.data()[at];
    if (values.empty() || precedes(last, value)) {
      values.push_back(value + T(0));  // -0 becomes 0
      counts.push_back(0);
      last = value;
    }
    ++counts.back();
    positions[at] = std::ssize(values) - 1;
  }
  return {BasicArray<T>(values), std::move(inverse), Index(counts)};
}

}  // namespace

Unique<Real> unique(const Tensor& x) { return unique_of(x.value()); }
Unique<std::int64_t> unique(const Index& x) { return unique_of(x); }

}  // namespace xgrad
