// Attention: the kernel against softmax and products under every mask, threads, refusals. (Special numbers and sizes:
// attention_edges_test.cpp; PyTorch's numbers: layers_fixtures_test.cpp.)
#include <cmath>

#include <xgrad/ops/ops.h>

#include "support/attention.h"
#include "support/fused.h"
#include "support/threads.h"

using namespace xgrad;
using namespace xgrad::testing;

namespace {

struct Sizes {
  std::int64_t B, T, S, C, E, H;
};

Mask pattern(std::int64_t T, std::int64_t S) {
  Mask mask(Shape{T, S});
  for (std::int64_t i = 0; i < T * S; ++i) mask.mutable_data()[i] = i * 7 % 5 == 0;
  return mask;
}

struct AttentionCase {
  std::string name;
  Sizes n;
  AttentionMask mask;
  double terms = 0;  // as in check_close
  std::vector<double> dropouts{0, 0.4, 1};
};

std::vector<AttentionCase> cases() {
  const Array hidden = Array({1, 4}, {-infinity, 2, -infinity, -infinity});
  std::vector<AttentionCase> all{
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
      {"bias of keys", {2, 4, 5, 4, 6, 2}, {.bias = normal({5}, 9)}},
      {"bias of all heads", {2, 4, 5, 4, 6, 2}, {.bias = normal({4, 5}, 9)}},
      {"bias of queries", {2, 4, 5, 4, 6, 2}, {.bias = normal({2, 1, 4, 1}, 9)}, 1},  // whose gradient is 0
      {"bias of each score", {2, 4, 5, 4, 6, 2}, {.bias = normal({2, 2, 4, 5}, 9)}},
      {"bias that hides keys", {1, 3, 4, 2, 2, 1}, {.bias = hidden}},
      {"bias that hides keys of many", {1, 3, 64, 2, 2, 1}, {.bias = concat({hidden, full({1, 60}, -infinity)}, 1)}},
      {"bias that hides all", {1, 3, 4, 2, 2, 1}, {.bias = full({1, 4}, -infinity)}},
      {"bias that hides all of many", {1, 3, 64, 2, 2, 1}, {.bias = full({1, 64}, -infinity)}},
      {"everything",
       {2, 6, 6, 4, 4, 2},
       {.causal = true, .lengths = index({4, 6}), .masked = pattern(6, 6), .bias = normal({6, 6}, 9)}},
      {"wide", {1, 2, 17, 40, 36, 2}, {}},
      {"one row masked", {1, 2, 3, 4, 4, 2}, {.lengths = index({{0, 2}})}},
  };
  // Several blocks of queries, whose weights are not kept.
  for (const std::int64_t T : {31, 32, 33, 65, 130}) {
    const std::int64_t w = T / 3;
    const std::pair<const char*, AttentionMask> masks[] = {
        {"plain", {}},
        {"causal", {.causal = true}},
        {"lengths", {.lengths = index({T - 1, T / 2})}},
        {"band", {.band = AttentionBand{w, 2}}},
        {"narrow band", {.band = AttentionBand{0, 3}}},
        {"causal band", {.causal = true, .band = AttentionBand{w, w}, .lengths = index({T, T / 2})}},
        {"masked by position", {.band = AttentionBand{T / 2, T / 4}, .masked = pattern(T, T)}},
        {"bias", {.causal = true, .bias = normal({2, 1, T, T}, 9)}}};
    for (const auto& [name, mask] : masks) all.push_back({str("T ", T, ", ", name), {2, T, T, 4, 6, 2}, mask});
  }
  return all;
}

// q, k, v and, where the mask has one, the bias.
std::vector<Array> operands(const AttentionCase& c) {
  const Sizes& n = c.n;
  std::vector<Array> all{normal({n.B, n.T, n.C}, 1), normal({n.B, n.S, n.C}, 2), normal({n.B, n.S, n.E}, 3)};
  if (c.mask.bias.defined()) all.push_back(c.mask.bias.value());
  return all;
}

// softmax(q k' / sqrt(d) + bias), with -inf where the mask, written out, hides a key
Tensor composed_weights(const Tensors& x, const AttentionCase& c) {
  const Sizes& n = c.n;
  const auto heads = [&](const Tensor& u) { return transpose(reshape(u, {n.B, u.dim(1), n.H, n.C / n.H}), 1, 2); };
  Tensor scores = matmul(heads(x[0]), heads(x[1]), {.transpose_b = true}) / std::sqrt(static_cast<Real>(n.C / n.H));
  if (x.size() > 3) scores = scores + x[3];
  Mask hidden = written_out(c.mask, n.B, n.T, n.S);
  if (c.mask.masked) hidden = hidden || *c.mask.masked;
  return softmax(masked_fill(scores, hidden, -infinity));
}

}  // namespace

