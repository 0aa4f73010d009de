// Training and judging a classifier of pictures, and the mean of numbers that come one by one.
#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <iostream>

#include <cnn/training.h>
#include <xgrad/kit/data/data_loader.h>
#include <xgrad/kit/data/shapes.h>
#include <xgrad/kit/program/cli.h>
#include <xgrad/kit/train/classifier.h>
#include <xgrad/kit/train/metrics.h>
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

TEST_CASE("answers are those of one pass over all pictures, however many there are") {
  const ImageSet largest = draw_shapes({.seed = 3}, {.count = 501, .size = 8});
  const ChannelStatistics statistics = channel_statistics(largest);
  const Linear model(nn::root);
  for (const std::int64_t count : {1, 500, 501}) {  // 250 are asked for at a time
    CAPTURE(count);
    const ImageSet set = draw_shapes({.seed = 3}, {.count = count, .size = 8});
    const Answers found = answers(model, std::cref(model), set, statistics);
    const Tensor logits = model(normalize(statistics)(set.all().images));
    const Index guesses = argmax(logits, -1);
    xgrad::testing::check_close(found.probabilities, softmax(logits).value(), 1e-5);
    CHECK(equal(found.guesses, guesses));
    CHECK(found.accuracy == doctest::Approx(mean(to_real(guesses == set.labels())).item()));
    CHECK(found.loss == doctest::Approx(cross_entropy(logits, set.labels()).item()).epsilon(1e-5));
  }
  const ImageSet none(Shape{0, 1, 8, 8}, {}, Index(Shape{0}), largest.classes());
  CHECK_REFUSED(ValueError, answers(model, std::cref(model), none, statistics), "answers", "no pictures");
}

TEST_CASE("pictures to learn from are standardised, shifted and flipped at random, and keep their labels") {
  const ImageSet set = draw_shapes({.seed = 3}, {.count = 40, .size = 8});
  const ChannelStatistics statistics = channel_statistics(set);
  const Index rows = arange(40);
  const auto [plain, labels] = TrainingPictures{set, augmentation(statistics, {})}.batch(rows);
  CHECK(equal(plain.value(), normalize(statistics)(set.batch(rows).images)));
  CHECK(equal(labels, set.labels()));
  const auto [flipped, same] = TrainingPictures{set, augmentation(statistics, {.flip = 1})}.batch(rows);
  CHECK(equal(flipped.value(), flip(plain, {3}).value()));
  CHECK(equal(same, labels));
  manual_seed(1);
  const auto [shifted, others] = TrainingPictures{set, augmentation(statistics, {.crop = 1})}.batch(rows);
  CHECK(!equal(shifted.value(), plain.value()));
}

TEST_CASE("the 24 mistakes that a model was surest of are drawn, the surest first, and the confusion matrix") {
  const TemporaryFolder folder;
  const ImageSet set = draw_shapes({.seed = 3}, {.count = 30, .size = 8});
  Answers found{.probabilities = Array(Shape{30, 10}, 0), .guesses = set.labels()};
  PictureGrid grid{
      .title = "The mistakes it was surest of: guessed, not what it is", .images = {}, .columns = 6, .width = 116};
  std::vector<std::int64_t> wrong;  // all but the first five; the surer the later, but the last two equally
  for (std::int64_t i = 29; i >= 0; --i) {
    const std::int64_t label = set.labels().data()[i], guess = i < 5 ? label : (label + 1) % 10;
    found.guesses.mutable_data()[i] = guess;
    found.probabilities.mutable_data()[10 * i + guess] = static_cast<Real>(std::min<std::int64_t>(i, 28)) / 32;
    if (i >= 5 && i != 28) wrong.push_back(i);
    if (i == 29) wrong.insert(wrong.begin(), 28);
  }
  wrong.resize(24);
  for (const std::int64_t i : wrong) {
    const auto name = [&](const Index& of) { return set.classes()[static_cast<std::size_t>(of.data()[i])]; };
    grid.captions.push_back(name(found.guesses) + ", not " + name(set.labels()));
  }
  grid.images = set.batch(Index(wrong)).images;
  draw_answers(folder.path(), set, found);
  CHECK(testing::read_text(folder / "mistakes.svg") == picture_grid_svg(grid));
  CHECK(testing::read_text(folder / "confusion.svg") ==
        confusion_svg("Predicted classes", confusion_matrix(set.labels(), found.guesses, 10), set.classes()));
  const TemporaryFolder perfect;
  found.guesses = set.labels();
  draw_answers(perfect.path(), set, found);
  CHECK_FALSE(std::filesystem::exists(perfect / "mistakes.svg"));
}

