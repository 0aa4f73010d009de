// Attention pooling: what is masked, every score by its formula, windows, self-attention in both forms.
#include "../support.h"

#include <cmath>
#include <memory>
#include <utility>

#include <xgrad/xgrad.h>

namespace xgrad::testing {
namespace {

using namespace nn;

// One of every kind, for queries and keys of this width.
std::vector<std::unique_ptr<AttentionPooling>> every_kind(std::int64_t width, double dropout = 0) {
  std::vector<std::unique_ptr<AttentionPooling>> kinds;
  kinds.push_back(std::make_unique<DotProductAttention>(root, DotProductAttentionOptions{.dropout = dropout}));
  kinds.push_back(
      std::make_unique<DotProductAttention>(root, DotProductAttentionOptions{.dropout = dropout, .scale = 1}));
  kinds.push_back(std::make_unique<BilinearAttention>(
      root, BilinearAttentionOptions{.query = width, .key = width, .dropout = dropout}));
  kinds.push_back(std::make_unique<AdditiveAttention>(
      root, AdditiveAttentionOptions{.query = width, .key = width, .hidden = 5, .dropout = dropout}));
  kinds.push_back(std::make_unique<GaussianAttention>(root, GaussianAttentionOptions{.w = 0.7, .dropout = dropout}));
  kinds.push_back(std::make_unique<GaussianAttention>(
      root, GaussianAttentionOptions{.w = 0.7, .trained = true, .dropout = dropout}));
  return kinds;
}

// The worked example: equal keys, so that every query averages the values that it may see.
const Tensor same_keys = ones({2, 10, 2});
const Tensor counting_values = [] {
  Array v(Shape{2, 10, 4});
  for (std::int64_t i = 0; i < v.size(); ++i) v.mutable_data()[i] = static_cast<Real>(i % 40);
  return v;
}();
const AttentionMask two_and_six = padding(Index({2}, {2, 6}));
const Array averages({2, 1, 4}, {2, 3, 4, 5, 10, 11, 12, 13});

// ---- One interface ----

TEST_CASE("Every kind drops weights in training, and not otherwise") {
  const Tensor x(normal({2, 3, 4}));
  const auto steady = every_kind(4), dropping = every_kind(4, 0.5);
  for (std::size_t i = 0; i < steady.size(); ++i) {
    CAPTURE(steady[i]->description());
    dropping[i]->load_state_dict(steady[i]->state_dict());
    const Array y = (*steady[i])(x, x, x).value();
    CHECK(!equal((*dropping[i])(x, x, x).value(), y));
    const Eval eval(*dropping[i]);
    check_close((*dropping[i])(x, x, x).value(), y);
  }
}

TEST_CASE("With equal keys every kind averages the values that a query may see") {
  for (const auto& attn : every_kind(2, 0.5)) {
    CAPTURE(attn->description());
    const Tensor q(normal({2, 1, 2}));
    CHECK(!equal((*attn)(q, same_keys, counting_values, two_and_six).value(), averages));
    const Eval eval(*attn);
    check_close((*attn)(q, same_keys, counting_values, two_and_six).value(), averages);
  }
  CHECK(AdditiveAttention(root, {.query = 20, .key = 2, .hidden = 8}).num_parameters() == 20 * 8 + 2 * 8 + 8);
}

TEST_CASE("Every kind is score, softmax, weighted sum, under any mask, and offers its weights to a recorder") {
  const Tensor q(normal({2, 3, 4}, 1)), k(normal({2, 5, 4}, 2)), v(normal({2, 5, 3}, 3));
  Mask hidden({2, 1, 3, 5}, false);
  for (const int i : {1, 7, 18, 22}) hidden.mutable_data()[i] = true;
  for (const auto& attn : every_kind(4)) {
    CAPTURE(attn->description());
    for (const AttentionMask& mask :
         {AttentionMask{}, causal, padding(Index({2}, {3, 5})), padding(Index({2, 3}, {1, 2, 3, 4, 5, 1})),
          AttentionMask{.masked = hidden}, AttentionMask{.bias = Tensor(normal({3, 5}, 4))}}) {
      Tensor scores = attn->score(q, k);
      CHECK(scores.shape() == Shape{2, 3, 5});
      if (mask.bias.defined()) scores = scores + mask.bias;
      const Mask blocked = masked_keys(mask, {2, 3, 5}).reshaped({2, 3, 5});
      const Tensor weights = softmax(masked_fill(scores, blocked, -INFINITY));
      check_close(attn->weights(q, k, mask).value(), weights.value());
      check_close((*attn)(q, k, v, mask).value(), matmul(weights, v).value());
      const AttentionRecorder recorder;
      (*attn)(q, k, v, mask);
      check_close(recorder.last("").reshaped({2, 3, 5}), weights.value());
    }
  }
}

TEST_CASE("What is padding matters to no kind, not even NaN, and a query that may see nothing gets 0") {
  const Array good = normal({2, 5, 4}, 2), seed = normal({2, 3, 4}, 4);
  const AttentionMask mask = padding(Index({2}, {0, 3}));
  const Array bad = where(padding_mask(Index({2}, {0, 3}), 5).reshaped({2, 5, 1}), not_a_number, Tensor(good)).value();
  for (const auto& attn : every_kind(4)) {
    CAPTURE(attn->description());
    const Tensor q = variable(normal({2, 3, 4}, 1)), k = variable(bad), v = variable(bad);
    const Tensor y = (*attn)(q, k, v, mask);
    CHECK(equal(y.value()[{0}], Array({3, 4}, Real(0))));
    check_close(y.value(), (*attn)(q, good, good, mask).value());
    Tensors leaves{q, k, v};
    for (const Tensor& parameter : attn->parameters()) leaves.push_back(parameter);
    const Tensors gradients = grad(y, leaves, {.seed = seed});
    for (std::size_t i = 0; i < 3; ++i) CHECK(largest(gradients[i].value()[{0}]) == 0);
    for (const Tensor& g : gradients) {
      for (const Real value : g.value()) CHECK(std::isfinite(value));
    }
  }
}

TEST_CASE("Attention pooling refuses what does not fit, or would be repeated to fit") {
  CHECK_REFUSED(ValueError, AdditiveAttention(root, {.query = 2, .key = 2, .hidden = 2, .dropout = 2}),
                "AdditiveAttention", "dropout 2 is not in [0, 1]");
  CHECK_REFUSED(ValueError, BandAttention(root, {.before = -1}), "window", "before -1 and after 0: one is negative");
  const Tensor q(normal({2, 3, 4})), k(normal({2, 5, 4})), x(normal({3, 4})), one(normal({1, 5, 4}));
  for (const auto& attn : every_kind(4)) {
    const auto refused = [&](const Tensor& q, const Tensor& k, const Tensor& v, const char* rule) {
      CHECK_REFUSED(ShapeError, (*attn)(q, k, v), "attention",
                    str(rule, ": q ", q.shape(), ", k ", k.shape(), ", v ", v.shape()));
    };
    const char* const axes = "needs three axes (batch, positions, width)";
    refused(x, x, x, axes);
    refused(q, k, x, axes);
    refused(q, x, k, axes);
    refused(q, one, one, "batch sizes differ");
    refused(q, k, one, "batch sizes differ");
    refused(q, k, q, "keys and values differ in number");
    for (const std::int64_t length : {6, -1}) {
      const AttentionMask wrong = padding(Index({2}, {length, 1}));
      const std::string said = error_of<ValueError>([&] { (*attn)(q, k, k, wrong); });
      CHECK(said.ends_with(str("attention: length ", length, " is not in [0, 5]")));
    }
    CHECK_REFUSED(ShapeError, attn->score(q, one), "attention", "batch sizes differ: q [2, 3, 4], k [1, 5, 4]");
    CHECK_THROWS_AS(attn->weights(q, one), ShapeError);
    CHECK_THROWS_AS(attn->score(x, x), ShapeError);
    CHECK_THROWS_AS(attn->weights(x, x), ShapeError);
  }
  const AdditiveAttention additive{root, {.query = 4, .key = 4, .hidden = 2}};
  const Tensor query = q[{_, slice(0, 1)}];
  CHECK_REFUSED(ShapeError, additive(query, q, q, {.bias = ones({3, 3})}), "attention", "bias of shape", "[3, 3]",
                "[2, 1, 1, 3]");
  CHECK_REFUSED(ShapeError, additive(query, q, q, {.masked = Mask({3, 3}, false)}), "attention",
                "masked of shape [3, 3] cannot become [2, 1, 1, 3]");
  CHECK_REFUSED(ShapeError, GaussianAttention(root).score(q, normal({2, 5, 1})), "attention", "q [2, 3, 4]",
                "k [2, 5, 1]");
  struct Wrong : AttentionPooling {
    Wrong() : AttentionPooling(root, 0) {}
    Tensor score(const Tensor& a, const Tensor&) const override { return sum(a, 2); }
  } wrong;
  CHECK_REFUSED(ShapeError, wrong(q, q, q), "attention", "scores of shape [2, 3], needs [2, 3, 3]");
}

struct CosineAttention : AttentionPooling {
  explicit CosineAttention(At here) : AttentionPooling(std::move(here), 0) {}
  Tensor score(const Tensor& q, const Tensor& k) const override {
    const auto unit = [](const Tensor& x) { return x / sqrt(sum(square(x), -1, {.keepdim = true})); };
    return matmul(unit(q), unit(k), {.transpose_b = true});
  }
};

TEST_CASE("A score of one's own is one function") {
  const CosineAttention attn{root};
  const Tensor q(normal({1, 2, 3}, 1)), k(normal({1, 4, 3}, 2)), v(normal({1, 4, 5}, 3));
  check_close(attn(q * 7, k, v).value(), attn(q, k, v).value());
  check_close(attn(q, k, v, causal).value(), matmul(attn.weights(q, k, causal), v).value());
}

// ---- Single kinds ----

TEST_CASE("Scores are dot products, plain or scaled, bilinear, or w_v tanh(W_q q + W_k k)") {
  const Tensor q(normal({1, 2, 3}, 1)), k(normal({1, 4, 3}, 2));
  const Tensor dots = matmul(q, transpose(k));
  check_close(DotProductAttention(root, {.scale = 1}).score(q, k).value(), dots.value());
  check_close(DotProductAttention(root).score(q, k).value(), (dots / std::sqrt(Real(3))).value());
  const BilinearAttention attn{root, {.query = 3, .key = 5}};
  const Tensor wide(normal({1, 4, 5}, 3));
  check_close(attn.score(q, wide).value(), matmul(matmul(q, transpose(attn.w.weight)), transpose(wide)).value());
  const AdditiveAttention additive{root, {.query = 3, .key = 5, .hidden = 2}};
  const Tensor sums = unsqueeze(additive.w_q(q), 2) + unsqueeze(additive.w_k(wide), 1);  // (B, T, S, hidden)
  check_close(additive.score(q, wide).value(), squeeze(additive.w_v(tanh(sums)), -1).value());
}

TEST_CASE("Gaussian attention is kernel regression") {
  const GaussianAttention attn{root, {.w = 2}};
  CHECK(GaussianAttention(root, {.trained = true}).num_parameters() == 1);
  const Tensor q = tensor({{{0.5}, {2}}}), k = tensor({{{0}, {1}, {3}}}), v = tensor({{{1}, {10}, {100}}});
  for (int t = 0; t < 2; ++t) {
    double total = 0, sum = 0;
    for (int i = 0; i < 3; ++i) {
      const double distance = (q.value().at({0, t, 0}) - k.value().at({0, i, 0})) * 2;
      total += std::exp(-distance * distance / 2);
      sum += std::exp(-distance * distance / 2) * v.value().at({0, i, 0});
    }
    CHECK(attn(q, k, v).value().at({0, t, 0}) == doctest::Approx(sum / total));
  }
}

TEST_CASE("Windowed attention is scaled dot-product attention under a band") {
  const BandAttention attn{root, {.before = 2, .after = 1}};
  const DotProductAttention full{root};
  const Tensor q(normal({2, 7, 4}, 1)), k(normal({2, 7, 4}, 2)), v(normal({2, 7, 3}, 3));
  const Tensor y = attn(q, k, v);
  for (std::int64_t t = 0; t < 7; ++t) {
    const Slice seen = slice(std::max<std::int64_t>(t - 2, 0), std::min<std::int64_t>(t + 2, 7));
    check_close(y.value()[{_, t}], full(q[{_, slice(t, t + 1)}], k[{_, seen}], v[{_, seen}]).value()[{_, 0}]);
  }
  check_close(attn(q, k, v, causal).value(), full(q, k, v, nn::window({.before = 2}) & causal).value());
  const Tensor weights = attn.weights(q, k);
  CHECK(weights.value().at({0, 3, 0}) == 0);
  CHECK(weights.value().at({0, 3, 1}) > 0);
  CHECK(weights.value().at({0, 3, 5}) == 0);
  CHECK_REFUSED(ShapeError, attn(q, k[{_, slice(0, 5)}], v[{_, slice(0, 5)}]), "windowed_attention",
                "needs as many queries as keys, got 7 and 5");
}

TEST_CASE("Self-attention with positions as rows and as columns: 512 to 64, scores divided by 8") {
  const SelfAttention attn{root, 512, 64};
  CHECK(attn.num_parameters() == 3 * 512 * 64);
  const Tensor x(normal({2, 7, 512}));
  const Tensor rows = attn(x);
  CHECK(rows.shape() == Shape{2, 7, 64});
  const Tensor columns = attn.columns(transpose(x));
  CHECK(columns.shape() == Shape{2, 64, 7});
  check_close(transpose(columns).value(), rows.value());

  const Tensor q = attn.w_q(x), k = attn.w_k(x), v = attn.w_v(x);
  check_close(attn.attn.score(q, k).value(), (matmul(q, transpose(k)) / 8).value());
  check_close(rows.value(), plain::attention(q, k, v).value());
  CHECK_REFUSED(ShapeError, attn.columns(x[0]), "self_attention",
                "needs three axes (batch, width, positions), got [7, 512]");
}

TEST_CASE("Self-attention drops weights in training, with positions as rows and as columns") {
  const std::int64_t B = 64;
  const SelfAttention attn{root, 6, 4, {.dropout = 0.75}};
  const Tensor x(normal({B, 1, 6}));  // of one position: its weight is 1, or in training 0 or 4
  const Array v = attn.w_v(x).value();
  for (const bool as_columns : {false, true}) {
    CAPTURE(as_columns);
    const auto attended = [&] { return as_columns ? transpose(attn.columns(transpose(x))) : attn(x); };
    const Array y = attended().value();
    std::int64_t dropped = 0;
    for (std::int64_t b = 0; b < B; ++b) {
      const Tensor row(y[{b}]);
      const bool none = max(abs(row)).item() == 0;
      dropped += none;
      check_close(row.value(), (Tensor(v[{b}]) * (none ? 0 : 4)).value());
    }
    CHECK((dropped > B / 2 && dropped < B));
    const Eval eval(attn);
    check_close(attended().value(), v);
  }
}

}  // namespace
}  // namespace xgrad::testing
