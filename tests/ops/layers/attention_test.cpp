// Attention: the kernel against its composed form, the figures of "Dive into Deep Learning", masks, edges and errors.
#include <cmath>

#include <xgrad/ops/layers/attention.h>
#include <xgrad/ops/ops.h>

#include "support/check.h"
#include "support/fused.h"
#include "support/threads.h"

using namespace xgrad;
using namespace xgrad::testing;

namespace {

struct Sizes {
  std::int64_t B, T, S, C, E, H;
};

// softmax(q k^T scale + bias) v, element by element, for one head.
Array by_hand(const Array& q, const Array& k, const Array& v, const Sizes& n, const AttentionMask& mask) {
  Array y(Shape{n.B, n.T, n.E}, Real(0));
  const std::int64_t d = n.C / n.H, e = n.E / n.H;
  for (std::int64_t b = 0; b < n.B; ++b) {
    for (std::int64_t h = 0; h < n.H; ++h) {
      for (std::int64_t t = 0; t < n.T; ++t) {
        std::vector<double> weights;
        double total = 0;
        for (std::int64_t s = 0; s < n.S; ++s) {
          double score = 0;
          for (std::int64_t j = 0; j < d; ++j) score += q.at({b, t, h * d + j}) * k.at({b, s, h * d + j});
          score /= std::sqrt(static_cast<double>(d));
          if (mask.bias.defined()) score += broadcast_to(mask.bias, {n.B, n.H, n.T, n.S}).value().at({b, h, t, s});
          bool seen = !mask.causal || s <= t;
          if (mask.band) seen &= s >= t - mask.band->before && s <= t + mask.band->after;
          if (mask.lengths) seen &= s < (mask.lengths->rank() == 1 ? mask.lengths->at({b}) : mask.lengths->at({b, t}));
          if (mask.masked) seen &= !mask.masked->at({t, s});
          weights.push_back(seen ? std::exp(score) : 0);
          total += weights.back();
        }
        for (std::int64_t j = 0; j < e; ++j) {
          double sum = 0;
          for (std::int64_t s = 0; s < n.S; ++s) {
            if (weights[static_cast<std::size_t>(s)] != 0) {
              sum += weights[static_cast<std::size_t>(s)] / total * v.at({b, s, h * e + j});
            }
          }
          y.mutable_data()[(b * n.T + t) * n.E + h * e + j] = sum;
        }
      }
    }
  }
  return y;
}

Mask pattern(std::int64_t T, std::int64_t S) {
  Mask mask(Shape{T, S});
  for (std::int64_t i = 0; i < T * S; ++i) mask.mutable_data()[i] = i * 7 % 5 == 0;
  return mask;
}

struct AttentionCase {
  const char* name;
  Sizes n;
  AttentionMask mask;
};

std::vector<AttentionCase> cases() {
  return {
      {"plain", {2, 3, 4, 6, 4, 2}, {}},
      {"one head", {1, 5, 5, 3, 3, 1}, {}},
      {"causal", {2, 5, 5, 4, 4, 2}, {.causal = true}},
      {"causal, long", {1, 21, 21, 4, 4, 2}, {.causal = true}},
      {"causal, more keys", {1, 3, 6, 4, 4, 2}, {.causal = true}},
      {"lengths", {2, 3, 5, 4, 6, 2}, {.lengths = index({2, 5})}},
      {"lengths per query", {2, 2, 4, 4, 4, 1}, {.lengths = index({{1, 3}, {2, 4}})}},
      {"masked by position", {2, 3, 5, 4, 4, 2}, {.masked = pattern(3, 5)}},
      {"band", {2, 7, 7, 4, 4, 2}, {.band = AttentionBand{2, 1}}},
      {"band, causal, lengths",
       {2, 6, 6, 4, 4, 2},
       {.causal = true, .band = AttentionBand{2, 3}, .lengths = index({2, 6})}},
      {"band, more queries", {1, 6, 3, 4, 4, 2}, {.band = AttentionBand{1, 1}}},
      {"bias", {2, 3, 5, 4, 4, 2}, {.bias = normal({2, 1, 3, 5}, 9)}},
      {"everything",
       {2, 6, 6, 4, 4, 2},
       {.causal = true, .lengths = index({4, 6}), .masked = pattern(6, 6), .bias = normal({6, 6}, 9)}},
      {"wide", {1, 2, 17, 40, 36, 2}, {}},
      {"one row masked", {1, 2, 3, 4, 4, 2}, {.lengths = index({{0, 2}})}},
  };
}

Tensor apply(const AttentionCase& c, const Tensor& q, const Tensor& k, const Tensor& v) {
  return multi_head_attention(q, k, v, c.n.H, {.mask = c.mask});
}

// dropout(masked_softmax(scale q k' + bias)) v
Tensor composed(const Tensors& x, const Sizes& n, const AttentionOptions& options) {
  const auto heads = [&](const Tensor& u) { return transpose(reshape(u, {n.B, u.dim(1), n.H, u.dim(2) / n.H}), 1, 2); };
  const Tensor q = heads(x[0]), k = heads(x[1]), v = heads(x[2]);
  Tensor scores = matmul(q, k, {.transpose_b = true}) / std::sqrt(static_cast<Real>(n.C / n.H));
  if (options.mask.bias.defined()) scores = scores + options.mask.bias;
  const Tensor weights = masked_softmax(scores, masked_keys(options.mask, scores.shape()));
  const Tensor y = weighted_sum(dropout(weights, options.dropout, *options.key), v);
  return reshape(transpose(y, 1, 2), {n.B, n.T, n.E});
}

std::vector<Array> operands(const Sizes& n) {
  return {normal({n.B, n.T, n.C}, 1), normal({n.B, n.S, n.C}, 2), normal({n.B, n.S, n.E}, 3)};
}

}  // namespace

