// xtensor's expressions as somebody would write them, on the pool's memory, each reduction evaluated once, beside the
// operations: where they are as good, and why the loops over rows are the library's own.
#include <xgrad/core/array/xtensor_functions.h>
#include <xgrad/xgrad.h>

#include "table.h"

namespace {

using namespace micro;

constexpr std::int64_t N = 768 * 512;
const Shape shape{768, 512};
// xtensor's container on the pool of the library.
using Numbers = xt::xarray_container<xt::uvector<Real, PoolAllocator<Real>>, xt::layout_type::row_major,
                                     xt::svector<std::size_t, 4>>;

// f(a, b) of two matrices.
template <class F>
Row row(const char* name, double arrays, F f) {
  return {name, arrays * N, 0, [=] {
            const Tensor a = numbers(shape), b = numbers(shape);
            return forward([=] { return f(a, b); });
          }};
}

Array softmax_by_xtensor(const Array& a) {
  const auto x = view(a);
  const Numbers largest = xt::amax(x, {1}, xt::keep_dims);
  const Numbers e = xt::exp(x - largest);
  const Numbers total = xt::sum(e, {1}, xt::keep_dims);
  return to_array(e / total);
}

const bool added = add(
    "xtensor", {row("add", 3, [](const Tensor& a, const Tensor& b) { return a + b; }),
                row("xtensor_add", 3,
                    [](const Tensor& a, const Tensor& b) { return to_array(view(a.value()) + view(b.value())); }),
                row("softmax", 2, [](const Tensor& a, const Tensor&) { return softmax(a); }),
                row("xtensor_softmax", 2, [](const Tensor& a, const Tensor&) { return softmax_by_xtensor(a.value()); }),
                row("transpose", 2, [](const Tensor& a, const Tensor&) { return transpose(a); }),
                row("xtensor_transpose", 2,
                    [](const Tensor& a, const Tensor&) { return to_array(xt::transpose(view(a.value()))); }),
                row("concat", 4,
                    [](const Tensor& a, const Tensor& b) {
                      return concat({a, b}, 1);
                    }),
                row("xtensor_concat", 4, [](const Tensor& a, const Tensor& b) {
                  return to_array(xt::concatenate(xt::xtuple(view(a.value()), view(b.value())), 1));
                })});

}  // namespace
