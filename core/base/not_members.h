// Names of PyTorch that are functions here, or have another name. Using one is an error of the compiler that says what
// to write: `x.view({2, 3})` "is unavailable: reshape(x, shape)".
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>

#include "config.h"

namespace xgrad {
namespace detail {

struct Anything {
  Anything() {}
  template <class T>
  Anything(const T&) {}
  Anything(std::initializer_list<Anything>) {}
};

#define XGRAD_INSTEAD(name, ours)                                                                          \
  __attribute__((unavailable(ours))) void name(const detail::Anything& = {}, const detail::Anything& = {}, \
                                               const detail::Anything& = {})
#define XGRAD_NOT_A_MEMBER(name) XGRAD_INSTEAD(name, #name "(x, ...) is a function, not a member") const;

struct NotMembers {
#define XGRAD_FREE(f)                                                                                              \
  f(abs) f(argmax) f(argmin) f(chunk) f(clamp) f(cumsum) f(exp) f(flatten) f(flip) f(gather) f(log) f(masked_fill) \
      f(matmul) f(max) f(mean) f(min) f(norm) f(permute) f(pow) f(relu) f(reshape) f(sigmoid) f(softmax) f(sort)   \
          f(split) f(sqrt) f(squeeze) f(sum) f(tanh) f(topk) f(transpose) f(unsqueeze) f(var)
  XGRAD_FREE(XGRAD_NOT_A_MEMBER)
#undef XGRAD_FREE
#undef XGRAD_NOT_A_MEMBER
#define XGRAD_IN_PLACE(f) f(add_) f(clamp_) f(copy_) f(div_) f(fill_) f(masked_fill_) f(mul_) f(sub_) f(zero_)
#define XGRAD_NOT_IN_PLACE(name) XGRAD_INSTEAD(name, "x = x + y, or w.assign(value) of a leaf") const;
  XGRAD_IN_PLACE(XGRAD_NOT_IN_PLACE)
#undef XGRAD_IN_PLACE
#undef XGRAD_NOT_IN_PLACE
  XGRAD_INSTEAD(T, "transpose(x)") const;
  XGRAD_INSTEAD(clone, "a copy of x is x: tensors are not written in place") const;
  XGRAD_INSTEAD(contiguous, "x, whose elements always are") const;
  XGRAD_INSTEAD(expand, "broadcast_to(x, shape)") const;
  XGRAD_INSTEAD(numel, "x.size()") const;
  XGRAD_INSTEAD(numpy, "x.value(), the Array") const;
  XGRAD_INSTEAD(repeat, "tile(x, counts)") const;
  XGRAD_INSTEAD(requires_grad_, "x.set_requires_grad()") const;
  XGRAD_INSTEAD(tolist, "x.value(), the Array") const;
  XGRAD_INSTEAD(to, "x: there is one device") const;
  XGRAD_INSTEAD(view, "reshape(x, shape)") const;
  __attribute__((unavailable("x.rank()"))) int dim() const;
  __attribute__((unavailable("x.dim(axis)"))) std::int64_t size(std::int64_t axis) const;
};

}  // namespace detail

XGRAD_INSTEAD(bmm, "matmul(a, b)");
XGRAD_INSTEAD(cat, "concat({a, b}, axis)");
XGRAD_INSTEAD(mm, "matmul(a, b)");
XGRAD_INSTEAD(no_grad, "const NoGrad off;");
#undef XGRAD_INSTEAD

// zeros(2, 3) in place of zeros({2, 3})
#define XGRAD_BRACES(name)                        \
  template <std::integral N, std::integral... Ns> \
  __attribute__((unavailable(#name "({2, 3}), with braces"))) void name(N, Ns...);
XGRAD_BRACES(zeros)
XGRAD_BRACES(ones)
XGRAD_BRACES(rand)
XGRAD_BRACES(randn)
#undef XGRAD_BRACES
template <class X, std::integral N, std::integral... Ns>
__attribute__((unavailable("reshape(x, {2, 3}), with braces"))) void reshape(const X&, N, Ns...);

}  // namespace xgrad