TEST_CASE("attention equals the sum over keys, done by hand, under every mask") {
  for (const AttentionCase& c : cases()) {
    INFO(c.name);
    const auto x = operands(c.n);
    const Array expected = by_hand(x[0], x[1], x[2], c.n, c.mask);
    check_close(apply(c, x[0], x[1], x[2]).value(), expected, 1e-13);
    if (c.n.H > 1) continue;
    const Mask masked = masked_keys(c.mask, {c.n.B, 1, c.n.T, c.n.S}).reshaped({c.n.B, c.n.T, c.n.S});
    check_close(plain::attention(x[0], x[1], x[2], masked).value(), expected, 1e-13);
  }
}

TEST_CASE("gradients of attention are those of differences, to the second order, under every mask") {
  for (const AttentionCase& c : cases()) {
    INFO(c.name);
    check_gradients([&](const Tensors& x) { return apply(c, x[0], x[1], x[2]); }, operands(c.n));
  }
  for (const Shape& shape : {Shape{5}, {4, 5}, {2, 1, 4, 1}, {2, 2, 4, 5}}) {
    INFO("bias ", cat(shape));
    check_gradients(
        [](const Tensors& x) { return multi_head_attention(x[0], x[1], x[2], 2, {.mask = {.bias = x[3]}}); },
        {normal({2, 4, 4}), normal({2, 5, 4}, 2), normal({2, 5, 6}, 3), normal(shape, 4)});
  }
}

TEST_CASE("the gradient kernel equals the composed form, also with dropout and shared operands") {
  for (const AttentionCase& c : cases()) {
    for (const Real dropout : {0.0, 0.4}) {
      INFO(c.name, ", dropout ", dropout);
      const AttentionOptions options{.mask = c.mask, .dropout = dropout, .key = RandomKey{3, 4}};
      check_fused([&](const Tensors& x) { return multi_head_attention(x[0], x[1], x[2], c.n.H, options); },
                  [&](const Tensors& x) { return composed(x, c.n, options); }, operands(c.n), 1e-13);
    }
  }
  check_gradients(
      [](const Tensors& x) { return multi_head_attention(x[0], x[0], x[0], 2, {.mask = {.causal = true}}); },
      {normal({2, 4, 4})});
}