TEST_CASE("attention is softmax and products under every mask, with gradients of two orders, also with dropout") {
  for (const AttentionCase& c : cases()) {
    INFO(c.name);
    const Sizes& n = c.n;
    const std::vector<Array> inputs = operands(c);
    const Tensors xs(inputs.begin(), inputs.end());
    const Tensor weights = composed_weights(xs, c);
    check_close(attention_weights(xs[0], xs[1], n.H, {.mask = c.mask}).value(), weights.value(), 1e-13);
    for (const double p : c.dropouts) {
      CAPTURE(p);
      const RandomKey key{3, 4};
      const auto with_bias = [&](const Tensors& x) {
        AttentionOptions options{.mask = c.mask, .dropout = p, .key = key};
        if (x.size() > 3) options.mask.bias = x[3];
        return multi_head_attention(x[0], x[1], x[2], n.H, options);
      };
      const auto composed = [&](const Tensors& x) {
        const Tensor v = transpose(reshape(x[2], {n.B, n.S, n.H, n.E / n.H}), 1, 2);
        return reshape(transpose(matmul(dropout(composed_weights(x, c), p, key), v), 1, 2), {n.B, n.T, n.E});
      };
      check_fused(with_bias, composed, inputs, 1e-12, c.terms);
    }
    if (n.H > 1 || c.mask.bias.defined()) continue;
    const Mask masked = masked_keys(c.mask, {n.B, 1, n.T, n.S}).reshaped({n.B, n.T, n.S});
    check_close(plain::attention(xs[0], xs[1], xs[2], masked).value(), matmul(squeeze(weights, 1), xs[2]).value());
  }
}

TEST_CASE("NaN at a key that comes later stays where it is") {
  Array x = normal({1, 4, 4});
  std::fill_n(x.mutable_data() + 3 * 4, 4, std::nan(""));
  const Tensor q = variable(normal({1, 4, 4})), kv = variable(x);
  const Tensor y = multi_head_attention(q, kv, kv, 2, {.mask = {.causal = true}});
  const Tensor shorter =
      multi_head_attention(q, narrow(kv, 1, 0, 3), narrow(kv, 1, 0, 3), 2, {.mask = {.causal = true}});
  check_close(narrow(y, 1, 0, 3).value(), narrow(shorter, 1, 0, 3).value());
  CHECK(std::isnan(y.value().at({0, 3, 0})));
}

