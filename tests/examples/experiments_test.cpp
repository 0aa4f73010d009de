// The experiments: costs of layers, counted by hand on small graphs; other sets of vectors. What they train is on pages, with
// figures that `tests/long figures` compares.
#include <doctest/doctest.h>

#include <vector>

#include <experiments/layers.h>
#include <experiments/sets.h>

namespace compare_layers {
namespace {

TEST_CASE("two tokens of width 1: multiplications, waiting products and paths are those counted by hand") {
  struct Row {
    Layer layer;
    int multiplications, sequential, path;
  };
  const std::vector<Row> rows{
      {Layer::attention, 8, 2, 1},     // two queries: two scores and two weighted values each; scores, then values
      {Layer::recurrence, 3, 2, 2},    // x_1 w, x_2 w, h_1 u; x_1 w, h_1 u
      {Layer::convolution, 4, 1, 1}};  // two tokens of two inputs each
  for (const Row& row : rows) {
    CAPTURE(row.multiplications);
    const Costs costs = measure(row.layer, 2, 1, 2);
    CHECK(costs.multiplications == row.multiplications);
    CHECK(costs.sequential == row.sequential);
    CHECK(costs.path == row.path);
  }
}

TEST_CASE("a convolution over k tokens needs (n - 1) / (k - 1) layers, rounded up, to see them all") {
  CHECK(measure(Layer::convolution, 5, 2, 3).path == 2);
  CHECK(measure(Layer::convolution, 6, 2, 3).path == 3);
  CHECK(measure(Layer::convolution, 9, 2, 5).path == 2);
  CHECK(measure(Layer::convolution, 10, 2, 5).path == 3);
}

TEST_CASE("multiplications grow with the width and the kernel as the table of the paper says") {
  const auto with_width = [](Layer layer) {
    return exponent({4, 8}, {static_cast<double>(measure(layer, 8, 4, 5).multiplications),
                             static_cast<double>(measure(layer, 8, 8, 5).multiplications)});
  };
  CHECK(with_width(Layer::attention) == doctest::Approx(1));
  CHECK(with_width(Layer::recurrence) == doctest::Approx(2));
  CHECK(with_width(Layer::convolution) == doctest::Approx(2));
  CHECK(measure(Layer::convolution, 8, 4, 6).multiplications * 3 ==
        measure(Layer::convolution, 8, 4, 3).multiplications * 6);
}

}  // namespace
}  // namespace compare_layers

namespace sets_of_vectors {
namespace {

TEST_CASE("a label for a sequence, a label for each word: their shapes, and padding does not count") {
  manual_seed(1);
  const Classifier classifier{nn::root};
  const Tagger tagger{nn::root};
  const Index ids = index({{1, 5, 9, 10, 0}, {17, 22, 1, 23, 24}}), lengths = index({4, 5});
  CHECK(classifier(ids, lengths).shape() == Shape{2, labels});
  CHECK(tagger(ids, lengths).shape() == Shape{2, 5, tags});
  const auto classify = [&](const Index& x, const Index& n) { return classifier(x, n); };
  const auto tag = [&](const Index& x, const Index& n) { return tagger(x, n); };
  CHECK(nn::check_padding_invariance(classify, ids, lengths, {.output = nn::PaddedOutput::everything}).ok());
  CHECK(nn::check_padding_invariance(tag, ids, lengths).ok());
}

TEST_CASE("the labels of reviews and of words are right") {
  const Labelled film = reviews(), saw = tagged();
  REQUIRE(film.size() == 96);
  CHECK(sum(film.labels).item() == 48);
  const auto is = [](const Labelled& data, std::int64_t row, const kit::Tokens& words) {
    return equal(padded({words}, data.ids.dim(1)).ids, data.ids[{slice(row, row + 1)}]);
  };
  CHECK(is(film, 0, {"the", "film", "was", "now", "good"}));
  CHECK(film.labels.at({0}) == 1);
  CHECK(is(film, 14, {"the", "film", "was", "not", "bad"}));
  CHECK(film.labels.at({14}) == 1);
  REQUIRE(saw.size() == 600);
  CHECK(equal(saw.labels[{0}], index({0, 1, 2, 3, -1})));     // i saw a saw
  CHECK(equal(saw.labels[{200}], index({2, 3, 1, 2, 3})));    // the duck saw a ring
  CHECK(equal(saw.labels[{400}], index({1, 2, 3, -1, -1})));  // watch the duck
  CHECK(equal(saw.labels >= 0, !nn::padding_mask(saw.lengths, 5)));
  CHECK(id_of("light") < vocabulary);
}

TEST_CASE("a second of sound is 98 frames of 25 ms, one every 10 ms") {
  const Tensor sound = reshape(to_real(arange(16000)), {1, 16000});
  const Array heard = frames(sound).value();
  REQUIRE(heard.shape() == Shape{1, 98, 400});
  for (std::int64_t frame = 0; frame < 98; ++frame) {
    for (std::int64_t i = 0; i < 400; ++i) CHECK(heard.at({0, frame, i}) == 160 * frame + i);
  }
}

}  // namespace
}  // namespace sets_of_vectors