TEST_CASE("dropout leaves the mean as it is and follows its key") {
  const Array x = normal({4, 20, 16});
  const auto run = [&](Real p, std::uint64_t draw) {
    return multi_head_attention(x, x, x, 4, {.dropout = p, .key = RandomKey{1, draw}}).value();
  };
  CHECK(equal(run(0.5, 1), run(0.5, 1)));
  CHECK_FALSE(equal(run(0.5, 1), run(0.5, 2)));
  check_close(run(1, 1), zeros({4, 20, 16}).value());
  const Tensor ones_v = ones({4, 20, 16});
  const Tensor kept = multi_head_attention(x, x, ones_v, 4, {.dropout = 0.3, .key = RandomKey{1, 7}});
  CHECK(mean(kept).item() == doctest::Approx(1).epsilon(0.05));
  const Tensor v = variable(x);
  const Tensor none = grad(sum(multi_head_attention(v, v, v, 4, {.dropout = 1})), {v})[0];
  check_close(none.value(), zeros({4, 20, 16}).value());
}

TEST_CASE("heads side by side and heads in an axis of their own are the same") {
  const Array q = normal({2, 3, 8}), k = normal({2, 5, 8}, 2), v = normal({2, 5, 8}, 3);
  const auto split = [](const Tensor& x) { return transpose(reshape(x, {x.dim(0), x.dim(1), 2, 4}), 1, 2); };
  const AttentionOptions options{.mask = {.lengths = index({3, 5})}};
  const Tensor together = multi_head_attention(q, k, v, 2, options);
  const Tensor apart = scaled_dot_product_attention(split(q), split(k), split(v), options);
  check_close(reshape(transpose(apart, 1, 2), {2, 3, 8}).value(), together.value(), 1e-15);
  for (const int rank : {2, 3}) {
    const Shape shape = rank == 2 ? Shape{3, 4} : Shape{1, 3, 4};
    const Tensor x = normal({3, 4});
    const Tensor y = scaled_dot_product_attention(reshape(x, shape), reshape(x, shape), reshape(x, shape));
    CHECK(y.shape() == shape);
  }
}

TEST_CASE("prefix invariance: under a causal mask, positions do not depend on later ones") {
  const Array x = normal({1, 6, 8});
  const Tensor whole = multi_head_attention(x, x, x, 2, {.mask = {.causal = true}});
  const Tensor free = multi_head_attention(x, x, x, 2);
  for (std::int64_t t = 1; t <= 6; ++t) {
    const Tensor part = narrow(x, 1, 0, t);
    const Tensor y = multi_head_attention(part, part, part, 2, {.mask = {.causal = true}});
    check_close(y.value(), narrow(whole, 1, 0, t).value(), 1e-15);
  }
  CHECK(difference(narrow(whole, 1, 0, 5).value(), narrow(free, 1, 0, 5).value()) > 0.01);
}

TEST_CASE("a query that may attend to nothing gives 0 with gradient 0; the others are not affected") {
  const Array x = normal({2, 4, 4});
  const Index none = index({0, 4});
  const Tensor q = variable(x), k = variable(x), v = variable(x);
  const Tensor y = multi_head_attention(q, k, v, 2, {.mask = {.lengths = none}});
  check_close(y[0].value(), zeros({4, 4}).value());
  const Tensor alone = multi_head_attention(q[{slice(1, 2)}], k[{slice(1, 2)}], v[{slice(1, 2)}], 2);
  CHECK(equal(y[{slice(1, 2)}].value(), alone.value()));
  for (const Tensor& g : grad(y, {q, k, v}, {.seed = normal(y.shape(), 2)})) {
    check_close(g[0].value(), zeros({4, 4}).value());
    CHECK_FALSE(std::isnan(sum(g).item()));
  }
}

