// The numbers of "Attention in small numbers"; the expected values are written out, or are those of a calculator, to three
// places.
#include <doctest/doctest.h>

#include <cmath>

#include <attention_by_hand/worked.h>

namespace attention_by_hand {
namespace {

void check_rows(const Tensor& x, const std::vector<double>& expected, double tolerance = 0.0006) {
  REQUIRE(x.value().size() == std::ssize(expected));
  for (std::int64_t i = 0; i < x.value().size(); ++i) {
    CAPTURE(i);
    CHECK(std::abs(x.value().data()[i] - expected[static_cast<std::size_t>(i)]) < tolerance);
  }
}

TEST_CASE("A query for what stands out finds the cup, one for something to read the book") {
  // The scores are 0, 0, 3, 0, 1/2 and 1, 0, 0, 1, 3.
  const double e = std::exp(1), e3 = std::exp(3), half = std::exp(0.5), cup = 3 + e3 + half, book = 2 + 2 * e + e3;
  check_rows(weights_of_things(), {1 / cup, 1 / cup, e3 / cup, 1 / cup, half / cup, e / book, 1 / book, 1 / book, e / book,
                                   e3 / book}, 1e-6);
}

TEST_CASE("Tom chase Jerry: a context for each word is the mean of the codes by the weights of its row") {
  const Tensor c = contexts();
  check_rows(c, {0.8, 0.4, 0.3, 0.8, 0.8, 0.7}, 1e-6);
  check_rows(sum(alignment(), -1), {1, 1, 1}, 1e-6);
}

TEST_CASE("<bos> I have a cat: mask, scores, masked scores, softmax and result in numbers") {
  const Matrices m = attend(queries(), keys(), values(), causal_mask(5));
  check_rows(m.scores, {2, 0, 1, 0, 0, 1, 1.5, 2, 0.5, 1.5, 0, 3, 1, 1, 3, 0, 1.5, 1, 1.5, 3, 1, 0.5, 2, 0.5, 1});
  for (std::int64_t t = 0; t < 5; ++t) {
    for (std::int64_t s = 0; s < 5; ++s) {
      CHECK(m.mask.value().at({t, s}) == (s <= t ? Real(0) : -infinity));
      CHECK(m.masked.value().at({t, s}) == (s <= t ? m.scores.value().at({t, s}) : -infinity));
      if (s > t) CHECK(m.weights.value().at({t, s}) == 0);
    }
  }
  // The row of "have", whose object is still to come: e^0, e^3, e^1 over their sum.
  const double total = 1 + std::exp(3) + std::exp(1);
  check_rows(m.weights[{2}], {1 / total, std::exp(3) / total, std::exp(1) / total, 0, 0}, 1e-5);
  check_rows(m.result[{2}], {(2 + 4 * std::exp(1)) / total, (2 + 4 * std::exp(3) + 4 * std::exp(1)) / total}, 1e-5);
  check_rows(m.result[{0}], {2, 2}, 1e-6);
  const Tensor fused = nn::DotProductAttention(nn::root)(unsqueeze(queries(), 0), unsqueeze(keys(), 0),
                                                         unsqueeze(values(), 0), nn::causal);
  CHECK(max(abs(fused[{0}] - m.result)).item() < 1e-5);
}

TEST_CASE("A mask after the softmax leaves rows below 1; renormalised, they are those of a mask before it") {
  const Tensor scores = attend(queries(), keys(), values(), zeros({5, 5})).scores;
  const Maskings m = three_maskings(scores);
  check_rows(sum(m.before, -1), {1, 1, 1, 1, 1}, 1e-6);
  check_rows(sum(m.after, -1), {0.564, 0.347, 0.511, 0.387, 1});
  check_rows(sum(m.renormalised, -1), {1, 1, 1, 1, 1}, 1e-6);
  CHECK(max(abs(m.renormalised - m.before)).item() < 1e-6);
  // After the softmax a masked key, here the last of the first four rows, still changes the weights of the others.
  const Maskings another = three_maskings(scores + tensor({{0, 0, 0, 0, 3}}));
  const auto first_four = [](const Tensor& weights) { return weights[{slice(0, 4)}]; };
  CHECK(max(abs(first_four(another.after - m.after))).item() > 0.1);
  CHECK(equal(first_four(another.before).value(), first_four(m.before).value()));
  // In float nothing is left to renormalise where a masked score is 110 greater.
  CHECK(std::isnan(three_maskings(scores + tensor({{0, 0, 0, 0, 110}})).renormalised.value().at({0, 0})));
}

TEST_CASE("The first result changes with every further word, and not at all under a causal mask") {
  const std::vector<std::vector<double>> without{{0, 4}, {2.490, 4}, {2.674, 3.512}, {2.008, 2.638}};
  for (std::int64_t words = 1; words <= 4; ++words) {
    CAPTURE(words);
    check_rows(first_result(words, false), without[static_cast<std::size_t>(words - 1)]);
    check_rows(first_result(words, true), {0, 4}, 1e-12);
  }
}

}  // namespace
}  // namespace attention_by_hand
