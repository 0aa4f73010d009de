// Attention where things end: keys that no query sees, sizes of 0 and 1, the largest numbers, infinite scores. (Masks of all kinds:
// attention_test.cpp and random_cases_test.cpp.)
#include <cmath>
#include <limits>

#include <xgrad/ops/ops.h>

#include "support/attention.h"
#include "support/orders.h"

namespace xgrad::testing {
namespace {

// ---- What no query sees ----

struct HeadSizes {
  std::int64_t d = 3, H = 2;
};

// What stands at keys that no query sees, and at queries that see nothing, reaches no result and no gradient, with the
// kernel and without; and second gradients are finite.
void check_unseen(const AttentionMask& mask, std::int64_t B, std::int64_t T, std::int64_t S, const HeadSizes& sizes,
                  double tolerance = 1e-14) {
  const std::int64_t width = sizes.H * sizes.d;
  Mask hidden = written_out(mask, B, T, S);
  if (mask.masked) hidden = hidden || *mask.masked;
  const Mask blind_queries = all(hidden, -1).reshaped({B, T, 1}), unseen_keys = all(hidden, 2).reshaped({B, S, 1});
  REQUIRE((any(blind_queries) || any(unseen_keys)));
  const auto results = [&](Real poison, bool create_graph) {
    const auto spoilt = [&](const Shape& shape, std::uint64_t seed, const Mask& where) {
      return variable(masked_fill(normal(shape, seed), where, poison).value());
    };
    const Tensors x{spoilt({B, T, width}, 1, blind_queries), spoilt({B, S, width}, 2, unseen_keys),
                    spoilt({B, S, width}, 3, unseen_keys)};
    const Tensor y = multi_head_attention(x[0], x[1], x[2], sizes.H, {.mask = mask});
    const Tensor weights = attention_weights(x[0], x[1], sizes.H, {.mask = mask});
    const Tensor sums = weighted_sum(weights, transpose(reshape(x[2], {B, S, sizes.H, sizes.d}), 1, 2));
    check_close(reshape(transpose(sums, 1, 2), y.shape()).value(), y.value(), 1e-14);
    const Tensor seed = spoilt({B, T, width}, 4, blind_queries).detach();
    Tensors all = grad(y, x, {.seed = seed, .create_graph = create_graph});
    if (create_graph) {
      const Tensor squares = sum(square(all[0])) + sum(square(all[1])) + sum(square(all[2]));
      for (const Tensor& second : grad(squares, x, {.retain_graph = true})) CHECK(all_finite(second.value()));
    }
    all.push_back(y);
    return all;
  };
  const Tensors clean = results(0, false);
  for (const Real poison : {not_a_number, infinity, -infinity}) {
    for (const bool create_graph : {false, true}) {
      const Tensors poisoned = results(poison, create_graph);
      for (std::size_t i = 0; i < clean.size(); ++i) check_close(poisoned[i].value(), clean[i].value(), 1e-14);
    }
    check_close(results(poison, false)[3].value(), clean[3].value(), tolerance);
  }
}

TEST_CASE("What stands at masked keys, or at queries that see nothing, comes through nowhere, not even NaN") {
  Index lengths({19}, 3);
  lengths.mutable_data()[7] = 0;
  lengths.mutable_data()[18] = 5;
  check_unseen({.lengths = lengths}, 19, 5, 5, {.d = 8, .H = 1});  // many short sequences
  check_unseen({.masked = Mask(Shape{4}, {false, true, false, true})}, 1, 3, 4, {.d = 2});
  check_unseen({.lengths = index({{1, 5, 3, 0}})}, 1, 4, 5, {.d = 2});
  check_unseen({.lengths = index({{2, 3, 0}})}, 1, 3, 5, {.d = 2});
  // Room for keys to come: not a bit changes.
  for (const std::int64_t T : {1, 3}) check_unseen({.lengths = Index({2}, 5)}, 2, T, 9, {.d = 4}, 0);
}

// ---- One query ----

TEST_CASE("A query that stands alone sees infinite scores and values that are no number as others do") {
  constexpr Real nan = std::numeric_limits<Real>::quiet_NaN();
  const auto same = [](const Tensor& q, const Tensor& k, const Tensor& v, const AttentionMask& mask) {
    const Array alone = scaled_dot_product_attention(q, k, v, {.mask = mask}).value();
    check_close(alone, plain::scaled_dot_product_attention(q, k, v, {.mask = mask}).value(), 1e-13);
    check_close(scaled_dot_product_attention(variable(q.value()), k, v, {.mask = mask}).value(), alone, 0);
  };
  const Tensor q(Array({1, 1, 2}, {1, 0}));
  for (const Real special : {infinity, -infinity, nan}) {
    const Tensor k(Array({1, 3, 2}, {0, 0, special, 0, 1, 0})), plain(normal({1, 3, 2}));
    const Tensor v(Array({1, 3, 2}, {0, 1, special, 2, 1, 1})), far(Array({1, 3, 2}, {0, 0, -2000, 0, 1, 0}));
    same(q, k, plain, {});
    same(q, plain, v, {});
    same(q, far, v, {});  // what has no weight takes no part
    same(q, k, v, {.lengths = Index({1}, {1})});
    same(q, k, v, {.lengths = Index({1}, {0})});
  }
}

TEST_CASE("A band may be as wide as a number can say") {
  const Tensor x(normal({2, 40, 4}));
  const Array all = multi_head_attention(x, x, x, 2).value();
  const Array causal = multi_head_attention(x, x, x, 2, {.mask = {.causal = true}}).value();
  const std::int64_t half = std::int64_t{1} << 62;
  for (const AttentionBand& band : {AttentionBand{most, most}, {half, half}, {most, 40}, {40, most}, {39, 39}}) {
    check_close(multi_head_attention(x, x, x, 2, {.mask = {.band = band}}).value(), all, 1e-14);
    check_close(multi_head_attention(x, x, x, 2, {.mask = {.band = AttentionBand{band.before, 0}}}).value(), causal,
                1e-14);
  }
}

TEST_CASE("Numbers that say nothing are refused before anything is computed") {
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
  const Tensor x(normal({2, 3, 4}));
  for (const Real scale : {infinity, -infinity, std::numeric_limits<Real>::quiet_NaN()}) {
    CHECK_REFUSED(ValueError, multi_head_attention(x, x, x, 2, {.scale = scale}), "multi_head_attention",
                  str("scale ", scale));
    CHECK_THROWS_AS(scaled_dot_product_attention(x, x, x, {.scale = scale}), ValueError);
    CHECK_THROWS_AS(attention_weights(x, x, 2, {.scale = scale}), ValueError);
  }
  CHECK_THROWS_AS(multi_head_attention(x, x, x, 2, {.dropout = std::numeric_limits<Real>::quiet_NaN()}), ValueError);
  for (const AttentionBand& band : {AttentionBand{least, 0}, {0, least}, {-1, most}, {least, most}}) {
    CHECK_THROWS_AS(multi_head_attention(x, x, x, 2, {.mask = {.band = band}}), ValueError);
  }
  for (const std::int64_t length : {least, std::int64_t{-1}, std::int64_t{4}, most}) {
    CHECK_REFUSED(ValueError, multi_head_attention(x, x, x, 2, {.mask = {.lengths = Index({2}, length)}}),
                  "multi_head_attention", str("length ", length), "[0, 3]");
    CHECK_THROWS_AS(linear_attention(x, x, x, 2, {.lengths = Index({2}, length)}), ValueError);
  }
  for (const std::int64_t heads : {least, std::int64_t{0}, most, most / 3 + 1, most / 2 + 1}) {
    CHECK_THROWS_AS(multi_head_attention(x, x, x, heads), ValueError);
    CHECK_THROWS_AS(multi_head_attention(x, heads), ValueError);
    CHECK_THROWS_AS(attention_weights(x, x, heads), ValueError);
    CHECK_THROWS_AS(linear_attention(x, x, x, heads), ValueError);
  }
  CHECK_REFUSED(ShapeError, weighted_sum(ones({2, 3, 4}), ones({2, 3, 4})), "weighted_sum", "weights [2, 3, 4]",
                "fit [2, 3, 4]");
  CHECK_THROWS_AS(weighted_sum(ones({2, 3, 4}), ones({1, 4, 4})), ShapeError);
}

// ---- Scores of any size ----

TEST_CASE("A score of +inf or NaN makes its query's result NaN, and no other query's") {
  for (const std::int64_t S : {4, 40}) {
    Array keys = normal({S, 2}, 2), queries = normal({3, 2}, 1);
    const Real huge = std::numeric_limits<Real>::max() / 2;
    for (int j = 0; j < 2; ++j) {
      keys.mutable_data()[2 * 1 + j] = huge;
      queries.mutable_data()[j] = 8;
      queries.mutable_data()[2 + j] = std::numeric_limits<Real>::quiet_NaN();
    }
    queries.mutable_data()[4] = queries.mutable_data()[5] = Real(1e-300 / huge);
    const Tensor q = variable(queries), k = variable(keys), v = variable(normal({S, 3}, 3));
    const Tensor y = scaled_dot_product_attention(q, k, v);
    for (const std::int64_t spoilt : {0, 1}) {
      for (const Real value : y.value()[{spoilt}]) CHECK(std::isnan(value));
    }
    check_close(y.value()[{2}], mean(v, 0).value(), 1e-12);
    check_close(plain::scaled_dot_product_attention(q, k, v).value(), y.value(), 1e-12);
    for (const bool create_graph : {false, true}) {
      const Tensors g =
          grad(y, {q, v}, {.seed = normal({3, 3}, 5), .create_graph = create_graph, .retain_graph = true});
      for (const std::int64_t spoilt : {0, 1}) {
        for (const Real value : g[0].value()[{spoilt}]) CHECK(std::isnan(value));
      }
    }
  }
}

TEST_CASE("Linear attention of very negative keys is a mean, not 0") {
  for (const Real level : {-30., -100., -300.}) {
    const Tensor v(normal({1, 5, 4}, 3));
    const Tensor y = linear_attention(full({1, 5, 4}, level), full({1, 5, 4}, level), v, 2);
    check_close(y.value(), broadcast_to(mean(v, 1, {.keepdim = true}), {1, 5, 4}).value(), 1e-13);
  }
}

// ---- Sizes of 0 and 1 ----

TEST_CASE("Attention of sizes 0 and 1 under every mask, with first and second gradients") {
  for (const std::int64_t B : {0, 1, 2}) {
    for (const std::int64_t T : {0, 1, 3}) {
      for (const std::int64_t S : {0, 1, 40}) {
        for (const std::int64_t d : {0, 1, 2}) {
          for (const std::int64_t e : {0, 1, 2}) {
            CAPTURE(str("B ", B, " T ", T, " S ", S, " d ", d, " e ", e));
            const std::int64_t H = d % 2 == 0 && e % 2 == 0 ? 2 : 1;
            const std::vector<Array> inputs{normal({B, T, d}), normal({B, S, d}, 2), normal({B, S, e}, 3)};
            const std::vector<AttentionMask> masks{{},
                                                   {.causal = true},
                                                   {.band = AttentionBand{1, 0}},
                                                   {.lengths = Index({B}, S)},
                                                   {.band = AttentionBand{}, .lengths = Index({B, T}, S / 2)},
                                                   {.masked = Mask({T, S}, true)},
                                                   {.bias = Tensor(normal({B, 1, T, S}, 4))}};
            for (const AttentionMask& mask : masks) {
              for (const Real dropout : {0., 0.5}) {
                const AttentionOptions options{.mask = mask, .dropout = dropout, .key = RandomKey{1, 2}};
                check_edge([&](const Tensors& x) { return multi_head_attention(x[0], x[1], x[2], H, options); }, inputs,
                           {B, T, e});
              }
              check_edge([&](const Tensors& x) { return attention_weights(x[0], x[1], H, {.mask = mask}); },
                         {inputs[0], inputs[1]}, {B, H, T, S});
            }
            check_edge(
                [](const Tensors& x) { return multi_head_attention(x[0], x[1], x[2], 1, {.mask = {.bias = x[3]}}); },
                {inputs[0], inputs[1], inputs[2], normal({T, S}, 4)}, {B, T, e});
            check_edge([](const Tensors& x) { return scaled_dot_product_attention(x[0], x[1], x[2]); }, inputs,
                       {B, T, e});
            check_edge(
                [&](const Tensors& x) { return linear_attention(x[0], x[1], x[2], H, {.lengths = Index({B}, S)}); },
                inputs, {B, T, e});
            if (T == S) {
              check_edge([&](const Tensors& x) { return linear_attention(x[0], x[1], x[2], H, {.causal = true}); },
                         inputs, {B, T, e});
            }
          }
        }
      }
      for (const std::int64_t C : {0, 2}) {
        check_edge([](const Tensors& x) { return multi_head_attention(x[0], 2, {.mask = {.causal = true}}); },
                   {normal({B, T, 3 * C})}, {B, T, C});
      }
    }
  }
  check_edge([](const Tensors& x) { return scaled_dot_product_attention(x[0], x[1], x[2]); },
             {normal({2, 0, 3, 4}), normal({2, 0, 5, 4}), normal({2, 0, 5, 4})}, {2, 0, 3, 4});
}

}  // namespace
}  // namespace xgrad::testing