TEST_CASE("what stands at masked keys never comes through, not even NaN") {
  Array k = normal({1, 4, 4}, 2), v = normal({1, 4, 4}, 3);
  const Array q = normal({1, 3, 4});
  const Mask ignore(Shape{4}, {false, true, false, true});
  const auto run = [&] {
    const Tensor tq = variable(q), tk = variable(k), tv = variable(v);
    const Tensor y = multi_head_attention(tq, tk, tv, 2, {.mask = {.masked = ignore}});
    Tensors result = grad(y, {tq, tk, tv}, {.seed = normal(y.shape(), 4)});
    result.push_back(y);
    return result;
  };
  const auto fill = [&](Real at_masked) {
    for (const std::int64_t s : {1, 3}) {
      std::fill_n(k.mutable_data() + s * 4, 4, at_masked);
      std::fill_n(v.mutable_data() + s * 4, 4, at_masked);
    }
  };
  fill(0);
  const Tensors clean = run();
  for (const Real poison : {Real(std::nan("")), infinity, -infinity}) {
    fill(poison);
    const Tensors poisoned = run();
    for (std::size_t i = 0; i < clean.size(); ++i) check_close(poisoned[i].value(), clean[i].value(), 1e-14);
  }
}

TEST_CASE("NaN at a key that comes later, or at a query that sees nothing, stays where it is") {
  Array x = normal({1, 4, 4});
  std::fill_n(x.mutable_data() + 3 * 4, 4, std::nan(""));
  const Tensor q = variable(normal({1, 4, 4})), kv = variable(x);
  const Tensor y = multi_head_attention(q, kv, kv, 2, {.mask = {.causal = true}});
  const Tensor shorter =
      multi_head_attention(q, narrow(kv, 1, 0, 3), narrow(kv, 1, 0, 3), 2, {.mask = {.causal = true}});
  check_close(narrow(y, 1, 0, 3).value(), narrow(shorter, 1, 0, 3).value());
  CHECK(std::isnan(y.value().at({0, 3, 0})));

  const Tensor blind = variable(x), k = variable(normal({1, 5, 4}, 2)), v = variable(normal({1, 5, 4}, 3));
  const AttentionOptions options{.mask = {.lengths = index({{1, 5, 3, 0}})}};
  Array seed = normal({1, 4, 4}, 4);
  std::fill_n(seed.mutable_data() + 3 * 4, 4, infinity);
  const Tensor z = multi_head_attention(blind, k, v, 2, options);
  const Tensors g = grad(z, {blind, k, v}, {.seed = seed});
  const Tensor seeing = narrow(blind, 1, 0, 3);
  const AttentionOptions without{.mask = {.lengths = index({{1, 5, 3}})}};
  const Tensors expected =
      grad(multi_head_attention(seeing, k, v, 2, without), {seeing, k, v}, {.seed = narrow(seed, 1, 0, 3)});
  check_close(narrow(z, 1, 3, 1).value(), zeros({1, 1, 4}).value());
  check_close(g[0].value(), concat({expected[0], zeros({1, 1, 4})}, 1).value());
  check_close(g[1].value(), expected[1].value());
  check_close(g[2].value(), expected[2].value());
}

TEST_CASE("packs that are not full, and more queries or keys than stand in one register") {
  for (const std::int64_t T : {1, 7, 16, 17, 33, 40}) {
    for (const std::int64_t S : {1, 9, 16, 33}) {
      for (const std::int64_t d : {1, 8, 17}) {
        CAPTURE(cat("T ", T, " S ", S, " d ", d));
        Mask ignore(Shape{T, S});
        for (std::int64_t i = 0; i < T * S; ++i) ignore.mutable_data()[i] = i % 7 == 3;
        const AttentionMask masks[] = {{}, {.causal = true}, {.lengths = index({S / 2, S}), .masked = ignore}};
        for (const AttentionMask& mask : masks) {
          const AttentionOptions options{.mask = mask, .dropout = 0.25, .key = RandomKey{.seed = 5, .draw = 6}};
          const Tensor q = variable(normal({2, T, 2 * d})), k = variable(normal({2, S, 2 * d}, 2)),
                       v = variable(normal({2, S, 2 * d}, 3));
          const Tensor y = multi_head_attention(q, k, v, 2, options);
          const Tensor heads = transpose(reshape(v, {2, S, 2, d}), 1, 2);
          const Tensor weights = dropout(attention_weights(q, k, 2, {.mask = mask}), 0.25, *options.key);
          const Tensor composed = reshape(transpose(matmul(weights, heads), 1, 2), {2, T, 2 * d});
          check_close(y.value(), composed.value());
          const Tensor seed = normal(y.shape(), 4);
          const Tensors g = grad(y, {q, k, v}, {.seed = seed}), e = grad(composed, {q, k, v}, {.seed = seed});
          for (std::size_t i = 0; i < 3; ++i) check_close(g[i].value(), e[i].value());
        }
      }
    }
  }
}

