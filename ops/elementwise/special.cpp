// Special functions, number by number (ops/kernels/reduce/special.h); their derivatives are special functions, too.
#include "special.h"

#include "../../core/graph/record.h"
#include "../../core/base/formula.h"
#include "../kernels/reduce/special.h"
#include "../kernels/registers/loops.h"
#include "arithmetic.h"

namespace xgrad {

XGRAD_FORMULA polygamma_formula{"polygamma", "y = the n-th derivative of psi(x)", "dy/dx = polygamma(n + 1, x)"};
namespace {

// f of each number.
template <class F>
Array each(const char* op, const Tensor& x, const F& f) {
  return map_elements<Real>(
      {x.shape(), {op}}, [f](Real v) { return static_cast<Real>(f(static_cast<double>(v))); }, x.value());
}

// The derivatives of digamma.
Tensor polygamma(std::int64_t n, const Tensor& x) {
  return record("polygamma", each("polygamma", x, [n](double v) { return detail::polygamma_of(n, v); }),
                wrt(x, [n, x](const Tensor& gy) { return gy * polygamma(n + 1, x); }), told("n", n));
}

}  // namespace

XGRAD_FORMULA lgamma_formula{"lgamma", "y = ln |Gamma(x)|", "dy/dx = digamma x"};
Tensor lgamma(const Tensor& x) {
  return record("lgamma", each("lgamma", x, detail::lgamma_of),
                wrt(x, [x](const Tensor& gy) { return gy * digamma(x); }));
}

XGRAD_FORMULA digamma_formula{"digamma", "y = psi(x), the derivative of ln Gamma(x)", "dy/dx = polygamma(1, x)"};
Tensor digamma(const Tensor& x) {
  return record("digamma", each("digamma", x, detail::digamma_of),
                wrt(x, [x](const Tensor& gy) { return gy * polygamma(1, x); }));
}

}  // namespace xgrad
