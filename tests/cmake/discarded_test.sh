#!/usr/bin/env bash
# A statement that throws away the only thing that its call was for is a warning of every compiler.
source "$(dirname "${BASH_SOURCE[0]}")/../support/script.sh"

cat >"$sandbox/program.cpp" <<'END_OF_FILE'
#include <xgrad/core/debug/gradcheck.h>
#include <xgrad/core/graph/grad.h>
#include <xgrad/nn/nn.h>
#include <xgrad/ops/ops.h>
#include <xgrad/optim/optim.h>

using namespace xgrad;

void discard(const Tensor& x, const Tensor& loss, const nn::Linear& net, optim::Adam& adam) {
  const TensorFunction f = [](const Tensor& t) { return t * t; };
  // from here
  grad(loss, net.parameters());
  loss.grad();
  x.value();
  x.detach();
  x[0];
  (x * 2).named("y");
  x + x;
  x == x;
  tanh(x);
  reshape(x, {2, 3});
  masked_fill(x, x > 0, -infinity);
  arange(3);
  split(x, 2);
  unbind(x);
  meshgrid({x, x});
  sort(x);
  topk(x, 1);
  max(x, 0);
  linalg::svd(x);
  linalg::slogdet(x);
  allclose(x, x);
  equal(x.value(), x.value());
  hessian(f, x);
  vjp(f, x);
  gradcheck([](const Tensors& t) { return sum(t[0]); }, {x});
  checkpoint(f, x);
  net(x);
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
END_OF_FILE
first=$(grep -n '// from here' "$sandbox/program.cpp" | cut -d: -f1) last=$(grep -n '// to here' "$sandbox/program.cpp" | cut -d: -f1)
expected=$(seq $((first + 1)) $((last - 1)))
for compiler in g++ clang++; do
  command -v "$compiler" >/dev/null || continue
  said=$("$compiler" -std=c++20 -fsyntax-only -I"$root/cmake/include" "$sandbox/program.cpp" 2>&1) || { grep error <<<"$said"; exit 1; }
  warned=$(sed -nE 's/.*program\.cpp:([0-9]+):.*warning: .*/\1/p' <<<"$said" | sort -nu)
  if [ "$warned" != "$expected" ]; then
    diff <(echo "$expected") <(echo "$warned") | sed -nE 's/^[<>] //p' | while read -r line; do sed -n "${line}p" "$sandbox/program.cpp"; done
    echo "$compiler warns of other lines than those between 'from here' and 'to here': these lines differ"
    exit 1
  fi
done