namespace {

// Masks for T queries and keys, T large enough to go over several blocks of queries.
std::vector<std::pair<const char*, AttentionMask>> long_masks(std::int64_t T) {
  const std::int64_t w = T / 3;
  return {{"plain", {}},
          {"causal", {.causal = true}},
          {"lengths", {.lengths = index({T - 1, T / 2})}},
          {"band", {.band = AttentionBand{w, 2}}},
          {"narrow band", {.band = AttentionBand{0, 3}}},
          {"causal band", {.causal = true, .band = AttentionBand{w, w}, .lengths = index({T, T / 2})}},
          {"masked by position", {.band = AttentionBand{T / 2, T / 4}, .masked = pattern(T, T)}},
          {"bias", {.causal = true, .bias = normal({2, 1, T, T}, 9)}}};
}

}  // namespace

TEST_CASE("long sequences, whose weights are not kept: values and gradients are those of the composed form") {
  for (const std::int64_t T : {31, 32, 33, 65, 130}) {
    for (const auto& [title, long_mask] : long_masks(T)) {
      const char* name = title;
      const AttentionMask& mask = long_mask;
      for (const double dropout : {0.0, 0.3}) {
        CAPTURE(T);
        INFO(name);
        const auto f = [&](const Tensor& q, const Tensor& k, const Tensor& v) {
          AttentionOptions options{.mask = mask, .dropout = static_cast<Real>(dropout), .key = RandomKey{4, 2}};
          return multi_head_attention(q, k, v, 2, options);
        };
        const Tensor q = variable(normal({2, T, 4}, 1)), k = variable(normal({2, T, 4}, 2)),
                     v = variable(normal({2, T, 6}, 3));
        if (mask.bias.defined()) mask.bias.set_requires_grad();
        const Tensors inputs = mask.bias.defined() ? Tensors{q, k, v, mask.bias} : Tensors{q, k, v};
        const Tensor y = f(q, k, v);
        if (dropout == 0)
          check_close(y.value(), by_hand(q.value(), k.value(), v.value(), {2, T, T, 4, 6, 2}, mask), 1e-12);
        const Tensor seed(normal(y.shape(), 7));
        const Tensors kernel = grad(y, inputs, {.seed = seed, .retain_graph = true});
        const Tensors composed = grad(y, inputs, {.seed = seed, .create_graph = true});
        for (std::size_t i = 0; i < inputs.size(); ++i) check_close(kernel[i].value(), composed[i].value(), 1e-12);
      }
    }
  }
}

