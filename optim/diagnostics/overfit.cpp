// Steps on one batch, and a diagnosis of the course of the loss.
#include "overfit.h"

#include <algorithm>
#include <cmath>
#include <ostream>

#include "../../core/base/error.h"
#include "../../core/base/text.h"
#include "../../core/graph/record.h"
#include "../loss.h"

namespace xgrad::optim {
namespace {

using xgrad::detail::rounded;

std::string suspicion_of(const std::vector<double>& losses) {
  const double first = losses.front(), last = losses.back();
  if (!std::isfinite(first))
    return "the loss is not finite before the first step: look at the inputs and first weights";
  if (!std::isfinite(last)) return "the loss is no longer finite: lower the learning rate";
  if (std::ranges::all_of(losses, [&](double loss) { return loss == first; }))
    return "the loss does not change at all: audit(loss, optimizer) tells which parameters it reaches";
  if (last >= first) return "the loss grows: lower the learning rate";
  const double before = losses[losses.size() * 3 / 4];
  if (last < 0.9 * before) return "the loss is still falling: take more steps";
  return "the loss stands still: is the learning rate too low, do inputs and targets belong together, does the model "
         "see all that the targets depend on, is dropout off?";
}

}  // namespace

OverfitReport overfit_one_batch(const std::function<Tensor()>& loss, Optimizer& optimizer,
                                const OverfitOptions& options) {
  constexpr const char* op = "overfit_one_batch";
  xgrad::detail::refuse_empty(op, loss);
  if (options.steps < 1) fail<ValueError>(op, "steps ", options.steps, " is not positive");
  if (!(options.target > 0 && options.target < 1)) fail<ValueError>(op, "target ", options.target, " is not in (0, 1)");
  OverfitReport report;
  const EnableGrad on;
  for (;;) {
    const Tensor now = loss();
    report.losses.push_back(detail::one_number(op, now));
    if (report.steps() == 0) {
      if (report.losses[0] < 0) fail<ValueError>(op, "the loss is ", report.losses[0], ", which cannot fall to near 0");
      report.target = options.target * report.losses[0];
    }
    if (report.ok() || !std::isfinite(report.losses.back()) || report.steps() == options.steps) break;
    optimizer.step(detail::gradients_of(now, optimizer.parameters()));
  }
  if (!report.ok()) report.suspicion = suspicion_of(report.losses);
  return report;
}

std::string to_string(const OverfitReport& report) {
  std::string text = cat("overfit_one_batch: the loss goes from ", rounded(report.losses.front()), " to ",
                         rounded(report.losses.back()), " in ", report.steps(), " steps");
  if (report.ok()) return text + "\n";
  return text + cat(", not to ", rounded(report.target), "\n  ", report.suspicion, "\n");
}

std::ostream& operator<<(std::ostream& out, const OverfitReport& report) { return out << to_string(report); }

}  // namespace xgrad::optim
