// Multi-head attention: the formula, masks, weights; linear attention.
#include "../support.h"

#include <memory>

#include <xgrad/xgrad.h>

namespace xgrad::testing {
namespace {

using namespace nn;

// softmax(q k' / sqrt(d)) v head by head, in the words of the formula.
Tensor by_formula(const MultiHeadAttention& attn, const Tensor& query, const Tensor& key, const Tensor& value) {
  const std::int64_t B = query.dim(0), H = attn.heads, d = attn.dim / H;
  const auto split = [&](const Tensor& t) { return transpose(reshape(t, {B, -1, H, d}), 1, 2); };  // (B, H, T, d)
  const Tensor q = split(attn.q(query)), k = split(attn.k(key)), v = split(attn.v(value));
  return attn.o(reshape(transpose(plain::attention(q, k, v), 1, 2), {B, -1, attn.dim}));
}

TEST_CASE("Multi-head attention is the formula, head by head, of inputs of one width or of three") {
  const Tensor x(normal({2, 3, 12}, 1)), y(normal({2, 5, 12}, 2));
  for (const std::int64_t heads : {1, 2, 6}) {
    for (const bool bias : {false, true}) {
      const MultiHeadAttention attn{root, 12, heads, {.bias = bias}};
      check_close(attn(x, y, y).value(), by_formula(attn, x, y, y).value());
      check_close(attn(x).value(), by_formula(attn, x, x, x).value());
    }
  }
  const MultiHeadAttention attn{root, 8, 2, {.query = 3, .key = 5, .value = 7}};
  const Tensor q(normal({2, 4, 3})), k(normal({2, 6, 5})), v(normal({2, 6, 7}));
  check_close(attn(q, k, v).value(), by_formula(attn, q, k, v).value());
}

TEST_CASE("The recorded weights, by the values of each head, are the result under a mask that is added") {
  const MultiHeadAttention attn{root, 16, 4};
  const Tensor x(normal({1, 11, 16}));
  const Mask ignored({1, 1, 1, 11}, {0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1});
  const AttentionRecorder recorder;
  const Tensor y = attn(x, {.bias = to_real(ignored) * -1e9});
  const Tensor heads = matmul(recorder.last(""), transpose(reshape(attn.v(x), {1, 11, 4, 4}), 1, 2));
  check_close(attn.o(reshape(transpose(heads, 1, 2), {1, 11, 16})).value(), y.value());
  check_close(attn(x, {.masked = ignored}).value(), y.value());
}

// ---- Errors, weights, gradients ----

TEST_CASE("MultiHeadAttention refuses sizes that do not divide and dropouts that are no probability") {
  CHECK_REFUSED(ValueError, MultiHeadAttention(root, 64, 5), "attention", "dim 64 does not divide by 5 heads");
  CHECK_REFUSED(ValueError, MultiHeadAttention(root, 64, 0), "MultiHeadAttention", "heads 0 is not positive");
  CHECK_REFUSED(ValueError, MultiHeadAttention(root, 4, 2, {.dropout = 2}), "MultiHeadAttention",
                "dropout 2 is not in [0, 1]");
  CHECK_REFUSED(ShapeError, MultiHeadAttention(root, 4, 2)(normal({2, 3, 4}), normal({2, 5, 4}), normal({2, 6, 4})),
                "multi_head_attention", "keys and values differ in number");
}

TEST_CASE("Recorders may die in any order") {
  const MultiHeadAttention layer{root, 4, 2};
  const Tensor x(normal({2, 3, 4}));
  auto first = std::make_unique<AttentionRecorder>(), second = std::make_unique<AttentionRecorder>();
  first.reset();
  layer(x);
  CHECK(second->records().size() == 1);
  first = std::make_unique<AttentionRecorder>();
  second.reset();
  layer(x);
  CHECK(first->records().size() == 1);
  first.reset();
  layer(x);
}

TEST_CASE("A recorder of one module keeps the weights of its layers alone, beside others") {
  struct Model : Module {
    MultiHeadAttention first{at("first"), 4, 2};
    MultiHeadAttention second{at("second"), 4, 1};
  } a, b;
  const Tensor x(normal({2, 3, 4}));
  const AttentionRecorder of_all, of_a(a), of_part(b.second);
  for (const Model* model : {&a, &b}) {
    model->first(x);
    model->second(x);
  }
  CHECK(of_all.records().size() == 4);
  REQUIRE(of_a.records().size() == 2);
  CHECK(of_a.records()[0].path == "first");
  CHECK(equal(of_a.last("second"), of_all.records()[1].weights));
  REQUIRE(of_part.records().size() == 1);
  CHECK(equal(of_part.last("second"), of_all.records()[3].weights));
  CHECK_FALSE(equal(of_part.last("second"), of_a.last("second")));
  CHECK_REFUSED(ValueError, of_part.last("first"), "attention_recorder", "no weights of 'first', only of [second]");
}

TEST_CASE("A recorder keeps the weights of the layers that run while it lives") {
  struct Model : Module {
    MultiHeadAttention first{at("first"), 4, 2};
    MultiHeadAttention second{at("second"), 4, 1};
    AdditiveAttention third{at("third"), {.query = 4, .key = 4, .hidden = 3}};
  } model;
  const Tensor x(normal({2, 3, 4}));
  const AttentionMask mask = padding(Index({2}, {1, 3}));
  AttentionRecorder outer;
  model.first(x);
  {
    AttentionRecorder recorder;
    model.first(x, mask);
    model.second(x, causal);
    model.third(x, x, x, mask);
    REQUIRE(recorder.records().size() == 3);
    CHECK(recorder.last("first").shape() == Shape{2, 2, 3, 3});
    CHECK(recorder.last("third").shape() == Shape{2, 1, 3, 3});
    for (const auto& [path, weights] : recorder.records()) {
      check_close(sum(weights, -1).value(), ones({2, weights.dim(1), 3}).value());
    }
    CHECK(equal(recorder.last("first")[{0, 1}], Array({3, 3}, {1, 0, 0, 1, 0, 0, 1, 0, 0})));
    CHECK(recorder.last("second").at({1, 0, 0, 1}) == 0);
    CHECK(recorder.last("second").at({1, 0, 2, 1}) > 0);
    CHECK_REFUSED(ValueError, recorder.last("fourth"), "attention_recorder", "'fourth'", "[first", "third]");
  }
  model.second(x);
  CHECK(outer.records().size() == 5);

  const MultiHeadAttention alone{nn::root, 4, 2};
  const AttentionRecorder of_alone;
  alone(x);
  CHECK(of_alone.last("").shape() == Shape{2, 2, 3, 3});
  CHECK_REFUSED(ValueError, of_alone.last("attn"), "attention_recorder", "'attn'", "[the model itself, '']");
}

TEST_CASE("The number of parameters does not depend on the number of heads, and one head still has W_o") {
  const MultiHeadAttention eight{root, 512, 8}, one{root, 512, 1};
  CHECK(eight(normal({2, 7, 512})).shape() == Shape{2, 7, 512});
  CHECK(eight.num_parameters() == one.num_parameters());

  const MultiHeadAttention attn{root, 4, 1};
  const DotProductAttention single{root};
  const Tensor x(normal({1, 3, 4}));
  const Tensor without = single(attn.q(x), attn.k(x), attn.v(x));
  CHECK(difference(attn(x).value(), without.value()) > 1e-3);
  check_close(attn(x).value(), attn.o(without).value());
}

TEST_CASE("LinearAttention has the parameters of MultiHeadAttention and maps around linear_attention") {
  const LinearAttention attn{root, 8, 2, {.key = 5, .value = 3}};
  const MultiHeadAttention softmax_form{root, 8, 2, {.key = 5, .value = 3}};
  softmax_form.load_state_dict(attn.state_dict());
  const Tensor x(normal({2, 4, 8}, 1)), k(normal({2, 6, 5}, 2)), v(normal({2, 6, 3}, 3));
  const Tensor y = attn(x, k, v, padding(Index({2}, {3, 6})));
  check_close(y.value(),
              attn.o(linear_attention(attn.q(x), attn.k(k), attn.v(v), 2, {.lengths = Index({2}, {3, 6})})).value());
  CHECK(difference(y.value(), softmax_form(x, k, v, padding(Index({2}, {3, 6}))).value()) > 1e-3);
}

TEST_CASE("LinearAttention step by step gives what it gives at once") {
  const LinearAttention attn{root, 8, 2, {.bias = true}};
  const Tensor x(normal({2, 6, 8}));
  const Tensor whole = attn(x, causal);
  LinearAttentionState past;
  Tensors steps;
  for (std::int64_t t = 0; t < 6; ++t) steps.push_back(attn(x[{_, slice(t, t + 1)}], past));
  check_close(concat(steps, 1).value(), whole.value());
  CHECK(past.sums.shape() == Shape{2, 2, 4, 5});
}

TEST_CASE("LinearAttention refuses what it cannot do") {
  const LinearAttention attn{root, 4, 2, {.bias = true}};
  const Tensor x(normal({2, 3, 4}));
  CHECK_REFUSED(ValueError, LinearAttention(root, 4, 3), "attention", "dim 4 does not divide by 3 heads");
  CHECK_REFUSED(ValueError, attn(x, window({.before = 1})), "linear_attention",
                "a mask may be causal and have lengths, nothing else");
  const char* const only = "a mask may be causal and have lengths, nothing else";
  CHECK_REFUSED(ValueError, attn(x, AttentionMask{.bias = x}), "linear_attention", only);
  CHECK_REFUSED(ValueError, attn(x, AttentionMask{.masked = Mask({3, 3}, false)}), "linear_attention", only);
}

}  // namespace
}  // namespace xgrad::testing
