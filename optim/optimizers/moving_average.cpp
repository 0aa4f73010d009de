// Averages next to parameters. Numbers are examined and made ready to be written first and changed afterwards.
#include "moving_average.h"

#include <algorithm>
#include <cmath>

#include "../../core/graph/model_parameters.h"
#include "../../core/runtime/parallel.h"
#include "../names.h"
#include "../options.h"
#include "kernels/update.h"

namespace xgrad::optim {
namespace {

constexpr const char* op = "moving_average";

bool all_finite(const Array& values) {
  return std::ranges::all_of(values, [](Real value) { return std::isfinite(value); });
}

}  // namespace

ExponentialMovingAverage::ExponentialMovingAverage(const Tensors& parameters, const Options& options)
    : options_(options) {
  if (!(options.decay >= 0 && options.decay <= 1)) fail<ValueError>(op, "decay ", options.decay, " is not in [0, 1]");
  if (parameters.empty()) fail<ValueError>(op, "there are no parameters");
  for (const Tensor& parameter : parameters) {
    const bool constant = !parameter.requires_grad() && !all_finite(parameter.value());
    const bool is_integer = xgrad::detail::ModelParameters::has_integers(parameter);
    const bool copied = constant || is_integer;
    entries_.push_back({parameter, detail::name_of_new(op, parameter, entries_), parameter.value(), copied});
  }
}

void ExponentialMovingAverage::update() {
  if (swapped_) fail<GraphError>(op, "the parameters have the averages now: update when AveragedWeights are gone");
  for (const Entry& entry : entries_) {
    const Array& value = entry.parameter.value();
    if (value.shape() != entry.average.shape()) {
      fail<ShapeError>(op, "'", entry.name, "' had shape ", entry.average.shape(), " and now has ", value.shape());
    }
    if (!entry.copied && !all_finite(value)) fail<NumericError>(op, "'", entry.name, "' is not finite");
  }
  if (updates_ > 0) {
    for (Entry& entry : entries_) {
      if (!entry.copied) entry.average.mutable_data();
    }
  }
  for (Entry& entry : entries_) {
    const Array& value = entry.parameter.value();
    if (updates_ == 0 || entry.copied) {
      entry.average = value;
      continue;
    }
    Real* const average = entry.average.mutable_data();
    parallel_for(value.size(), block, [&](std::int64_t begin, std::int64_t end) {
      average_block(average + begin, value.data() + begin, end - begin, options_.decay);
    });
  }
  ++updates_;
}

std::vector<Array> ExponentialMovingAverage::averages() const {
  std::vector<Array> all;
  for (const Entry& entry : entries_) all.push_back(entry.average);
  return all;
}

StateFile ExponentialMovingAverage::state_dict() const {
  StateFile state;
  state.arrays["updates"] = Index({}, updates_);
  state.metadata["decay"] = str(options_.decay);
  for (const Entry& entry : entries_) state.arrays["average." + entry.name] = entry.average;
  return state;
}

void ExponentialMovingAverage::load_state_dict(const StateFile& state) {
  const std::int64_t updates = detail::count_in(state, "updates", "a moving average cannot have made");
  detail::check_named_options(state, {{"decay", options_.decay}});
  StateMatch match(state.arrays);
  (void)match.find("updates");
  std::vector<Array> averages;
  for (const Entry& entry : entries_) {
    const auto fault = [&](const Array& values) {
      return entry.copied || all_finite(values) ? "" : "holds a number that is not finite";
    };
    const Array* average = match.take<Array>("average." + entry.name, entry.average.shape(), fault);
    if (average) averages.push_back(*average);
  }
  match.finish().refuse("load_state_dict", state.source);
  for (std::size_t i = 0; i < entries_.size(); ++i) entries_[i].average = std::move(averages[i]);
  updates_ = updates;
}

AveragedWeights::AveragedWeights(ExponentialMovingAverage& average) : average_(average) {
  if (average.swapped_) fail<GraphError>(op, "the parameters have the averages already");
  for (const auto& entry : average.entries_) {
    if (entry.parameter.shape() != entry.average.shape()) {
      fail<ShapeError>(op, "'", entry.name, "' had shape ", entry.average.shape(), " and now has ",
                       entry.parameter.shape());
    }
    values_.push_back(entry.parameter.value());
  }
  for (const auto& entry : average.entries_) entry.parameter.assign(entry.average);
  average.swapped_ = true;
}

AveragedWeights::~AveragedWeights() {
  for (std::size_t i = 0; i < values_.size(); ++i) {
    average_.entries_[i].parameter.assign(std::move(values_[i]));
  }
  average_.swapped_ = false;
}

}  // namespace xgrad::optim
