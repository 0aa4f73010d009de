// Counting right and wrong answers, and adding up errors.
#include <xgrad/kit/train/metrics.h>

#include <algorithm>
#include <cmath>

#include <xgrad/core/base/error.h>
#include <xgrad/core/graph/record.h>
#include <xgrad/kit/draw/pictures.h>
#include <xgrad/ops/arrange/integer.h>
#include <xgrad/ops/losses/loss.h>
#include <xgrad/ops/reduce/reduce.h>

namespace xgrad::kit {
namespace {

/// (..., C) for labels (...), and no NaN among them.
void check_logits(const char* op, const Tensor& logits, const Index& labels) {
  const Shape& shape = logits.shape();
  if (shape.rank() != labels.rank() + 1 || !std::equal(labels.shape().begin(), labels.shape().end(), shape.begin()) ||
      logits.dim(-1) < 1) {
    fail<ShapeError>(op, "logits ", shape, " do not fit labels ", labels.shape(), ": needs one row of logits each");
  }
  const std::int64_t classes = logits.dim(-1);
  const Array& values = logits.value();
  for (std::int64_t i = 0; i < values.size(); ++i) {
    if (std::isnan(values.data()[i])) fail<NumericError>(op, "a logit of sample ", i / classes, " is NaN");
  }
}

void check_guesses(const char* op, const Index& guesses, const Index& labels) {
  if (guesses.shape() != labels.shape()) {
    fail<ShapeError>(op, "guesses ", guesses.shape(), " do not fit labels ", labels.shape());
  }
}

double quotient(double a, double b) { return b == 0 ? 0 : a / b; }

/// Of a class: how often it was guessed and right, guessed, and a label.
struct Counts {
  std::int64_t both = 0, guessed = 0, labelled = 0;

  Counts(std::int64_t both, std::int64_t guessed, std::int64_t labelled)
      : both(both), guessed(guessed), labelled(labelled) {}
  Counts(const Index& matrix, std::int64_t i) : both(matrix.at({i, i})) {
    for (std::int64_t j = 0; j < matrix.dim(0); ++j) {
      labelled += matrix.at({i, j});
      guessed += matrix.at({j, i});
    }
  }

