// Heads set by hand: heads that pool with additive scores, and a convolution as attention to fixed relative positions.
#include "../support.h"

#include <cmath>

#include <xgrad/xgrad.h>

#include "../../../docs/tools/experiments/convolution_heads.h"

namespace xgrad::testing {
namespace {

// As docs/topics/attention.md has it.
struct AdditiveHeadsOptions {
  std::int64_t dim, count, hidden;
};
struct AdditiveHeads : nn::Layer<AdditiveHeads, AdditiveHeadsOptions> {
  using Layer::Layer;
  nn::Stack<nn::AdditiveAttention> heads{
      at("heads"), options.count,
      nn::AdditiveAttentionOptions{.query = options.dim, .key = options.dim, .hidden = options.hidden}};
  nn::Linear w_v{at("w_v"), options.dim, options.dim, {.bias = false}};
  nn::Linear w_o{at("w_o"), options.dim, options.dim, {.bias = false}};

  Tensor forward(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionMask& mask = {}) const {
    const Tensors values = chunk(w_v(v), heads.size(), -1);
    Tensors pooled;
    for (std::int64_t h = 0; h < heads.size(); ++h) {
      pooled.push_back(heads[h](q, k, values[static_cast<std::size_t>(h)], mask));
    }
    return w_o(concat(pooled, -1));
  }
};

TEST_CASE("One head with additive scores is additive attention followed by W_o, where W_v is the identity") {
  const AdditiveHeads attn{nn::root, {6, 1, 5}};
  attn.w_v.weight.assign(eye(6).value());
  const Tensor q(normal({2, 3, 6}, 1)), k(normal({2, 4, 6}, 2)), v(normal({2, 4, 6}, 3));
  const AttentionMask mask = nn::padding(Index({2}, {2, 4}));
  check_close(attn(q, k, v, mask).value(), attn.w_o(attn.heads[0](q, k, v, mask)).value());
  const AdditiveHeads other{nn::root, {6, 1, 5}};  // and not where W_v is another matrix
  CHECK(max(abs(other(q, k, v, mask) - other.w_o(other.heads[0](q, k, v, mask)))).item() > 1e-2);
}

TEST_CASE("Two heads with additive scores pool halves of the values by the weights of each, element by element") {
  const AdditiveHeads attn{nn::root, {4, 2, 3}};
  const Array q = normal({1, 2, 4}, 1), k = normal({1, 3, 4}, 2), v = normal({1, 3, 4}, 3);
  const Array values = attn.w_v(v).value();
  Array pooled(Shape{1, 2, 4});
  for (std::int64_t h = 0; h < 2; ++h) {
    const auto& [wq, wk, wv] = std::tuple(attn.heads[h].w_q.weight.value(), attn.heads[h].w_k.weight.value(),
                                          attn.heads[h].w_v.weight.value());
    for (std::int64_t t = 0; t < 2; ++t) {
      double total = 0, weights[3];
      for (std::int64_t s = 0; s < 3; ++s) {
        double score = 0;
        for (std::int64_t i = 0; i < 3; ++i) {
          double sum = 0;
          for (std::int64_t c = 0; c < 4; ++c) sum += wq.at({i, c}) * q.at({0, t, c}) + wk.at({i, c}) * k.at({0, s, c});
          score += wv.at({0, i}) * std::tanh(sum);
        }
        total += weights[s] = std::exp(score);
      }
      for (std::int64_t c = 2 * h; c < 2 * h + 2; ++c) {
        double sum = 0;
        for (std::int64_t s = 0; s < 3; ++s) sum += weights[s] / total * values.at({0, s, c});
        pooled.mutable_data()[4 * t + c] = sum;
      }
    }
  }
  check_close(attn(q, k, v).value(), attn.w_o(pooled).value());
  check_module_gradients(attn, [&](const Tensors& in) { return attn(in[0], in[1], in[2]); }, {q, k, v});
}

TEST_CASE("A convolution is attention of k heads to fixed relative positions, values and gradients") {
  for (const std::int64_t k : {1, 3, 5}) {
    const nn::Conv1d conv{nn::root, 3, 4, k, {.padding = (k - 1) / 2}};
    const Tensor x = variable(normal({2, 7, 3}, 1)), seed(normal({2, 7, 4}, 2));
    const Tensor expected = transpose(conv(transpose(x))), y = convolution_heads::as_attention(conv, x);
    check_close(y.value(), expected.value());
    const Tensors inputs{x, conv.weight, conv.bias};
    const Tensors found = grad(y, inputs, {.seed = seed}), slopes = grad(expected, inputs, {.seed = seed});
    for (std::size_t i = 0; i < inputs.size(); ++i) check_close(found[i].value(), slopes[i].value());
  }
}

TEST_CASE("A head of a convolution sees one position, and outside of the sequence none, which is the zero padding") {
  const Mask hidden = convolution_heads::elsewhere(3, 4);
  REQUIRE(hidden.shape() == Shape{3, 4, 4});
  for (std::int64_t j = 0; j < 3; ++j) {
    for (std::int64_t t = 0; t < 4; ++t) {
      for (std::int64_t s = 0; s < 4; ++s) CHECK(hidden.at({j, t, s}) == (s != t + j - 1));
    }
  }
  const Tensor any = zeros({1, 4, 3});
  const Array weights = attention_weights(any, any, 3, {.mask = {.masked = hidden}}).value();
  CHECK(equal(sum(weights, -1).value(), tensor({{{0, 1, 1, 1}, {1, 1, 1, 1}, {1, 1, 1, 0}}}).value()));
}

}  // namespace
}  // namespace xgrad::testing
