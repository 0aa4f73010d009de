// Statements that throw away the only thing that their call was for: snippets_test.sh sees a warning at each line between the two
// remarks, and at none below them. Of functions that return one type there is one.
#pragma once

#include <xgrad/core/debug/gradcheck.h>
#include <xgrad/xgrad.h>

namespace discarded {
using namespace xgrad;

inline void discard(const Tensor& x, const Tensor& loss, const nn::Linear& net, optim::Adam& adam) {
  // from here
  tanh(x);
  x + x;
  x.value();
  x == x;
  allclose(x, x);
  equal(x.value(), x.value());
  split(x, 2);
  unbind(x);
  meshgrid({x, x});
  sort(x);
  max(x, 0);
  linalg::svd(x);
  linalg::slogdet(x);
  grad(loss, net.parameters());
  hessian([](const Tensor& t) { return t * t; }, x);
  vjp([](const Tensor& t) { return t * t; }, x);
  gradcheck([](const Tensors& t) { return sum(t[0]); }, {x});
  net.parameters();
  net.state_dict();
  adam.parameters();
  adam.state_dict();
  optim::clip_grad_norm({x}, {x}, 1.0);
  optim::trainable({x});
  // to here
  adam.step();
  adam.step(grad(loss, net.parameters()));
  loss.backward();
  x.named("x");
  x.set_requires_grad();
}

}  // namespace discarded
