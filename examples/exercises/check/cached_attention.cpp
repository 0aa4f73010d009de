#include "check.h"

namespace xgrad::exercises {

void check::cached_attention(Tensor (*answer)(const Tensor&, const Tensor&, const Tensor&, Cache&)) {
  const Tensor q = numbers({2, 4, 3}), k = numbers({2, 4, 3}, 2), v = numbers({2, 4, 3}, 3);
  const Tensor right = scaled_dot_product_attention(q, k, v, {.mask = {.causal = true}});
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
    same("cache.keys", cache.keys, k[{_, slice(0, t + 1)}]);
    same("cache.values", cache.values, v[{_, slice(0, t + 1)}]);
    if (t > 0) {
      const auto before = [t](const Tensor& x) { return x[{_, slice(0, t)}]; };
      not_this(y, scaled_dot_product_attention(at(q), before(k), before(v)), "step ", t,
               " does not see its own position: append first, then attend, without a mask");
      const auto so_far = [t](const Tensor& x) { return x[{_, slice(0, t + 1)}]; };
      not_this(y, scaled_dot_product_attention(at(q), so_far(k), so_far(v), {.scale = 1}),
               "the scores are not divided by sqrt(d)");
      not_this(y, at(v), "step ", t, " sees only its own position: attend to the keys and values of the cache");
    }
    same(str("the result of step ", t), y, at(right),
         "position t of causal attention over the whole sequence has the second value");
  }
  right_because() = "a step costs one row of scores; without the cache it would cost t rows";
}

}  // namespace xgrad::exercises
