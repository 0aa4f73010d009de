// Attention with fewer heads of keys and values than of queries. PyTorch's numbers: language_fixtures_test.
#include <xgrad/ops/ops.h>

#include "support/check.h"
#include "support/fused.h"
#include "support/threads.h"

namespace xgrad::testing {
namespace {

// Keys or values (B, S, kv_heads d) with each head as often as a group has queries: (B, S, H d).
Tensor repeated(const Tensor& x, std::int64_t kv_heads, std::int64_t group) {
  const std::int64_t B = x.dim(0), S = x.dim(1), d = x.dim(2) / kv_heads;
  return reshape(broadcast_to(reshape(x, {B, S, kv_heads, 1, d}), {B, S, kv_heads, group, d}),
                 {B, S, kv_heads * group * d});
}

TEST_CASE("grouped attention is attention with the keys and values of a group repeated") {
  for (const auto& [H, G] : {std::pair<std::int64_t, std::int64_t>{4, 2}, {6, 3}, {5, 1}, {3, 3}}) {
    for (const std::int64_t T : {1, 5, 40}) {
      const std::int64_t heads = H, kv_heads = G, B = 2, d = 3, e = 2;
      CAPTURE(cat(heads, " ", kv_heads, " ", T));
      for (const Real p : {Real(0), Real(0.3)}) {
        const AttentionOptions options{
            .mask = {.causal = true}, .dropout = p, .key = RandomKey{3, 4}, .kv_heads = kv_heads};
        AttentionOptions all = options;
        all.kv_heads.reset();
        check_fused([&](const Tensors& x) { return multi_head_attention(x[0], x[1], x[2], heads, options); },
                    [&](const Tensors& x) {
                      return multi_head_attention(x[0], repeated(x[1], kv_heads, heads / kv_heads),
                                                  repeated(x[2], kv_heads, heads / kv_heads), heads, all);
                    },
                    {normal({B, T, heads * d}), normal({B, T, kv_heads * d}, 2), normal({B, T, kv_heads * e}, 3)});
      }
    }
  }
}

TEST_CASE("grouped attention from one projection equals that of its parts, and so do its gradients of two orders") {
  const std::int64_t H = 4, G = 2, d = 2;
  const AttentionOptions options{.mask = {.lengths = Index({2}, {3, 2})}, .kv_heads = G};
  const auto packed = [&](const Tensors& x) { return multi_head_attention(x[0], H, options); };
  const auto parts = [&](const Tensors& x) {
    return multi_head_attention(narrow(x[0], 2, 0, H * d), narrow(x[0], 2, H * d, G * d),
                                narrow(x[0], 2, (H + G) * d, G * d), H, options);
  };
  check_fused(packed, parts, {normal({2, 3, (H + 2 * G) * d})});
  const Tensor q(normal({2, 3, H * d})), k(normal({2, 3, G * d}, 2));
  check_close(attention_weights(q, k, H, options).value(),
              attention_weights(q, repeated(k, G, H / G), H, {.mask = options.mask}).value());
}

TEST_CASE("grouped attention is the same bits for any number of threads") {
  const Tensor x = variable(normal({3, 70, 8 * 5}));
  check_same_bits([&] {
    const Tensor y = multi_head_attention(x, 4, {.kv_heads = 2});
    return concat({flatten(y), flatten(grad(y, {x}, {.seed = Tensor(normal(y.shape(), 2))})[0])});
  });
}

TEST_CASE("room for keys to come, behind the lengths, takes no part, whatever stands there") {
  for (const std::int64_t T : {1, 3}) {
    Array k = normal({2, 9, 8}), v = normal({2, 9, 8}, 2);
    const Tensor q(normal({2, T, 8}, 3));
    const AttentionMask mask{.lengths = Index({2}, 5)};
    const Tensor before = multi_head_attention(q, k, v, 2, {.mask = mask});
    const Real none = std::numeric_limits<Real>::quiet_NaN();
    k[{_, slice(5, 9)}] = none;
    v[{_, slice(5, 9)}] = none;
    CHECK(equal(multi_head_attention(q, k, v, 2, {.mask = mask}).value(), before.value()));
    check_close(before.value(), multi_head_attention(q, k[{_, slice(0, 5)}], v[{_, slice(0, 5)}], 2).value());
  }
}

TEST_CASE("grouped attention refuses heads and widths that do not fit") {
  const Tensor q = zeros({1, 2, 8}), k = zeros({1, 2, 4});
  const auto of_four = [&](std::int64_t kv_heads, const Tensor& keys) {
    multi_head_attention(q, keys, keys, 4, {.kv_heads = kv_heads});
  };
  CHECK_REFUSED(ValueError, of_four(3, k), "multi_head_attention", "4 heads", "3 kv_heads");
  CHECK_REFUSED(ValueError, of_four(0, k), "multi_head_attention", "4 heads", "0 kv_heads");
  CHECK_REFUSED(ValueError, of_four(2, zeros({1, 2, 5})), "multi_head_attention", "width 5", "2 heads");
  CHECK_REFUSED(ShapeError, multi_head_attention(q, k, k, 4, {.kv_heads = 4}), "multi_head_attention", "q [1, 2, 8]",
                "k [1, 2, 4]", "v [1, 2, 4]");
  CHECK_REFUSED(ValueError, multi_head_attention(zeros({1, 2, 12}), 4, {.kv_heads = 2}), "multi_head_attention",
                "width 12", "4 heads, 2 of keys");
  CHECK_REFUSED(ValueError, scaled_dot_product_attention(q, q, q, {.kv_heads = 1}), "scaled_dot_product_attention",
                "kv_heads", "multi_head_attention");
}

}  // namespace
}  // namespace xgrad::testing
