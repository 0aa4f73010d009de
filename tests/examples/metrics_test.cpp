// Metrics: what tests/fixtures/make_metrics_fixtures.py counts in other words, in batches of any size; closed forms.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include <xgrad/core/files/safetensors.h>
#include <xgrad/kit/draw/pictures.h>
#include <xgrad/kit/train/metrics.h>
#include <xgrad/ops/ops.h>

#include "support/fixtures.h"

namespace xgrad::kit {
namespace {

using doctest::Approx;

/// The stored cases `kind/0`, `kind/1`, ...
std::vector<StateFile> cases(const std::string& kind) {
  const StateFile file = load_safetensors(xgrad::testing::fixture_path("metrics.safetensors"));
  std::vector<StateFile> result;
  for (;;) {
    const std::string prefix = cat(kind, "/", result.size(), "/");
    StateFile one;
    for (const auto& [name, array] : file.arrays) {
      if (name.starts_with(prefix)) one.arrays[name.substr(prefix.size())] = array;
    }
    if (one.arrays.empty()) break;
    result.push_back(one);
  }
  REQUIRE_FALSE(result.empty());
  return result;
}

/// Calls add(begin, end) for pieces of [0, count), which are of `size` each.
template <class F>
void in_pieces(std::int64_t count, std::int64_t size, const F& add) {
  for (std::int64_t first = 0; first < count; first += size) add(slice(first, std::min(first + size, count)));
}

const Real nan = std::numeric_limits<Real>::quiet_NaN();
const Real infinity = std::numeric_limits<Real>::infinity();

}  // namespace

TEST_CASE("accuracies and scores of classes are those of their definitions, however the samples are cut") {
  for (const StateFile& expected : cases("classes")) {
    const Tensor logits = expected.get<Array>("logits");
    const Index labels = expected.get<Index>("labels");
    const std::int64_t count = logits.dim(0), classes = logits.dim(1);
    for (const std::int64_t piece : {count, std::int64_t{1}, std::int64_t{7}}) {
      for (std::int64_t k = 1; k <= classes; ++k) {
        Accuracy accuracy({.k = k});
        in_pieces(count, piece, [&](const Slice& part) { accuracy.add(logits[{part}], labels[{part}]); });
        CHECK(accuracy.value() == Approx(expected.get<Array>("top").at({k - 1})).epsilon(1e-6));
        CHECK(accuracy.count() == count);
      }
      ConfusionMatrix confusion(classes), of_guesses(classes);
      in_pieces(count, piece, [&](const Slice& part) {
        confusion.add(logits[{part}], labels[{part}]);
        of_guesses.add(argmax(logits[{part}], -1), labels[{part}]);
      });
      CHECK(equal(confusion.counts(), of_guesses.counts()));
      CHECK(equal(confusion.counts(), confusion_matrix(labels, argmax(logits, -1), classes)));
      for (std::int64_t i = 0; i < classes; ++i) {
        const ClassScores found = confusion.of_class(i);
        const Array& right = expected.get<Array>("of_class");
        CHECK(found.precision == Approx(right.at({i, 0})).epsilon(1e-6));
        CHECK(found.recall == Approx(right.at({i, 1})).epsilon(1e-6));
        CHECK(found.f1 == Approx(right.at({i, 2})).epsilon(1e-6));
        CHECK(found.support == right.at({i, 3}));
      }
      for (const auto& [name, average] :
           {std::pair("macro", ClassAverage::macro), std::pair("micro", ClassAverage::micro),
            std::pair("weighted", ClassAverage::weighted)}) {
        const Array& right = expected.get<Array>(name);
        CHECK(confusion.precision(average) == Approx(right.at({0})).epsilon(1e-6));
        CHECK(confusion.recall(average) == Approx(right.at({1})).epsilon(1e-6));
        CHECK(confusion.f1(average) == Approx(right.at({2})).epsilon(1e-6));
        CHECK(confusion.scores(average).support == count);
      }
      CHECK(confusion.accuracy() == Approx(expected.get<Array>("top").at({0})).epsilon(1e-6));
    }
    CHECK(accuracy(logits, labels) == Approx(expected.get<Array>("top").at({0})).epsilon(1e-6));
    CHECK(accuracy(argmax(logits, -1), labels) == accuracy(logits, labels));
    CHECK(top_k_accuracy(logits, labels, 2) == Approx(expected.get<Array>("top").at({1})).epsilon(1e-6));
  }
}

TEST_CASE("labels that are ignored do not count, in sequences, too") {
  const Tensor logits = tensor({{{2, 1}, {0, 1}}, {{0, 1}, {5, 1}}});
  const Index labels = index({{0, 0}, {1, -1}});
  Accuracy accuracy({.ignore_index = -1});
  accuracy.add(logits, labels);
  accuracy.add(argmax(logits, -1), labels);
  CHECK(accuracy.count() == 6);
  CHECK(accuracy.value() == Approx(2.0 / 3));
}

TEST_CASE("errors of regression are those of their definitions, however the numbers are cut") {
  for (const StateFile& expected : cases("numbers")) {
    const Tensor prediction = expected.get<Array>("prediction"), target = expected.get<Array>("target");
    const Array& errors = expected.get<Array>("errors");
    for (const std::int64_t piece : {target.dim(0), std::int64_t{1}, std::int64_t{3}}) {
      RegressionMetrics metrics;
      in_pieces(target.dim(0), piece, [&](const Slice& part) { metrics.add(prediction[{part}], target[{part}]); });
      CHECK(metrics.mean_squared_error() == Approx(errors.at({0})).epsilon(1e-6));
      CHECK(metrics.root_mean_squared_error() == Approx(std::sqrt(errors.at({0}))).epsilon(1e-6));
      CHECK(metrics.mean_absolute_error() == Approx(errors.at({1})).epsilon(1e-6));
      CHECK(metrics.r2() == Approx(errors.at({2})).epsilon(1e-6));
      CHECK(metrics.count() == target.size());
    }
  }
  RegressionMetrics constant;
  constant.add(tensor({3, 3}), tensor({3, 3}));
  CHECK(constant.r2() == 1);
  constant.add(tensor({4}), tensor({3}));
  CHECK(constant.r2() == 0);
}

TEST_CASE("perplexity is the inverse of the geometric mean of what the tokens were given") {
  for (const StateFile& expected : cases("text")) {
    const Tensor logits = expected.get<Array>("logits");
    const Index& tokens = expected.get<Index>("tokens");
    for (const std::int64_t piece : {tokens.size(), std::int64_t{1}, std::int64_t{4}}) {
      Perplexity perplexity;
      in_pieces(tokens.size(), piece, [&](const Slice& part) { perplexity.add(logits[{part}], tokens[{part}]); });
      CHECK(perplexity.value() == Approx(expected.get<Array>("perplexity").item()).epsilon(1e-6));
      CHECK(perplexity.loss() == Approx(std::log(perplexity.value())));
      CHECK(perplexity.count() == tokens.size());
    }
  }
  Perplexity fair({.ignore_index = 0});
  fair.add(zeros({2, 3, 8}), index({{1, 2, 0}, {7, 0, 0}}));
  CHECK(fair.count() == 3);
  CHECK(fair.value() == Approx(8));
  Perplexity sure;
  sure.add(tensor({{0, -infinity}}), index({1}));
  CHECK(sure.value() == std::numeric_limits<double>::infinity());
}

TEST_CASE("a running average weighs its numbers") {
  RunningAverage average;
  average.add(2);
  average.add(5, 2);
  average.add(1e9, 0);
  CHECK(average.value() == 4);
  CHECK(average.weight() == 3);
  average = {};
  CHECK_THROWS_WITH_AS(average.value(), "running_average: nothing was added yet", ValueError);
  CHECK_THROWS_WITH_AS(average.add(nan), "running_average: the value nan is not finite", NumericError);
  CHECK_THROWS_WITH_AS(average.add(1, -1), "running_average: a weight must be finite and at least 0, got -1",
                       ValueError);
  CHECK_THROWS_AS(average.add(1, infinity), ValueError);
  CHECK(average.weight() == 0);
}

TEST_CASE("metrics refuse what they cannot count, and have counted nothing then") {
  Accuracy accuracy;
  const Tensor logits = tensor({{1, 2, 3}, {3, 2, 1}});
  CHECK_THROWS_WITH_AS(accuracy.value(), "accuracy: nothing was counted yet", ValueError);
  CHECK_THROWS_WITH_AS(accuracy.add(logits, index({1})),
                       "accuracy: logits [2, 3] do not fit labels [1]: needs one row of logits each", ShapeError);
  CHECK_THROWS_AS(accuracy.add(zeros({2, 0}), index({0, 0})), ShapeError);
  CHECK_THROWS_AS(accuracy.add(tensor({1, 2}), index({0, 1})), ShapeError);
  CHECK_THROWS_WITH_AS(accuracy.add(logits, index({2, 3})), "accuracy: label 3 of sample 1 is not in [0, 3)",
                       ValueError);
  CHECK_THROWS_WITH_AS(accuracy.add(tensor({{1, 2}, {nan, 2}}), index({0, 1})), "accuracy: a logit of sample 1 is NaN",
                       NumericError);
  CHECK_THROWS_WITH_AS(accuracy.add(index({1}), index({1, 2})), "accuracy: guesses [1] do not fit labels [2]",
                       ShapeError);
  CHECK_THROWS_WITH_AS(Accuracy({.k = 0}), "accuracy: k must be at least 1, got 0", ValueError);
  CHECK_THROWS_WITH_AS(top_k_accuracy(logits, index({0, 0}), 4), "accuracy: the greatest 4 of 3 classes", ValueError);
  Accuracy top({.k = 2});
  CHECK_THROWS_WITH_AS(top.add(index({1}), index({1})), "accuracy: the greatest 2 classes are known of logits alone",
                       ValueError);
  CHECK(accuracy.count() + top.count() == 0);

  ConfusionMatrix confusion(3);
  CHECK_THROWS_WITH_AS(confusion.f1(), "confusion_matrix: nothing was counted yet", ValueError);
  CHECK_THROWS_WITH_AS(confusion.add(zeros({2, 4}), index({0, 1})),
                       "confusion_matrix: logits [2, 4] are not of 3 classes", ShapeError);
  CHECK_THROWS_WITH_AS(confusion.add(logits, index({0, 3})), "confusion_matrix: class 3 is not in [0, 3)", ValueError);
  CHECK_THROWS_AS(confusion.add(index({0, 1}), index({0})), ShapeError);
  CHECK_THROWS_WITH_AS(confusion.of_class(3), "confusion_matrix: class 3 is not in [0, 3)", ValueError);
  CHECK_THROWS_AS(ConfusionMatrix(0), ValueError);
  CHECK(equal(confusion.counts(), Index(Shape{3, 3}, 0)));

  RegressionMetrics metrics;
  CHECK_THROWS_WITH_AS(metrics.mean_squared_error(), "regression_metrics: mean_squared_error needs numbers, at least 1",
                       ValueError);
  CHECK_THROWS_WITH_AS(metrics.add(tensor({1, 2}), tensor({{1, 2}})),
                       "regression_metrics: predictions [2] do not fit targets [1, 2]", ShapeError);
  CHECK_THROWS_WITH_AS(metrics.add(tensor({1, nan}), tensor({1, 2})), "regression_metrics: prediction 1 is nan",
                       NumericError);
  CHECK_THROWS_WITH_AS(metrics.add(tensor({1, 2}), tensor({infinity, 2})), "regression_metrics: target 0 is inf",
                       NumericError);
  CHECK(metrics.count() == 0);
  metrics.add(tensor({1}), tensor({2}));
  CHECK_THROWS_WITH_AS(metrics.r2(), "regression_metrics: r2 needs numbers, at least 2", ValueError);

  Perplexity perplexity;
  CHECK_THROWS_WITH_AS(perplexity.value(), "perplexity: nothing was added yet", ValueError);
  CHECK_THROWS_AS(perplexity.add(logits, index({1})), ShapeError);
  CHECK_THROWS_AS(perplexity.add(logits, index({1, 3})), ValueError);
  CHECK_THROWS_WITH_AS(perplexity.add(tensor({{1, 2}, {nan, 2}}), index({0, 1})),
                       "perplexity: the loss of token 1 is NaN", NumericError);
  CHECK(perplexity.count() == 0);
}

}  // namespace xgrad::kit
