// How good a model is, counted batch by batch: accuracy, precision, recall and F1, errors of regression, perplexity.
//
//     kit::Accuracy accuracy;
//     for (const auto& [x, y] : batches) accuracy.add(net(x), y);
//     std::cout << accuracy.value();
//
// Predictions come first and targets second, as in losses. Everything is added up in double or counted, so the way in
// which data are cut into batches makes no difference but for the last digits of a double. A metric without input has
// no value and throws; `metric = {}` begins anew.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <xgrad/core/graph/tensor.h>

namespace xgrad::kit {

/// The mean of numbers that come one by one, each with a weight: losses of batches, say.
///
/// Threads: one at a time.
class RunningAverage {
 public:
  /// Throws NumericError for a value that is not finite, ValueError for a weight that is negative or not finite.
  void add(double value, double weight = 1);
  /// (w_1 x_1 + ... + w_n x_n) / (w_1 + ... + w_n). Throws ValueError while all weights together are 0.
  double value() const;
  /// w_1 + ... + w_n.
  double weight() const { return weight_; }

 private:
  double sum_ = 0, weight_ = 0;
};

struct AccuracyOptions {
  std::int64_t k = 1;                             ///< a label is right among the k classes with the greatest logits
  std::optional<std::int64_t> ignore_index = {};  ///< samples with this label do not count
};
/// The share of right answers. Of equal logits that of the lower class counts as the greater, as argmax has it.
///
/// Threads: one at a time.
class Accuracy {
 public:
  using Options = AccuracyOptions;

  /// Throws ValueError for a k below 1.
  explicit Accuracy(const Options& options = {});

  /// Logits (..., C) and labels (...). Throws ShapeError if they do not fit, ValueError for a label outside [0, C) that
  /// is not ignored and for fewer than k classes, NumericError for a logit that is NaN. When it throws, nothing was
  /// counted.
  void add(const Tensor& logits, const Index& labels);
  /// Guessed classes and labels of one shape. Throws ShapeError, and ValueError unless k is 1.
  void add(const Index& guesses, const Index& labels);

  /// right / all. Throws ValueError while nothing was counted.
  double value() const;
  /// How many labels were counted.
  std::int64_t count() const { return count_; }

 private:
  Options options_;
  std::int64_t right_ = 0, count_ = 0;
};

/// Accuracy of one batch, and the share of labels among the k classes with the greatest logits. Throw as Accuracy does.
double accuracy(const Tensor& logits, const Index& labels);
double accuracy(const Index& guesses, const Index& labels);
double top_k_accuracy(const Tensor& logits, const Index& labels, std::int64_t k);

/// How the scores of single classes become one.
enum class ClassAverage {
  macro,     ///< their mean, over the classes that occur among labels or guesses
  micro,     ///< the score of all counts together; with one label a sample it is the accuracy
  weighted,  ///< their mean, each class as often as it is a label
};

/// The scores of one class. A quotient of 0 and 0 is 0, as in scikit-learn.
struct ClassScores {
  double precision = 0;      ///< of those that were taken for the class, the share that is
  double recall = 0;         ///< of those that are, the share that was taken for it
  double f1 = 0;             ///< 2 / (1/precision + 1/recall)
  std::int64_t support = 0;  ///< how often it is a label
};

/// The confusion matrix: how often each class was taken for each, and scores from it.
///
/// Threads: one at a time.
class ConfusionMatrix {
 public:
  /// Throws ValueError for less than 1 class or more than 32768.
  explicit ConfusionMatrix(std::int64_t classes);

  /// Logits (..., C) and labels (...), of which the greatest logit is the guess; or guesses and labels of one shape.
  /// Throw ShapeError, ValueError for a number that is no class, NumericError for a logit that is NaN; then nothing was
  /// counted.
  void add(const Tensor& logits, const Index& labels);
  void add(const Index& guesses, const Index& labels);

  /// (C, C): row i, column j is how often class i was taken for class j; for confusion_svg.
  const Index& counts() const { return counts_; }
  /// The scores of a class. Throws ValueError if there is no such class.
  ClassScores of_class(std::int64_t i) const;
  /// The scores of all classes. Throws ValueError while nothing was counted, as do those below.
  ClassScores scores(ClassAverage average = ClassAverage::macro) const;
  double precision(ClassAverage average = ClassAverage::macro) const { return scores(average).precision; }
  double recall(ClassAverage average = ClassAverage::macro) const { return scores(average).recall; }
  double f1(ClassAverage average = ClassAverage::macro) const { return scores(average).f1; }
  /// The share of right guesses.
  double accuracy() const { return scores(ClassAverage::micro).recall; }

 private:
  Index counts_;
};

/// Errors of predicted numbers. All numbers count alike, whatever the shape.
///
/// Threads: one at a time.
class RegressionMetrics {
 public:
  /// Predictions and targets of one shape. Throws ShapeError, NumericError for a number that is not finite; then
  /// nothing was added.
  void add(const Tensor& prediction, const Tensor& target);

  /// mean (p - t)^2, its root, and mean |p - t|. Throw ValueError while nothing was added.
  double mean_squared_error() const;
  double root_mean_squared_error() const;
  double mean_absolute_error() const;
  /// 1 - sum (p - t)^2 / sum (t - mean t)^2: 1 is perfect, 0 no better than the mean of the targets. Of targets that
  /// are all the same it is 1 without any error, else 0. Throws ValueError for fewer than two numbers.
  double r2() const;
  /// How many numbers were added.
  std::int64_t count() const { return count_; }

 private:
  void require(std::string_view what, std::int64_t least) const;

  std::int64_t count_ = 0;
  double squares_ = 0, absolutes_ = 0;           // of the errors
  double target_mean_ = 0, target_squares_ = 0;  // squares of distances to the mean
};

struct PerplexityOptions {
  std::optional<std::int64_t> ignore_index = {};  ///< tokens that do not count: padding
};
/// exp of the mean of -ln p(token): a fair choice among so many tokens would be as surprising. Infinite where a token
/// was given probability 0.
///
/// Threads: one at a time.
class Perplexity {
 public:
  using Options = PerplexityOptions;

  explicit Perplexity(const Options& options = {}) : options_(options) {}

  /// Logits (..., V) and the tokens (...) that came. Throws as cross_entropy, and NumericError for a loss that is NaN;
  /// then nothing was added.
  void add(const Tensor& logits, const Index& tokens);

  /// exp(loss()), and the mean cross-entropy in nats. Throw ValueError while nothing was added.
  double value() const;
  double loss() const;
  /// How many tokens counted.
  std::int64_t count() const { return count_; }

 private:
  Options options_;
  double sum_ = 0;
  std::int64_t count_ = 0;
};

}  // namespace xgrad::kit