TEST_CASE("queries, keys and values from one projection give what they give apart, and one gradient") {
  for (const std::int64_t T : {1, 5, 40}) {
    for (const bool biased : {false, true}) {
      AttentionMask mask{.causal = true, .lengths = index({T, (T + 1) / 2})};
      if (biased) mask.bias = variable(normal({T, T}, 9));
      const Tensor qkv = variable(normal({2, T, 18}, 1));
      const Tensor packed = multi_head_attention(qkv, 2, {.mask = mask});
      const Tensor apart =
          multi_head_attention(narrow(qkv, 2, 0, 6), narrow(qkv, 2, 6, 6), narrow(qkv, 2, 12, 6), 2, {.mask = mask});
      CHECK(equal(packed.value(), apart.value()));
      const Tensor seed(normal(packed.shape(), 7));
      const Tensors inputs = biased ? Tensors{qkv, mask.bias} : Tensors{qkv};
      const Tensors from_packed = grad(packed, inputs, {.seed = seed}),
                    from_apart = grad(apart, inputs, {.seed = seed});
      for (std::size_t i = 0; i < inputs.size(); ++i) CHECK(equal(from_packed[i].value(), from_apart[i].value()));
    }
  }
  check_gradients([](const Tensors& x) { return multi_head_attention(x[0], 2, {.mask = {.causal = true}}); },
                  {normal({2, 3, 12}, 1)});
  CHECK_REFUSED(ValueError, multi_head_attention(zeros({1, 2, 8}), 2), "multi_head_attention", "width 8", "2 heads");
  CHECK_REFUSED(ShapeError, multi_head_attention(zeros({2, 6}), 2), "multi_head_attention", "three axes",
                "[2, 6]");
  CHECK_REFUSED(ValueError, multi_head_attention(zeros({1, 2, 6}), 2, {.mask = {.band = AttentionBand{-1, 2}}}),
                "multi_head_attention", "band of -1", "2 after");
}

TEST_CASE("memory of attention grows with the length, not with its square") {
  const auto bytes = [](std::int64_t T, const AttentionMask& mask) {
    const Tensor x = variable(normal({1, T, 8}, 1));
    const auto before = pool_stats().bytes_in_use;
    const Tensor y = multi_head_attention(x, x, x, 2, {.mask = mask});
    return pool_stats().bytes_in_use - before;
  };
  for (const AttentionMask& mask : {AttentionMask{}, AttentionMask{.causal = true}}) {
    const auto small = bytes(512, mask), large = bytes(2048, mask);
    CHECK(large < 5 * small);
  }
}

TEST_CASE("weights are rows of a distribution, 0 where masked") {
  const Array x = normal({2, 3, 4});
  const Tensor w = attention_weights(x, x, 2, {.mask = {.causal = true, .lengths = index({2, 3})}});
  CHECK(w.shape() == Shape{2, 2, 3, 3});
  check_close(sum(w, -1).value(), ones({2, 2, 3}).value(), 1e-15);
  CHECK(w.value().at({0, 0, 0, 1}) == 0);
  CHECK(w.value().at({0, 0, 2, 2}) == 0);
  check_close(masked_softmax(tensor({1, 2, 3}), Mask(Shape{3}, {false, true, true})).value(),
              tensor({1, 0, 0}).value());
}

TEST_CASE("the numbers do not depend on the number of threads") {
  const Array x = normal({16, 33, 32});
  check_same_bits([&] {
    const Tensor leaf = variable(x);
    const Tensor y =
        multi_head_attention(leaf, leaf, leaf, 4, {.mask = {.causal = true}, .dropout = 0.1, .key = RandomKey{}});
    return concat({y, grad(y, {leaf}, {.seed = normal(y.shape(), 3)})[0]});
  });
}

TEST_CASE("the numbers of many short sequences do not depend on the number of threads") {
  const Array x = normal({40, 10, 32});
  check_same_bits([&] {
    const Tensor leaf = variable(x);
    const Tensor y = multi_head_attention(leaf, leaf, leaf, 4, {.mask = {.causal = true}});
    return concat({y, grad(y, {leaf}, {.seed = normal(y.shape(), 3)})[0]});
  });
}

