// Fused operations under Plain: what the graph shows, who keeps to it, and values where formulas would fail.
#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include <xgrad/ops/derivatives/checkpoint.h>
#include <xgrad/ops/ops.h>

#include "support/catalogue.h"
#include "support/fused.h"

using namespace xgrad;
using namespace xgrad::testing;

namespace {

using Names = std::vector<std::string>;

// The operations behind y, from the first to the last.
Names operations(const Tensor& y) { return operations_in({y}); }

bool has(const Names& names, const std::string& op) { return std::ranges::find(names, op) != names.end(); }

const Mask late({3, 4}, {0, 0, 0, 1, 0, 0, 1, 1, 0, 1, 1, 1});

}  // namespace

TEST_CASE("under Plain a fused operation is recorded as what it is composed of, of the same value and gradient") {
  for (const Call& call : all_calls(3, 4)) {
    if (!call.plain) continue;
    CAPTURE(call.name);
    const Tensors xs = call.leaves();
    const Tensor fused = call.run(xs), composed = call.plain(xs);
    const Tensor unfolded = [&] {
      const Plain plain;
      return call.run(xs);
    }();
    CHECK(has(operations(fused), call.op()) == (call.op() != "linear_attention"));
    CHECK_FALSE(has(operations(unfolded), call.op()));
    CHECK_FALSE(has(operations(composed), call.op()));
    check_close(unfolded.value(), fused.value());
    check_close(composed.value(), fused.value());
    const Tensor v = normal(fused.shape(), 77);
    const Tensors expected = grad(fused, xs, {.seed = v});
    check_each_close(grad(unfolded, xs, {.seed = v}), expected);
    check_each_close(grad(composed, xs, {.seed = v}), expected);
  }
}

TEST_CASE("the graph of plain attention is matmul, scale, mask, softmax, matmul, and that of softmax exp, sum, div") {
  const Tensor q = variable(normal({1, 1, 3, 4})), k = variable(normal({1, 1, 3, 4}, 2));
  const Tensor v = variable(normal({1, 1, 3, 4}, 3));
  const auto drawn = [&](const AttentionOptions& options) {
    const Plain plain;
    Names names = operations(scaled_dot_product_attention(q, k, v, options));
    std::erase(names, "reshape");
    return names;
  };
  CHECK(drawn({.mask = {.causal = true}}) == Names{"matmul", "mul", "masked_fill", "softmax", "matmul"});
  CHECK(drawn({}) == Names{"matmul", "mul", "softmax", "matmul"});
  CHECK(drawn({.mask = {.masked = late[{slice(0, 3), slice(0, 3)}]}, .dropout = 0.5}) ==
        Names{"matmul", "mul", "masked_fill", "softmax", "dropout", "matmul"});
  const Plain plain;
  CHECK(operations(softmax(q)) == Names{"sub", "exp", "sum", "div"});
  CHECK(operations(layer_norm(q)).size() > 5);
}

TEST_CASE("Plain ends with its scope, also by an exception, and scopes nest") {
  CHECK_FALSE(runs_plain());
  try {
    const Plain plain;
    CHECK(runs_plain());
    {
      const Plain kernels(false);
      CHECK_FALSE(runs_plain());
      const Plain again;
      CHECK(runs_plain());
    }
    CHECK(runs_plain());
    CHECK_THROWS_AS(softmax(Array({2, 3}, 0), 2), ValueError);
    CHECK(runs_plain());
    throw std::runtime_error("out");
  } catch (const std::runtime_error&) {
  }
  CHECK_FALSE(runs_plain());
  CHECK(operations(softmax(variable(normal({3})))) == Names{"softmax"});
}

TEST_CASE("rules, and the second run of a checkpoint, keep to what held in their forward pass") {
  const Tensor x = variable(normal({4}));
  std::vector<bool> seen;
  const auto spied = [&](const Tensor& u) {
    return record("told", u.value(), wrt(u, [&](const Tensor& gy) {
                    seen.push_back(runs_plain());
                    return gy * softmax(gy);
                  }));
  };
  const auto function = [&](const Tensor& u) {
    seen.push_back(runs_plain());
    return spied(u);
  };
  for (const bool forward : {false, true}) {
    for (const bool backward : {false, true}) {
      CAPTURE(forward);
      CAPTURE(backward);
      seen.clear();
      const auto recorded = [&](const auto& f) {
        const Plain scope(forward);
        return f();
      };
      const Tensor y = recorded([&] { return spied(x); });
      const Tensor z = recorded([&] { return checkpoint(function, x); });
      const Plain scope(backward);
      const Tensor g = grad(y, {x}, {.seed = variable(normal({4}, 2)), .create_graph = true})[0];
      CHECK(has(operations(g), forward ? "exp" : "softmax"));
      CHECK_FALSE(has(operations(g), forward ? "softmax" : "exp"));
      grad(z, {x}, {.seed = normal({4}, 2)});
      CHECK(seen == std::vector<bool>(4, forward));  // the rule; the function twice, and its rule
      CHECK(runs_plain() == backward);
    }
  }
}

TEST_CASE("plain forms keep what their operations promise of numbers that are no numbers, too large or too small") {
  const auto same = [](const auto& f) {
    const Tensor expected = f();
    const Plain plain;
    const Tensor got = f();
    check_close(got.value(), expected.value());
  };
  for (const Array& x : {Array({3}, -infinity), Array({3}, {infinity, 5, infinity}), Array({3}, {0, -infinity, 0}),
                         Array({3}, {1e300, -1e300, 1e300}), Array({3}, {infinity, -infinity, 1}), Array({0, 3}, 0)}) {
    same([&] { return softmax(x); });
    same([&] { return exp(log_softmax(x)); });
  }
  for (const Real size : {1e-100, 1e-30, 1., 1e30, 1e100}) {
    CAPTURE(size);
    const Tensor x = Tensor(normal({3, 16})) * size;
    for (const Real eps : {0., 1e-5}) {
      same([&] { return layer_norm(x, {}, {}, {.eps = eps}); });
      same([&] { return rms_norm(x, {}, {.eps = eps}); });
      same([&] { return batch_norm(x, {}, {}, {.eps = eps}).y; });
      same([&] { return batch_norm(x, {}, {}, {.eps = eps}).mean; });
    }
    same([&] { return layer_norm(Array({2, 5}, size)); });
  }
  const Tensor far = Tensor(normal({3, 16})) + 1e9;
  same([&] { return layer_norm(far); });

  // Masked keys, NaN or not, take no part, and a query that sees nothing gives 0.
  Array k = normal({1, 3, 4}, 2), v = normal({1, 3, 4}, 3);
  for (int i = 0; i < 4; ++i) k.mutable_data()[8 + i] = v.mutable_data()[8 + i] = i % 2 ? infinity : not_a_number;
  const Tensor q = variable(normal({1, 2, 4})), keys = variable(k), values = variable(v);
  const auto attention = [&] {
    return multi_head_attention(q, keys, values, 2, {.mask = {.lengths = index({{2, 0}})}});
  };
  const Tensor expected = attention();
  const Plain plain;
  const Tensor y = attention();
  check_close(y.value(), expected.value());
  CHECK(equal(y.value()[{_, 1}], Array({1, 4}, Real(0))));
  const Tensors xs{q, keys, values};
  check_each_close(grad(y, xs, {.seed = normal(y.shape())}), grad(expected, xs, {.seed = normal(y.shape())}));
}
