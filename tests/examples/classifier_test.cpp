// Training and judging a classifier of pictures.
#include <doctest/doctest.h>

#include <cmath>

#include <xgrad/kit/data/csv.h>
#include <xgrad/kit/data/shapes.h>
#include <xgrad/kit/program/cli.h>
#include <xgrad/kit/train/classifier.h>
#include <xgrad/xgrad.h>

#include "support.h"

namespace xgrad::kit {
namespace {

using testing::TemporaryFolder;

struct Linear : nn::Module {
  nn::Linear map{at("map"), 64, 10};

  explicit Linear(nn::At here) : Module(std::move(here)) {}
  Tensor operator()(const Tensor& x) const { return map(flatten(x, 1)); }
};

ImageData small_data() {
  return {.train = draw_shapes({.seed = 1}, {.count = 200, .size = 8}),
          .test = draw_shapes({.seed = 2}, {.count = 60, .size = 8})};
}

}  // namespace

TEST_CASE("answers are the probabilities, the most probable class, and how often that is right") {
  const ImageSet set = draw_shapes({.seed = 3}, {.count = 501, .size = 8});
  const Linear model(nn::root);
  // Whatever the picture shows, class 4 has the logit ln 2, all others 0: 2/11 and 1/11.
  const auto always = [](const Tensor& images) {
    Array logits(Shape{images.dim(0), 10}, Real(0));
    for (std::int64_t i = 0; i < images.dim(0); ++i) logits.mutable_data()[i * 10 + 4] = std::log(Real(2));
    return Tensor(logits);
  };
  const Answers found = answers(model, always, set, channel_statistics(set));
  CHECK(found.probabilities.shape() == Shape{501, 10});
  CHECK(found.probabilities.at({500, 4}) == doctest::Approx(2. / 11));
  std::int64_t fours = 0;
  for (std::int64_t i = 0; i < 501; ++i) {
    CHECK(found.guesses.data()[i] == 4);
    fours += set.labels().data()[i] == 4;
  }
  CHECK(found.accuracy == doctest::Approx(static_cast<double>(fours) / 501));
  const double share = static_cast<double>(fours) / 501;
  CHECK(found.loss == doctest::Approx(-share * std::log(2. / 11) - (1 - share) * std::log(1. / 11)).epsilon(1e-5));
}

TEST_CASE("a classifier learns, and what it learnt is drawn and counted") {
  const TemporaryFolder folder;
  Example example{.out = folder.path()};
  manual_seed(1);
  const Linear model(nn::root);
  const Answers found = train_classifier(
      model, [&](const Tensor& images) { return model(images); }, small_data(),
      {.epochs = 3, .batch = 20, .lr = 1e-2, .crop = 1}, example);
  const auto columns = read_csv(folder / "loss.csv", {"epoch", "train_loss", "test_loss", "test_accuracy"});
  REQUIRE(columns[0].size() == 3);
  CHECK(columns[1][2] < columns[1][0]);
  CHECK(columns[3][2] == doctest::Approx(found.accuracy));
  CHECK(found.accuracy > 0.15);
  CHECK(model.training());
  for (const char* name : {"loss.svg", "accuracy.svg", "confusion.svg", "mistakes.svg"}) {
    CHECK(std::filesystem::file_size(folder / name) > 1000);
  }
}

TEST_CASE("fewer pictures than a batch are refused before anything is written") {
  const TemporaryFolder folder;
  Example example{.out = folder.path()};
  const Linear model(nn::root);
  CHECK_THROWS_WITH_AS(
      train_classifier(
          model, [&](const Tensor& images) { return model(images); }, small_data(), {.batch = 201}, example),
      "train_classifier: 200 pictures are fewer than a batch of 201", ValueError);
  CHECK(std::filesystem::is_empty(folder.path()));
}

}  // namespace xgrad::kit
