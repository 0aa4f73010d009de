// Skip-gram with negative sampling: the pairs that are drawn, and the loss by its formula.
#include <doctest/doctest.h>

#include <cmath>
#include <random>
#include <set>

#include <word_vectors/model.h>
#include <word_vectors/text.h>

#include "examples/support.h"

namespace xgrad::testing {
namespace {

using word_vectors::Batch;
using word_vectors::Config;
using word_vectors::SkipGram;
using word_vectors::Text;

TEST_CASE("a pair is two words at most a window apart, and the drawn words are others") {
  const kit::testing::TemporaryFolder folder;
  kit::testing::write_text(folder.path() / "text", "One two three, four! FIVE.\nsix\tignored words\nfive (one)\n");
  const Config config{.text = folder.path() / "text", .min_freq = 1, .subsample = 1, .window = 2, .batch = 4000};
  const Text text(config);
  CHECK(text.words() == 8);
  CHECK(text.sentences() == 2);
  const kit::Vocab& vocab = text.vocab();
  CHECK(vocab.id("six") > 0);
  CHECK(vocab.id("ignored") == 0);

  std::mt19937_64 generator(1);
  const Batch batch = text.batch(generator);
  CHECK(batch.others.shape() == Shape{4000, 6});
  std::set<std::pair<std::string, std::string>> pairs;
  for (std::int64_t b = 0; b < 4000; ++b) {
    pairs.emplace(vocab.token(batch.centers.at({b})), vocab.token(batch.others.at({b, 0})));
    for (std::int64_t k = 1; k < 6; ++k) {
      CHECK(batch.others.at({b, k}) != batch.others.at({b, 0}));
      CHECK(batch.others.at({b, k}) > 0);
    }
  }
  const std::set<std::pair<std::string, std::string>> expected{
      {"one", "two"},    {"one", "three"},  {"two", "one"},    {"two", "three"}, {"two", "four"},   {"three", "one"},
      {"three", "two"},  {"three", "four"}, {"three", "five"}, {"four", "two"},  {"four", "three"}, {"four", "five"},
      {"five", "three"}, {"five", "four"},  {"five", "one"},   {"one", "five"}};
  CHECK(pairs == expected);
  kit::testing::write_text(folder.path() / "text", "one\n");
  CHECK_THROWS_AS(Text{config}, kit::DataError);
}

TEST_CASE("the loss is that of the formula") {
  manual_seed(3);
  const SkipGram model(9, 4);
  model.context.weight.assign(random_normal({9, 4}, {.seed = 4}));
  const Index centers({2}, {1, 5}), others({2, 3}, {2, 3, 4, 6, 7, 8});
  const Tensor products = sum(unsqueeze(model.center(centers), 1) * model.context(others), -1);  // (2, 3)
  const double expected = -sum(log(1 / (1 + exp(tensor({-1, 1, 1}) * products)))).item() / 2;
  CHECK(model.loss(centers, others).item() == doctest::Approx(expected).epsilon(1e-5));
}

}  // namespace
}  // namespace xgrad::testing
