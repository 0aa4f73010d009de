#include "mistake.h"

namespace xgrad::exercises {

void check::cached_attention(Tensor (*answer)(const Tensor&, const Tensor&, const Tensor&, Cache&)) {
  const Tensor q = numbers({2, 4, 3}), k = numbers({2, 4, 3}, 2), v = numbers({2, 4, 3}, 3);
  Cache cache;
  for (std::int64_t t = 0; t < 4; ++t) {
    const auto at = [t](const Tensor& x) { return x[{_, slice(t, t + 1)}]; };
    Tensor y;
    try {
      y = answer(at(q), at(k), at(v), cache);
    } catch (const GraphError&) {
      if (t > 0 || cache.keys.defined()) throw;
      not_yet(
          "in the first step an undefined tensor was used: the cache is empty, so the new key and value become its "
          "content");
    }
    written(y.defined(), "cache.keys = cache.keys.defined() ? concat({cache.keys, k}, 1) : k;");
    has_shape(str("the result of step ", t), y.shape(), {2, 1, 3}, "(B, 1, d)");
    if (!cache.keys.defined() || !cache.values.defined())
      not_yet("the cache is empty after step ", t, ": assign to cache.keys and cache.values");
    const Shape length{2, t + 1, 3};
    if (t > 0 && cache.keys.shape() == Shape{2, 1, 3})
      not_yet("after step ", t, " the cache has only the newest position: append to the older ones");
    has_shape(str("after step ", t, " cache.keys"), cache.keys.shape(), length, "(B, t + 1, d)");
    has_shape(str("after step ", t, " cache.values"), cache.values.shape(), length, "(B, t + 1, d)");
    if (t > 0) {
      not_this(cache.keys, concat({k[{_, slice(t, t + 1)}], k[{_, slice(0, t)}]}, 1),
               "the new key is in front: append it behind the older ones");
    }
    not_this(cache.keys, v[{_, slice(0, t + 1)}], "cache.keys has the values: k belongs there, and v in cache.values");
    not_this(cache.values[{_, slice(t, t + 1)}], at(k), "cache.values gets k: v belongs there, and k in cache.keys");
    same("cache.keys", cache.keys, k[{_, slice(0, t + 1)}]);
    same("cache.values", cache.values, v[{_, slice(0, t + 1)}]);
    using X = const Tensor&;
    const auto until = [](X x, std::int64_t end) { return x[{_, slice(0, end)}]; };
    const auto attend = [&](std::int64_t end, const AttentionOptions& options = {}) {
      return scaled_dot_product_attention(at(q), until(k, end), until(v, end), options);
    };
    const auto right = [](X q, X k, X v, X keys, X values) {
      return scaled_dot_product_attention(q, concat({keys, k}, 1), concat({values, v}, 1));
    };
    if (t == 0) {
      same("the result of step 0", y, at(v), "it sees itself alone, so the result is v");
      continue;
    }
    agree(
        {.what = str("the result of step ", t),
         .known = {{attend(t), str("step ", t,
                                   " does not see its own position: append first, then attend, without a "
                                   "mask")},
                   {attend(t + 1, {.scale = 1}), "the scores are not divided by sqrt(d)"},
                   {attend(t + 1, {.mask = {.causal = true}}),
                    "a causal mask hides all keys but the first from the one query: all keys are past, so no mask"},
                   {scaled_dot_product_attention(at(q), until(k, t + 1), until(k, t + 1)),
                    "the keys stand in place of the values"},
                   {scaled_dot_product_attention(at(q), until(v, t + 1), until(k, t + 1)),
                    "keys and values have changed places in the call"},
                   {scaled_dot_product_attention(at(k), until(k, t + 1), until(v, t + 1)), "k stands in place of q"},
                   {at(v), str("step ", t, " sees only its own position: attend to the keys and values of the cache")}},
         .why = "position t of causal attention over the whole sequence has the second value"},
        [&](X q, X k, X v, X keys, X values) {
          Cache before{keys, values};
          return answer(q, k, v, before);
        },
        right,
        {{"q", at(q)}, {"k", at(k)}, {"v", at(v)}, {"the older keys", until(k, t)}, {"the older values", until(v, t)}});
  }
  right_because() = "a step costs one row of scores; without the cache it would cost t rows";
}

}  // namespace xgrad::exercises
