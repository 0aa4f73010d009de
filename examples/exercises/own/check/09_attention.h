// Hint: matmul(q, transpose(k)) has a row for each query; q.value().cols is d.
#include "check.h"

namespace check {

inline std::string link(const std::string& folder) {
  constexpr int T = 4, d = 3;
  const Matrix mask = causal(T);
  for (int t = 0; t < T; ++t) {
    for (int s = 0; s < T; ++s) {
      if (s <= t && mask.at(t, s) != 0)
        not_yet("causal: position ", t, " does not see position ", s, ": 0 belongs at row ", t, ", column ", s);
      if (s > t && mask.at(t, s) > -1e8)
        not_yet("causal: position ", t, " sees position ", s, ", which comes later: -1e9 belongs at row ", t,
                ", column ", s);
    }
  }
  const Tensor q(numbers(T, d, 1), "q"), k(numbers(T, d, 2), "k"), v(numbers(T, d, 3), "v");
  const auto by_hand = [&](const Matrix& q, const Matrix& k, const Matrix& v, double scale, bool masked) {
    const Matrix scores = scaled(product(q, turned(k)), scale);
    return product(probabilities(masked ? map(scores, mask, [](double a, double b) { return a + b; }) : scores), v);
  };
  const Matrix &a = q.value(), &b = k.value(), &c = v.value();
  const double scale = 1 / std::sqrt(3.);
  same("attention", attention(q, k, v).value(), by_hand(a, b, c, scale, true),
       {{by_hand(a, b, c, scale, false), "the mask is missing: later positions are seen"},
        {by_hand(a, b, c, 1, true), "the scores are not divided by sqrt(d)"},
        {by_hand(a, b, c, 1. / 3, true), "the scores are divided by d: by its root"},
        {by_hand(a, b, c, 0.5, true), "the scores are divided by sqrt(T): d is the width, q.value().cols"},
        {by_hand(b, a, c, scale, true), "q and k have changed places"},
        {by_hand(a, b, b, scale, true), "k stands in place of v"},
        {c, "it is v as it came in"},
        {scaled(by_hand(a, b, c, 1, true), scale), "the result is divided by sqrt(d): the scores are"}});
  gradients("attention", [&] { return attention(q, k, v); }, {q, k, v}, {"q", "k", "v"});
  Random random(1);
  const Attention two(6, 2, random);
  const Tensor x(numbers(T, 6, 4), "x");
  const auto head = [&](const Head& h) { return h.out(attention(h.query(x), h.key(x), h.value(x))).value(); };
  const Head& first = two.heads[0];
  same("a head", first(x).value(), head(first),
       {{attention(first.query(x), first.key(x), first.value(x)).value(),
         "the map `out` back to the width C is missing"},
        {first.out(attention(first.key(x), first.query(x), first.value(x))).value(),
         "query and key have changed places"}});
  Tensors parameters;
  first.collect(parameters);
  if (parameters.size() != 8)
    not_yet("a head collects ", parameters.size(), " parameters instead of 8, weight and bias of four maps");
  const auto plus = [](double a, double b) { return a + b; };
  same("attention with two heads", two(x).value(), map(head(two.heads[0]), head(two.heads[1]), plus),
       {{head(two.heads[0]), "only the first head counts"},
        {scaled(head(first), 2), "the first head counts twice, and the second does not"},
        {map(scaled(head(first), 2), head(two.heads[1]), plus), "the first head counts twice"},
        {head(two.heads[1]), "only the last head counts"},
        {map(map(head(two.heads[0]), head(two.heads[1]), plus), x.value(), plus),
         "x is added: that is the block's part"}});
  Matrix later = x.value();
  for (int j = 0; j < 6; ++j) later.at(T - 1, j) += 1;
  const Matrix now = two(x).value(), then = two(Tensor(later)).value();
  for (int i = 0; i < (T - 1) * 6; ++i) {
    if (std::abs(now.v[std::size_t(i)] - then.v[std::size_t(i)]) > 1e-9)
      not_yet("position ", i / 6, " changes with the last position");
  }
  draw(attention(q, k, v), folder + "/graph.dot");
  return "what comes later changes nothing";
}

}  // namespace check
