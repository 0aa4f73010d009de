// Steps at growing rates, all of which are taken back.
#include "find_learning_rate.h"

#include <algorithm>
#include <cmath>
#include <ostream>

#include "../../core/array/random.h"
#include "../../core/base/error.h"
#include "../../core/base/text.h"
#include "../../core/graph/record.h"
#include "../loss.h"
#include "../options.h"
#include "../schedules/schedule.h"

namespace xgrad::optim {
namespace {

constexpr const char* op = "find_learning_rate";

void check(const LearningRateOptions& options) {
  if (!(options.start_lr > 0 && options.start_lr < options.end_lr && std::isfinite(options.end_lr))) {
    fail<ValueError>(op, "needs 0 < start_lr < end_lr, got ", options.start_lr, " and ", options.end_lr);
  }
  if (options.num_iter < 2) fail<ValueError>(op, "num_iter ", options.num_iter, " is below 2");
  detail::below_one(op, "smoothing", options.smoothing);
  if (!(options.diverged > 1)) fail<ValueError>(op, "diverged ", options.diverged, " is not above 1");
  for (const Tensor& buffer : options.buffers) {
    if (!buffer.is_leaf()) fail<GraphError>(op, "a buffer is the result of ", buffer.node()->op);
  }
}

// Puts everything back when it dies.
class Restored {
 public:
  Restored(Optimizer& optimizer, const Tensors& buffers) : optimizer_(optimizer), buffers_(buffers) {
    for (const Tensor& buffer : buffers) values_.push_back(buffer.value());
  }
  ~Restored() {
    optimizer_.restore();
    for (std::size_t i = 0; i < values_.size(); ++i) buffers_[i].assign(std::move(values_[i]));
    set_random_state(random_);
  }
  Restored(const Restored&) = delete;
  Restored& operator=(const Restored&) = delete;

 private:
  detail::KeptOptimizer optimizer_;
  const Tensors buffers_;
  std::vector<Array> values_;
  RandomState random_ = random_state();
};

// Slopes are taken over two steps, so that one loss alone does not make a suggestion.
std::optional<double> steepest(const LearningRateReport& report) {
  std::optional<double> rate;
  double lowest = 0;
  for (std::size_t i = 1; i + 1 < report.means.size(); ++i) {
    const double slope = report.means[i + 1] - report.means[i - 1];
    if (slope >= lowest) continue;
    lowest = slope;
    rate = report.rates[i];
  }
  return rate;
}

}  // namespace

LearningRateReport find_learning_rate(const std::function<Tensor()>& loss, Optimizer& optimizer,
                                      const LearningRateOptions& options) {
  xgrad::detail::refuse_empty(op, loss);
  check(options);
  LearningRateReport report;
  const Restored restored(optimizer, options.buffers);
  const EnableGrad on;
  const double last = static_cast<double>(options.num_iter - 1);
  const double first = optimizer.initial_lr();
  for (int group = 0; group < optimizer.groups(); ++group) {
    if (const double lr = optimizer.initial_lr(group); first == 0 && lr != 0) {
      fail<ValueError>(op, "lr ", lr, " of group ", group, " has no proportion to lr 0 of the first");
    }
  }
  Scheduler rate(optimizer, [=](std::int64_t step, double lr) {
    const double now = options.start_lr * std::pow(options.end_lr / options.start_lr, static_cast<double>(step) / last);
    return lr == first ? now : now * (lr / first);
  });
  double sum = 0, lowest = 0, left = 1;  // left: the share that the running mean has not seen yet
  while (rate.steps() < options.num_iter) {
    const Tensor now = loss();
    const double value = detail::one_number(op, now);
    if (!std::isfinite(value)) break;
    report.rates.push_back(rate.lr());
    report.losses.push_back(value);
    sum = options.smoothing * sum + (1 - options.smoothing) * value;
    left *= options.smoothing;
    const double mean = sum / (1 - left);
    report.means.push_back(mean);
    lowest = report.means.size() == 1 ? mean : std::min(lowest, mean);
    if (lowest > 0 && mean > options.diverged * lowest) break;
    optimizer.step(detail::gradients_of(now, optimizer.parameters()));
    rate.step();
  }
  report.suggestion = steepest(report);
  return report;
}

std::string to_string(const LearningRateReport& report) {
  using xgrad::detail::rounded;
  if (report.rates.empty()) return "find_learning_rate: the loss is not finite before the first step\n";
  std::string text = cat("find_learning_rate: ", report.rates.size(), " rates from ", rounded(report.rates.front()),
                         " to ", rounded(report.rates.back()), ", the loss goes from ", rounded(report.means.front()),
                         " to ", rounded(std::ranges::min(report.means)));
  if (!report.suggestion) return text + " and falls at none\n";
  return text + cat(" and falls most steeply at ", rounded(*report.suggestion, 3), "\n");
}

std::ostream& operator<<(std::ostream& out, const LearningRateReport& report) { return out << to_string(report); }

}  // namespace xgrad::optim
