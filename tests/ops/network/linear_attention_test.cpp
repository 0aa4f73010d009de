// Linear attention: against its definition over all pairs of positions, and against its recurrence.
#include <limits>

#include <xgrad/ops/ops.h>

#include "support/check.h"
#include "support/fused.h"

namespace xgrad::testing {
namespace {

Tensor phi(const Tensor& x) { return elu(x) + 1; }

// One head, with the weight of every pair of positions; `seen` (T, S) or (B, T, S) is 1 where a query sees a key.
Tensor by_pairs(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& seen) {
  const Tensor weights = matmul(phi(q), transpose(phi(k))) * seen;
  return matmul(weights / sum(weights, -1, {.keepdim = true}), v);
}

Tensor heads_by_pairs(const Tensor& q, const Tensor& k, const Tensor& v, std::int64_t heads, const Tensor& seen) {
  Tensors y;
  const Tensors qs = chunk(q, heads, 2), ks = chunk(k, heads, 2), vs = chunk(v, heads, 2);
  for (std::size_t h = 0; h < qs.size(); ++h) y.push_back(by_pairs(qs[h], ks[h], vs[h], seen));
  return concat(y, 2);
}

TEST_CASE("Linear attention is its definition, head by head, whatever the length, with gradients of two orders") {
  struct Row {
    std::int64_t T, S, heads;
    LinearAttentionFuncOptions options;
    Tensor seen;
  };
  std::vector<Row> rows{{3, 5, 1, {}, ones({3, 5})},
                        {3, 5, 2, {}, ones({3, 5})},
                        {3, 5, 2, {.lengths = Index({2}, {2, 4})}, tensor({{{1, 1, 0, 0, 0}}, {{1, 1, 1, 1, 0}}})}};
  for (const std::int64_t T : {1, 64, 65, 150}) rows.push_back({T, T, 2, {.causal = true}, tril(ones({T, T}))});
  for (const Row& row : rows) {
    CAPTURE(str(row.T, " x ", row.S, ", heads ", row.heads, row.options.causal ? ", causal" : ""));
    // Of a single position neither query nor key has a gradient.
    check_fused([&](const Tensors& x) { return linear_attention(x[0], x[1], x[2], row.heads, row.options); },
                [&](const Tensors& x) { return heads_by_pairs(x[0], x[1], x[2], row.heads, row.seen); },
                {normal({2, row.T, 8}, 1), normal({2, row.S, 8}, 2), normal({2, row.S, 6}, 3)}, 1e-11,
                row.T == 1 ? 1 : 0);
  }
}

TEST_CASE("The parallel form is the recurrence, position by position and in pieces of any length") {
  const std::int64_t T = 140;
  const Tensor q(normal({2, T, 6}, 1)), k(normal({2, T, 6}, 2)), v(normal({2, T, 4}, 3));
  const Tensor whole = linear_attention(q, k, v, 2, {.causal = true});

  // sums_t = sums_(t-1) + phi(k_t)' (v_t, 1) of the first sequence and head, by hand.
  Array sums({3, 3}, Real(0));
  const Tensor features_q = phi(q), features_k = phi(k);
  for (std::int64_t t = 0; t < T; ++t) {
    const Array fk = features_k.value()[{0, t, slice(0, 3)}], fq = features_q.value()[{0, t, slice(0, 3)}];
    const Array value = concat<Real>({v.value()[{0, t, slice(0, 2)}], Array({1}, {1})});
    sums = (Tensor(sums) + outer(fk, value)).value();
    const Tensor y = matmul(fq, sums);
    check_close((y[{slice(0, 2)}] / y[{2}]).value(), whole.value()[{0, t, slice(0, 2)}]);
  }

  for (const std::vector<std::int64_t>& lengths :
       {std::vector<std::int64_t>(T, 1), {100, 1, 39}, {1, 139}, {70, 0, 70}, {140}}) {
    LinearAttentionState state;
    Tensors parts;
    std::int64_t at = 0;
    for (const std::int64_t length : lengths) {
      const Slice next = slice(at, at + length);
      parts.push_back(linear_attention(q[{_, next}], k[{_, next}], v[{_, next}], 2, state));
      CHECK(state.sums.shape() == Shape{2, 2, 3, 3});
      at += length;
    }
    check_close(concat(parts, 1).value(), whole.value());
  }
}

TEST_CASE("A state goes on with chosen rows of its batch") {
  const Tensor x(normal({3, 5, 4}, 1)), next(normal({2, 1, 4}, 2));
  LinearAttentionState state;
  state.select(Index({1}, {0}));
  linear_attention(x, x, x, 1, state);
  state.select(Index({2}, {2, 0}));
  const Tensor chosen = index_select(x, 0, Index({2}, {2, 0}));
  const Tensor whole = concat({chosen, next}, 1);
  check_close(linear_attention(next, next, next, 1, state).value(),
              linear_attention(whole, whole, whole, 1, {.causal = true}).value()[{_, slice(5, 6)}]);
}

TEST_CASE("Gradients of linear attention flow through a state") {
  const auto stepwise = [](const Tensors& x) {
    LinearAttentionState state;
    Tensors parts;
    for (const Slice part : {slice(0, 90), slice(90, 91), slice(91, 150)}) {
      parts.push_back(linear_attention(x[0][{_, part}], x[1][{_, part}], x[2][{_, part}], 2, state));
    }
    return concat(parts, 1);
  };
  check_fused(stepwise, [](const Tensors& x) { return linear_attention(x[0], x[1], x[2], 2, {.causal = true}); },
              {normal({2, 150, 8}, 1), normal({2, 150, 8}, 2), normal({2, 150, 6}, 3)}, 1e-11);
}

TEST_CASE("What is padding does not matter, not even NaN, and a query that sees nothing gives 0") {
  const Array good = normal({2, 4, 4});
  Array bad = good;
  for (int i = 8; i < 32; ++i) bad.mutable_data()[i] = std::numeric_limits<Real>::quiet_NaN();
  const Index lengths({2}, {2, 0});
  for (const bool causal : {false, true}) {
    const LinearAttentionFuncOptions options{.causal = causal, .lengths = lengths};
    const Tensor k = variable(bad), q = variable(good);
    const Tensor y = linear_attention(q, k, k, 2, options);
    CHECK(equal(y.value(), linear_attention(good, good, good, 2, options).value()));
    CHECK(equal(y.value()[{1}], Array({4, 4}, Real(0))));
    for (const Real g : Tensor(grad(y, {q}, {.seed = normal({2, 4, 4}, 2)})[0]).value()[{1}]) CHECK(g == 0);
  }
}

TEST_CASE("What linear attention keeps for the backward pass grows with the length, not its square") {
  const auto kept = [](std::int64_t T) {
    const Tensor x = variable(normal({1, T, 32}));
    const std::int64_t before = pool_stats().bytes_in_use;
    const Tensor y = linear_attention(x, x, x, 2, {.causal = true});
    return static_cast<double>(pool_stats().bytes_in_use - before);
  };
  CHECK(kept(2048) / kept(512) == doctest::Approx(4).epsilon(0.05));
}

TEST_CASE("Linear attention refuses what does not fit") {
  const Tensor q(normal({2, 3, 4})), k(normal({2, 5, 4}));
  CHECK_REFUSED(ShapeError, linear_attention(q, k, k, 2, {.causal = true}), "linear_attention", "causal", "q [2, 3, 4]",
                "k [2, 5, 4]", "v [2, 5, 4]");
  CHECK_THROWS_AS(linear_attention(q, k, q, 2), ShapeError);
  CHECK_THROWS_AS(linear_attention(q[0], k[0], k[0], 2), ShapeError);
  CHECK_THROWS_AS(linear_attention(q, k[{slice(0, 1)}], k[{slice(0, 1)}], 2), ShapeError);
  CHECK_THROWS_AS(linear_attention(q, k, k, 3), ValueError);
  CHECK_THROWS_AS(linear_attention(q, k, k, 0), ValueError);
  CHECK_THROWS_AS(linear_attention(q, k, k, 2, {.lengths = Index({3}, {1, 2, 3})}), ShapeError);
  CHECK_REFUSED(ValueError, linear_attention(q, k, k, 2, {.lengths = Index({2}, {6, 1})}), "linear_attention",
                "length 6", "[0, 5]");
  LinearAttentionState state;
  linear_attention(q, q, q, 2, state);
  const Tensor one(normal({1, 1, 4}));
  CHECK_REFUSED(ShapeError, linear_attention(one, one, one, 2, state), "linear_attention",
                "state of shape [2, 2, 2, 3]", "[1, 2, 2, 3]");
}

}  // namespace
}  // namespace xgrad::testing
