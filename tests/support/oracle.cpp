// xtensor's reductions are lazy here: the immediate ones do not survive axes of size 0.
#include "oracle.h"

#include <xgrad/core/array/xtensor_functions.h>

namespace xgrad::testing::oracle {
namespace {

std::vector<std::size_t> list(const Axes& axes) { return {axes.begin(), axes.end()}; }

std::vector<std::size_t> with_first(const Axes& axes) {
  std::vector<std::size_t> result{0};
  for (const int axis : axes) result.push_back(static_cast<std::size_t>(axis) + 1);
  return result;
}

// f(x), where x has an axis of size 1 in front, so that there always is one to reduce over. A container without numbers has
// no storage whose end xtensor could count back from; a constant of no size needs none.
template <class F>
Array reduced(const Array& x, const F& f) {
  std::vector<std::size_t> sizes{1};
  sizes.insert(sizes.end(), x.shape().begin(), x.shape().end());
  const auto size = static_cast<std::size_t>(x.size());
  const Array y = size == 0 ? to_array(f(xt::zeros<Real>(sizes)))
                            : to_array(f(xt::adapt(x.data(), size, xt::no_ownership(), sizes)));
  Shape shape = y.shape();
  shape.erase(0);
  return y.reshaped(shape);
}

}  // namespace

Array sum(const Array& x, const Axes& axes) {
  return reduced(x, [&](const auto& all) { return xt::sum(all, with_first(axes), xt::keep_dims); });
}
Array mean(const Array& x, const Axes& axes) {
  return reduced(x, [&](const auto& all) { return xt::mean(all, with_first(axes), xt::keep_dims); });
}
Array max(const Array& x, const Axes& axes) {
  return reduced(x, [&](const auto& all) { return xt::amax(all, with_first(axes), xt::keep_dims); });
}
Array min(const Array& x, const Axes& axes) {
  return reduced(x, [&](const auto& all) { return xt::amin(all, with_first(axes), xt::keep_dims); });
}
Array prod(const Array& x, const Axes& axes) {
  return reduced(x, [&](const auto& all) { return xt::prod(all, with_first(axes), xt::keep_dims); });
}
Array var(const Array& x, const Axes& axes) {
  return reduced(x, [&](const auto& all) {
    const xt::xarray<Real> middle = xt::mean(all, with_first(axes), xt::keep_dims);
    return xt::xarray<Real>(xt::mean(xt::square(all - middle), with_first(axes), xt::keep_dims));
  });
}
Array logsumexp(const Array& x, const Axes& axes) {
  return reduced(x, [&](const auto& all) {
    const xt::xarray<Real> total = xt::sum(xt::exp(all), with_first(axes), xt::keep_dims);
    return xt::xarray<Real>(xt::log(total));
  });
}

Array broadcast(const Array& x, const Shape& shape) {
  return to_array(xt::broadcast(view(x), std::vector<std::size_t>(shape.begin(), shape.end())));
}

Array matmul(const Array& a, const Array& b) {
  const auto left = view(a), right = view(b);
  const Array terms = to_array(xt::expand_dims(left, left.dimension()) *
                               xt::expand_dims(right, right.dimension() - 2));  // (..., m, k, 1) (..., 1, k, n)
  const int inner = terms.rank() - 2;
  const Array y = sum(terms, {inner});
  Shape shape = y.shape();
  shape.erase(inner);
  return y.reshaped(shape);
}

Array counting(const Shape& shape) { return to_array(xt::cast<Real>(xt::arange(shape.numel()))).reshaped(shape); }

Array permute(const Array& x, const Axes& axes) { return to_array(xt::transpose(view(x), list(axes))); }

}  // namespace xgrad::testing::oracle
