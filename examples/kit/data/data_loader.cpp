// The samples of each batch, and the position of a loader.
#include <xgrad/kit/data/data_loader.h>

#include <algorithm>
#include <exception>

#include <xgrad/core/base/error.h>
#include <xgrad/ops/creation/create.h>

namespace xgrad::kit {
namespace {

constexpr const char* op = "data_loader";

std::string description(const std::vector<std::int64_t>& samples) {
  if (samples.size() == 1) return str("sample ", samples[0]);
  if (samples.size() <= 8) return str("samples ", samples);
  return str("samples ", samples[0], ", ", samples[1], ", ", samples[2], ", ... (", samples.size(), " of them)");
}

void check(const DataLoaderOptions& options, std::int64_t samples) {
  if (options.batch_size < 1) fail<ValueError>(op, "batch_size must be at least 1, got ", options.batch_size);
  if (options.num_workers < 0 || options.num_workers > 1024) {
    fail<ValueError>(op, "num_workers must be from 0 to 1024, got ", options.num_workers);
  }
  if (samples < 1) fail<ValueError>(op, "the data set has no samples");
  if (options.drop_last && samples < options.batch_size) {
    fail<ValueError>(op, samples, " samples are fewer than a batch of ", options.batch_size, ", and drop_last is set");
  }
}

}  // namespace

SampleError::SampleError(std::vector<std::int64_t> samples, std::string_view text)
    : Error(error_message(op, str(description(samples), ": ", text))), samples(std::move(samples)) {}

namespace detail {

LoaderProgress::LoaderProgress(const DataLoaderOptions& options, std::int64_t samples)
    : options_(options), samples_(samples) {
  check(options, samples);
  batches_ = samples / options.batch_size + (!options.drop_last && samples % options.batch_size != 0);
}

void LoaderProgress::begin() {
  if (position_ > 0 && !resumed_) end_epoch();  // the last pass was left early
  resumed_ = false;
  plan_ = planned();
  if (!options_.mine) return;
  for (Index& rows : plan_) {
    const std::int64_t all = rows.size();
    rows = options_.mine(rows);
    if (rows.size() == 0) fail<ValueError>(op, "`mine` leaves none of the ", all, " samples of a batch: set drop_last");
  }
}

void LoaderProgress::end_epoch() {
  ++epoch_;
  position_ = 0;
}

StateFile LoaderProgress::state_dict() const {
  return {.arrays = {{"position", Index({2}, {epoch_, position_})}}, .metadata = {{"settings", attributes()}}};
}

LoaderProgress LoaderProgress::at(const StateFile& state) const {
  if (state.text("settings") != attributes()) {
    fail<FormatError>(op, "the state is of a loader with ", state.text("settings"), "; this one has ", attributes());
  }
  const Index& position = state.get<Index>("position");
  if (position.shape() != Shape{2} || position.at({0}) < 0 || position.at({1}) < 0 || position.at({1}) > batches_) {
    fail<FormatError>(op, "no epoch and position among ", batches_, " batches: ", position);
  }
  LoaderProgress result = *this;
  result.epoch_ = position.at({0});
  result.position_ = position.at({1});
  result.resumed_ = true;
  return result;
}

std::vector<Index> LoaderProgress::planned() const {
  const SampleRandomness random(options_.seed, epoch(), of_epoch);
  const Index order = options_.shuffle ? randperm(samples_) : arange(samples_);
  std::vector<Index> plan;
  for (std::int64_t k = 0; k < batches_; ++k) {
    plan.push_back(order[{slice(k * options_.batch_size, (k + 1) * options_.batch_size)}]);
  }
  return plan;
}

std::string LoaderProgress::attributes() const {
  return str(samples_, " samples, batch_size ", options_.batch_size, ", shuffle ", options_.shuffle, ", drop_last ",
             options_.drop_last, ", seed ", options_.seed);
}

SampleRandomness::SampleRandomness(Seed seed, std::int64_t epoch, std::int64_t index) : earlier_(random_state()) {
  set_random_state({.seed = mixed_seed(seed, epoch, index), .draws = 0});
}

void throw_of_samples(std::vector<std::int64_t> samples) {
  try {
    throw;
  } catch (const std::exception& error) {
    std::throw_with_nested(SampleError(std::move(samples), error.what()));
  } catch (...) {
    std::throw_with_nested(SampleError(std::move(samples), "something that is no std::exception was thrown"));
  }
}

}  // namespace detail
}  // namespace xgrad::kit