TEST_CASE("queries, keys and values from one projection give what they give apart, and one gradient") {
  struct Row {
    std::int64_t T, H, kv_heads, d;
    bool causal, biased;
  };
  for (const Row& row : {Row{1, 2, 2, 3, true, false}, Row{1, 2, 2, 3, true, true}, Row{5, 2, 2, 3, true, false},
                         Row{5, 2, 2, 3, true, true}, Row{40, 2, 2, 3, true, false}, Row{40, 2, 2, 3, true, true},
                         Row{3, 4, 2, 2, false, false}}) {
    const std::int64_t T = row.T, queries = row.H * row.d, keys = row.kv_heads * row.d;
    CAPTURE(str("T ", T, ", ", row.H, " heads, ", row.kv_heads, " of keys", row.biased ? ", bias" : ""));
    const auto options = [&](const Tensors& x) {
      AttentionMask mask{.causal = row.causal, .lengths = index({T, (T + 1) / 2})};
      if (row.biased) mask.bias = x[1];
      return AttentionOptions{.mask = mask, .kv_heads = row.kv_heads};
    };
    const auto packed = [&](const Tensors& x) { return multi_head_attention(x[0], row.H, options(x)); };
    const auto apart = [&](const Tensors& x) {
      return multi_head_attention(narrow(x[0], 2, 0, queries), narrow(x[0], 2, queries, keys),
                                  narrow(x[0], 2, queries + keys, keys), row.H, options(x));
    };
    std::vector<Array> inputs{normal({2, T, queries + 2 * keys})};
    if (row.biased) inputs.push_back(normal({T, T}, 9));
    check_fused(packed, apart, inputs);
    const Tensors xs = variables(inputs);
    const Tensor y = packed(xs), expected = apart(xs), seed(normal(y.shape(), 7));
    CHECK(equal(y.value(), expected.value()));
    check_each_close(grad(y, xs, {.seed = seed}), grad(expected, xs, {.seed = seed}), 0);
  }
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

TEST_CASE("the weights of grouped attention are those of keys repeated for each query of their group") {
  const Tensor q(normal({2, 3, 8})), k(normal({2, 3, 4}, 2));
  const Tensors heads = chunk(k, 2, 2);
  const AttentionMask mask{.lengths = Index({2}, {3, 2})};
  check_close(attention_weights(q, k, 4, {.mask = mask, .kv_heads = 2}).value(),
              attention_weights(q, concat({heads[0], heads[0], heads[1], heads[1]}, 2), 4, {.mask = mask}).value());
}

TEST_CASE("attention is the same bits for any number of threads, and without its kernel the same numbers") {
  struct Row {
    const char* what;
    std::int64_t B, T, heads, kv_heads, d;
    double dropout = 0;
  };
  for (const Row& row : {Row{"with dropout", 16, 33, 4, 4, 8, 0.1}, Row{"many short sequences", 40, 10, 4, 4, 8},
                         Row{"few heads, whose queries are split", 1, 1100, 1, 1, 6}, Row{"", 1, 600, 4, 1, 6},
                         Row{"", 2, 530, 1, 1, 6}, Row{"", 1, 40, 1, 1, 6}, Row{"grouped", 3, 70, 4, 2, 5}}) {
    CAPTURE(str(row.what, ": ", row.B, " x ", row.T, ", heads ", row.heads, " and ", row.kv_heads));
    const Array q = normal({row.B, row.T, row.heads * row.d}), k = normal({row.B, row.T, row.kv_heads * row.d}, 2),
                v = normal({row.B, row.T, row.kv_heads * row.d}, 3);
    const AttentionOptions options{
        .mask = {.causal = true}, .dropout = row.dropout, .key = RandomKey{}, .kv_heads = row.kv_heads};
    const auto results = [&](bool kernel) {
      const Tensors x{variable(q), variable(k), variable(v)};
      const Tensor y = multi_head_attention(x[0], x[1], x[2], row.heads, options);
      Tensors all = grad(y, x, {.seed = Tensor(normal(y.shape(), 4)), .create_graph = !kernel});
      all.push_back(y);
      for (Tensor& each : all) each = flatten(each.detach());
      return concat(all);
    };
    check_same_bits([&] { return results(true); });
    check_close(results(true).value(), results(false).value(), 1e-12);
  }
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
  CHECK_REFUSED(ShapeError, f(x, x, x, 2, {.mask = {.lengths = index({1})}}), op, "lengths of shape [1]", "[2, 3]");
  CHECK_REFUSED(ShapeError, f(x, x, x, 2, {.mask = {.masked = Mask(Shape{2, 3}, false)}}), op, "masked of shape [2, 3]",
                "[2, 2, 3, 3]", "fit as [2, 1, 1, 3]");
  CHECK_REFUSED(ShapeError, f(x, x, x, 2, {.mask = {.bias = ones({4, 3})}}), op, "bias of shape [4, 3]",
                "[2, 2, 3, 3]");
  CHECK_REFUSED(ValueError, f(x, x, x, 2, {.dropout = 1.5}), op, "dropout 1.5", "[0, 1]");

  CHECK_REFUSED(ValueError, multi_head_attention(zeros({1, 2, 8}), 2), op, "width 8", "2 heads");
  CHECK_REFUSED(ShapeError, multi_head_attention(zeros({2, 6}), 2), op, "three axes", "[2, 6]");
  CHECK_REFUSED(ValueError, multi_head_attention(zeros({1, 2, 6}), 2, {.mask = {.band = AttentionBand{-1, 2}}}), op,
                "band of -1", "2 after");

  const Tensor q = zeros({1, 2, 8}), k = zeros({1, 2, 4});
  const auto of_four = [&](std::int64_t kv_heads, const Tensor& keys) {
    multi_head_attention(q, keys, keys, 4, {.kv_heads = kv_heads});
  };
  CHECK_REFUSED(ValueError, of_four(3, k), op, "4 heads", "3 kv_heads");
  CHECK_REFUSED(ValueError, of_four(0, k), op, "4 heads", "0 kv_heads");
  CHECK_REFUSED(ValueError, of_four(2, zeros({1, 2, 5})), op, "width 5", "2 heads");
  CHECK_REFUSED(ShapeError, multi_head_attention(q, k, k, 4, {.kv_heads = 4}), op, "q [1, 2, 8]",
                "k [1, 2, 4]", "v [1, 2, 4]");
  CHECK_REFUSED(ValueError, multi_head_attention(zeros({1, 2, 12}), 4, {.kv_heads = 2}), op,
                "width 12", "4 heads, 2 of keys");
  CHECK_REFUSED(ValueError, scaled_dot_product_attention(q, q, q, {.kv_heads = 1}), "scaled_dot_product_attention",
                "kv_heads", op);
}