TEST_CASE("few heads share out their queries, with the same numbers for any number of threads") {
  struct Case {
    std::int64_t B, T, heads, kv_heads;
  };
  for (const Case& test : {Case{1, 1100, 1, 1}, Case{1, 600, 4, 1}, Case{2, 530, 1, 1}, Case{1, 40, 1, 1}}) {
    CAPTURE(cat(test.B, " x ", test.T, ", heads ", test.heads, " and ", test.kv_heads));
    const std::int64_t d = 6;
    const Array q = normal({test.B, test.T, test.heads * d}), k = normal({test.B, test.T, test.kv_heads * d}, 2),
                v = normal({test.B, test.T, test.kv_heads * d}, 3);
    const AttentionOptions options{.mask = {.causal = true}, .kv_heads = test.kv_heads};
    const auto results = [&](bool kernel) {
      const Tensors x{variable(q), variable(k), variable(v)};
      const Tensor y = multi_head_attention(x[0], x[1], x[2], test.heads, options);
      Tensors all = grad(y, x, {.seed = Tensor(normal(y.shape(), 4)), .create_graph = !kernel});
      all.push_back(y);
      for (Tensor& each : all) each = reshape(each.detach(), {-1});
      return concat(all);
    };
    check_same_bits([&] { return results(true); });
    check_close(results(true).value(), results(false).value(), 1e-12);
  }
}

TEST_CASE("no keys, no queries, no batch") {
  CHECK(multi_head_attention(zeros({2, 0, 4}), zeros({2, 3, 4}), zeros({2, 3, 4}), 2).shape() == Shape{2, 0, 4});
  check_close(multi_head_attention(ones({2, 3, 4}), zeros({2, 0, 4}), zeros({2, 0, 4}), 2).value(),
              zeros({2, 3, 4}).value());
  CHECK(multi_head_attention(zeros({0, 3, 4}), zeros({0, 3, 4}), zeros({0, 3, 4}), 2).size() == 0);
  const Tensor q = variable(ones({1, 2, 4}).value()), k = variable(zeros({1, 0, 4}).value());
  check_close(grad(sum(multi_head_attention(q, k, k, 2)), {q})[0].value(), zeros({1, 2, 4}).value());
}

TEST_CASE("what does not fit is refused") {
  const Tensor x = ones({2, 3, 4});
  const auto f = [](const Tensor& q, const Tensor& k, const Tensor& v, std::int64_t heads,
                    const AttentionOptions& options = {}) { multi_head_attention(q, k, v, heads, options); };
  const char* op = "multi_head_attention";
  CHECK_REFUSED(ValueError, f(x, x, x, 3), op, "width 4", "3 heads");
  CHECK_REFUSED(ValueError, f(x, x, x, 0), op, "heads 0");
  CHECK_REFUSED(ShapeError, f(x, ones({2, 3, 6}), x, 2), op, "width", "q [2, 3, 4]", "k [2, 3, 6]", "v [2, 3, 4]");
  CHECK_REFUSED(ShapeError, f(x, ones({1, 3, 4}), x, 2), op, "batch sizes");
  CHECK_REFUSED(ShapeError, f(x, x, ones({2, 5, 4}), 2), op, "keys and values differ in number");
  CHECK_REFUSED(ShapeError, f(ones({3, 4}), x, x, 2), op, "three axes");
  CHECK_REFUSED(ValueError, f(x, x, x, 2, {.mask = {.lengths = index({4, 1})}}), op, "length 4", "[0, 3]");
  CHECK_REFUSED(ValueError, f(x, x, x, 2, {.mask = {.lengths = index({-1, 1})}}), op, "length -1", "[0, 3]");
  CHECK_REFUSED(ShapeError, f(x, x, x, 2, {.mask = {.lengths = index({1})}}), op, "lengths of shape [1]", "[2, 3]");
  CHECK_REFUSED(ShapeError, f(x, x, x, 2, {.mask = {.masked = Mask(Shape{2, 3}, false)}}), op, "masked of shape [2, 3]",
                "[2, 2, 3, 3]", "fit as [2, 1, 1, 3]");
  CHECK_REFUSED(ShapeError, f(x, x, x, 2, {.mask = {.bias = ones({4, 3})}}), op, "bias of shape [4, 3]",
                "[2, 2, 3, 3]");
  CHECK_REFUSED(ValueError, f(x, x, x, 2, {.dropout = 1.5}), op, "dropout 1.5", "[0, 1]");
}