  ClassScores scores() const {
    const auto right = static_cast<double>(both);
    return {.precision = quotient(right, static_cast<double>(guessed)),
            .recall = quotient(right, static_cast<double>(labelled)),
            .f1 = quotient(2 * right, static_cast<double>(guessed + labelled)),
            .support = labelled};
  }
};

}  // namespace

void RunningAverage::add(double value, double weight) {
  if (!std::isfinite(value)) fail<NumericError>("running_average", "the value ", value, " is not finite");
  if (!(weight >= 0) || std::isinf(weight)) {
    fail<ValueError>("running_average", "a weight must be finite and at least 0, got ", weight);
  }
  sum_ += value * weight;
  weight_ += weight;
}

double RunningAverage::value() const {
  if (weight_ == 0) fail<ValueError>("running_average", "nothing was added yet");
  return sum_ / weight_;
}

Accuracy::Accuracy(const Options& options) : options_(options) {
  if (options.k < 1) fail<ValueError>("accuracy", "k must be at least 1, got ", options.k);
}

void Accuracy::add(const Tensor& logits, const Index& labels) {
  check_logits("accuracy", logits, labels);
  const std::int64_t classes = logits.dim(-1);
  if (classes < options_.k) fail<ValueError>("accuracy", "the greatest ", options_.k, " of ", classes, " classes");
  std::int64_t right = 0, count = 0;
  for (std::int64_t i = 0; i < labels.size(); ++i) {
    const std::int64_t label = labels.data()[i];
    if (label == options_.ignore_index) continue;
    if (label < 0 || label >= classes) {
      fail<ValueError>("accuracy", "label ", label, " of sample ", i, " is not in [0, ", classes, ")");
    }
    const Real* row = logits.value().data() + i * classes;
    std::int64_t greater = 0;
    for (std::int64_t j = 0; j < classes; ++j) greater += row[j] > row[label] || (row[j] == row[label] && j < label);
    right += greater < options_.k;
    ++count;
  }
  right_ += right;
  count_ += count;
}

void Accuracy::add(const Index& guesses, const Index& labels) {
  check_guesses("accuracy", guesses, labels);
  if (options_.k != 1) fail<ValueError>("accuracy", "the greatest ", options_.k, " classes are known of logits alone");
  for (std::int64_t i = 0; i < labels.size(); ++i) {
    const std::int64_t label = labels.data()[i];
    if (label == options_.ignore_index) continue;
    right_ += guesses.data()[i] == label;
    ++count_;
  }
}

double Accuracy::value() const {
  if (count_ == 0) fail<ValueError>("accuracy", "nothing was counted yet");
  return static_cast<double>(right_) / static_cast<double>(count_);
}

double accuracy(const Tensor& logits, const Index& labels) { return top_k_accuracy(logits, labels, 1); }

double accuracy(const Index& guesses, const Index& labels) {
  Accuracy result;
  result.add(guesses, labels);
  return result.value();
}

double top_k_accuracy(const Tensor& logits, const Index& labels, std::int64_t k) {
  Accuracy result({.k = k});
  result.add(logits, labels);
  return result.value();
}

ConfusionMatrix::ConfusionMatrix(std::int64_t classes) : counts_(confusion_matrix(Index(), Index(), classes)) {}

void ConfusionMatrix::add(const Tensor& logits, const Index& labels) {
  check_logits("confusion_matrix", logits, labels);
  if (logits.dim(-1) != counts_.dim(0)) {
    fail<ShapeError>("confusion_matrix", "logits ", logits.shape(), " are not of ", counts_.dim(0), " classes");
  }
  add(argmax(logits, -1), labels);
}

void ConfusionMatrix::add(const Index& guesses, const Index& labels) {
  check_guesses("confusion_matrix", guesses, labels);
  counts_ += confusion_matrix(labels.reshaped({labels.size()}), guesses.reshaped({labels.size()}), counts_.dim(0));
}

ClassScores ConfusionMatrix::of_class(std::int64_t i) const {
  const std::int64_t classes = counts_.dim(0);
  if (i < 0 || i >= classes) fail<ValueError>("confusion_matrix", "class ", i, " is not in [0, ", classes, ")");
  return Counts(counts_, i).scores();
}

ClassScores ConfusionMatrix::scores(ClassAverage average) const {
  std::int64_t all = 0, right = 0;
  double weights = 0;
  ClassScores total;
  for (std::int64_t i = 0; i < counts_.dim(0); ++i) {
    const Counts counts(counts_, i);
    const ClassScores one = counts.scores();
    const bool occurs = counts.guessed + counts.labelled > 0;
    const double weight = average == ClassAverage::weighted ? static_cast<double>(counts.labelled) : occurs ? 1 : 0;
    total.precision += weight * one.precision;
    total.recall += weight * one.recall;
    total.f1 += weight * one.f1;
    weights += weight;
    all += counts.labelled;
    right += counts.both;
  }
  if (all == 0) fail<ValueError>("confusion_matrix", "nothing was counted yet");
  if (average == ClassAverage::micro) return Counts(right, all, all).scores();
  return {.precision = total.precision / weights,
          .recall = total.recall / weights,
          .f1 = total.f1 / weights,
          .support = all};
}

void RegressionMetrics::add(const Tensor& prediction, const Tensor& target) {
  if (prediction.shape() != target.shape()) {
    fail<ShapeError>("regression_metrics", "predictions ", prediction.shape(), " do not fit targets ", target.shape());
  }
  RegressionMetrics after = *this;
  for (std::int64_t i = 0; i < target.size(); ++i) {
    const double p = prediction.value().data()[i], t = target.value().data()[i];
    if (!std::isfinite(p)) fail<NumericError>("regression_metrics", "prediction ", i, " is ", p);
    if (!std::isfinite(t)) fail<NumericError>("regression_metrics", "target ", i, " is ", t);
    after.squares_ += (p - t) * (p - t);
    after.absolutes_ += std::abs(p - t);
    // Welford, "Note on a method for calculating corrected sums of squares and products", 1962.
    const double distance = t - after.target_mean_;
    after.target_mean_ += distance / static_cast<double>(++after.count_);
    after.target_squares_ += distance * (t - after.target_mean_);
  }
  *this = after;
}

void RegressionMetrics::require(std::string_view what, std::int64_t least) const {
  if (count_ < least) fail<ValueError>("regression_metrics", what, " needs numbers, at least ", least);
}

double RegressionMetrics::mean_squared_error() const {
  require("mean_squared_error", 1);
  return squares_ / static_cast<double>(count_);
}

double RegressionMetrics::root_mean_squared_error() const { return std::sqrt(mean_squared_error()); }

double RegressionMetrics::mean_absolute_error() const {
  require("mean_absolute_error", 1);
  return absolutes_ / static_cast<double>(count_);
}

double RegressionMetrics::r2() const {
  require("r2", 2);
  if (target_squares_ == 0) return squares_ == 0 ? 1 : 0;
  return 1 - squares_ / target_squares_;
}

void Perplexity::add(const Tensor& logits, const Index& tokens) {
  const NoGrad off;
  const Tensor losses =
      cross_entropy(logits, tokens, {.ignore_index = options_.ignore_index, .reduction = Reduction::none});
  double sum = 0;
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < tokens.size(); ++i) {
    if (tokens.data()[i] == options_.ignore_index) continue;
    const double loss = losses.value().data()[i];
    if (std::isnan(loss)) fail<NumericError>("perplexity", "the loss of token ", i, " is NaN");
    sum += loss;
    ++count;
  }
  sum_ += sum;
  count_ += count;
}

double Perplexity::loss() const {
  if (count_ == 0) fail<ValueError>("perplexity", "nothing was added yet");
  return sum_ / static_cast<double>(count_);
}

double Perplexity::value() const { return std::exp(loss()); }

}  // namespace xgrad::kit
