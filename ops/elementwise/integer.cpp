// Arithmetic on integers, checked for overflow.
#include "integer.h"

#include "../kernels/registers/loops.h"

namespace xgrad {
namespace {

Index elementwise(const char* op, const Index& a, const Index& b, const auto& f) {
  return map_elements<std::int64_t>({broadcast_shapes(op, a.shape(), b.shape()), {op}}, f, a, b);
}

// Throws where C++ leaves a division undefined.
void check_divisor(const char* op, std::int64_t a, std::int64_t b) {
  if (b == 0) fail<ValueError>(op, a, " divided by 0");
  if (b == -1) (void)checked_multiply(op, a, -1);
}

}  // namespace

Index operator+(const Index& a, const Index& b) {
  return elementwise("add", a, b, [](std::int64_t p, std::int64_t q) { return checked_add("add", p, q); });
}

Index operator-(const Index& a, const Index& b) {
  return elementwise("sub", a, b, [](std::int64_t p, std::int64_t q) {
    std::int64_t result;
    if (__builtin_sub_overflow(p, q, &result)) fail<LimitError>("sub", p, " - ", q, " does not fit 64 bits");
    return result;
  });
}

Index operator*(const Index& a, const Index& b) {
  return elementwise("mul", a, b, [](std::int64_t p, std::int64_t q) { return checked_multiply("mul", p, q); });
}

Index operator/(const Index& a, const Index& b) {
  return elementwise("div", a, b, [](std::int64_t p, std::int64_t q) {
    check_divisor("div", p, q);
    return p / q;
  });
}

Index operator%(const Index& a, const Index& b) {
  return elementwise("remainder", a, b, [](std::int64_t p, std::int64_t q) {
    check_divisor("remainder", p, q);
    return p % q;
  });
}

Index operator-(const Index& x) { return Index(Shape{}, 0) - x; }

}  // namespace xgrad
