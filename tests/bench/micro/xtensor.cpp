// xtensor's expressions as somebody would write them, on the pool's memory, each reduction evaluated once, beside the
// operations: where they are as good, and why the loops over rows are the library's own.
#include <xgrad/core/array/xtensor_functions.h>
#include <xgrad/xgrad.h>

#include "table.h"

namespace {

using namespace micro;

// xtensor's container on the pool of the library.
using Numbers = xt::xarray_container<xt::uvector<Real, PoolAllocator<Real>>, xt::layout_type::row_major,
                                     xt::svector<std::size_t, 4>>;

Array softmax_by_xtensor(const Array& a) {
  const auto x = view(a);
  const Numbers largest = xt::amax(x, {1}, xt::keep_dims);
  const Numbers e = xt::exp(x - largest);
  const Numbers total = xt::sum(e, {1}, xt::keep_dims);
  return to_array(e / total);
}

const bool added = add(
    "xtensor", {of_two("add", 3, [](const Tensor& a, const Tensor& b) { return a + b; }),
                of_two("xtensor_add", 3,
                    [](const Tensor& a, const Tensor& b) { return to_array(view(a.value()) + view(b.value())); }),
                of_two("softmax", 2, [](const Tensor& a, const Tensor&) { return softmax(a); }),
                of_two("xtensor_softmax", 2, [](const Tensor& a, const Tensor&) { return softmax_by_xtensor(a.value()); }),
                of_two("transpose", 2, [](const Tensor& a, const Tensor&) { return transpose(a); }),
                of_two("xtensor_transpose", 2,
                    [](const Tensor& a, const Tensor&) { return to_array(xt::transpose(view(a.value()))); }),
                of_two("concat", 4,
                    [](const Tensor& a, const Tensor& b) {
                      return concat({a, b}, 1);
                    }),
                of_two("xtensor_concat", 4, [](const Tensor& a, const Tensor& b) {
                  return to_array(xt::concatenate(xt::xtuple(view(a.value()), view(b.value())), 1));
                })});

}  // namespace