TEST_CASE("a classifier is trained as a loop by hand does it, bit for bit") {
  const TemporaryFolder folder;
  const ImageData data = small_data();
  const ClassifierOptions options{.epochs = 7, .batch = 30, .lr = 1e-2, .crop = 1, .flip = 0.5};
  manual_seed(1);
  const Linear model(nn::root);
  Example example{.out = folder.path(), .seed = 5};
  cnn::train(model, data, options, example);

  manual_seed(1);
  const Linear other(nn::root);
  const Tensors parameters = other.parameters();
  DataLoader batches{TrainingPictures{data.train, augmentation(channel_statistics(data.train), options)},
                     {.batch_size = 30, .shuffle = true, .drop_last = true, .seed = 5}};
  optim::AdamW adam{optim::parameter_groups<optim::AdamWOptions>(
      parameters, {{optim::named("map.bias"), {.lr = 1e-2, .weight_decay = 0}}}, {.lr = 1e-2, .weight_decay = 0.05})};
  // 42 steps, of which 3 are the warm-up: 1 and a twentieth.
  optim::Scheduler scheduler{adam, optim::schedule::warmup(3, optim::schedule::cosine({.steps = 40}))};
  for (int epoch = 0; epoch < 7; ++epoch) {
    for (const auto& [images, labels] : batches) {
      const Tensor loss = cross_entropy(other(images), labels, {.label_smoothing = 0.1});
      adam.step(optim::clip_grad_norm(grad(loss, parameters), parameters, 1).gradients);
      scheduler.step();
    }
  }
  CHECK(equal(model.map.weight.value(), other.map.weight.value()));
  CHECK(equal(model.map.bias.value(), other.map.bias.value()));
  CHECK(model.training());
  const Answers found = answers(model, std::cref(model), data.test, channel_statistics(data.train));
  CHECK(example.result.text() == "result loss=" + number(found.loss) + " accuracy=" + number(found.accuracy));
  CHECK(std::filesystem::exists(folder / "confusion.svg"));
}

TEST_CASE("a classifier takes its options from the command line, and without a folder drawn shapes") {
  const TemporaryFolder folder;
  const std::string out = folder.path().string();
  std::vector<const char*> words{"x", "--out", out.c_str(), "--data", "d", "--epochs", "3",  "--batch",
                                 "5", "--lr",  "0.25",      "--crop", "2", "--flip",   "0.5"};
  ClassifierOptions found;
  {
    const testing::Redirected quiet(std::cout);
    CHECK(main(
              static_cast<int>(words.size()), const_cast<char**>(words.data()), "x", "",
              [&](Options& options) { add_classifier_options(options, found); }, [](Example&) {}) == 0);
  }
  CHECK(found.data == "d");
  CHECK(std::vector<double>{double(found.epochs), double(found.batch), found.lr, double(found.crop), found.flip} ==
        std::vector<double>{3, 5, 0.25, 2, 0.5});
  const ImageData data = image_data({}, 7);
  CHECK(data.train.size() == 6000);
  CHECK(data.test.size() == 1000);
  const Index rows = arange(5);
  CHECK(equal(data.train.batch(rows).images, draw_shapes({.seed = 7, .draw = 1}, {.count = 5}).all().images));
  CHECK(equal(data.test.batch(rows).images, draw_shapes({.seed = 7, .draw = 2}, {.count = 5}).all().images));
  PictureGrid grid{.title = "Seen", .images = data.test.batch(rows).images, .columns = 4};
  for (std::int64_t i = 0; i < 5; ++i) {
    grid.captions.push_back(data.test.classes()[static_cast<std::size_t>(data.test.labels().at({i}))]);
  }
  CHECK(attended_to_svg("Seen", data.test, data.test.batch(rows), {}) == picture_grid_svg(grid));
}

TEST_CASE("a running average weighs its numbers") {
  RunningAverage average;
  average.add(2);
  average.add(5, 2);
  average.add(1e9, 0);
  CHECK(average.value() == 4);
  average = {};
  CHECK_REFUSED(ValueError, average.value(), "running_average", "nothing was added yet");
  CHECK_REFUSED(NumericError, average.add(std::nan("")), "running_average", "the value nan is not finite");
  CHECK_REFUSED(ValueError, average.add(1, -1), "running_average", "a weight must be finite and at least 0, got -1");
  CHECK_THROWS_AS(average.add(1, HUGE_VAL), ValueError);
}

}  // namespace xgrad::kit
