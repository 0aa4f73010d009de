// Numbers as JSON, and parts that are loaded all or none.
#include <xgrad/kit/train/checkpoint.h>

#include <nlohmann/json.hpp>

#include <xgrad/core/array/random.h>
#include <xgrad/core/base/text.h>
#include <xgrad/core/files/safetensors.h>

namespace xgrad::kit {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Scores, values)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Report, epoch, step, loss, lr, scores, best)

namespace detail {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TrainingState, step, epochs, began, summed, sum, lr, seed, draws, reports)

namespace {

constexpr const char* op = "trainer";
using Json = nlohmann::json;

/// The numbers in a file of version 0.2, which has a text for each kind of them, separated by commas.
TrainingState numbers_in_texts(const StateFile& file) {
  const auto list = [&](std::string_view key) { return Json::parse("[" + file.text(key) + "]"); };
  const auto one = [&](std::string_view key) {
    const Json numbers = list(key);
    if (numbers.size() != 1) fail<FormatError>(op, file.source, ": ", key, " is not one number");
    return numbers[0];
  };
  TrainingState state{.step = one("step"), .epochs = one("epoch"), .began = -1, .summed = one("summed")};
  state.sum = one("sum");
  state.lr = one("lr");
  state.seed = one("random.seed");
  state.draws = one("random.draws");
  const Json epochs = list("epochs"), history = list("history");  // step, loss, rate, best and scores of each report
  const std::size_t scores = one("scores");
  if (history.size() != epochs.size() * (4 + scores)) fail<FormatError>(op, file.source, ": reports without an epoch");
  for (std::size_t i = 0; i < epochs.size(); ++i) {
    const auto at = history.begin() + static_cast<std::ptrdiff_t>(i * (4 + scores));
    Report& report = state.reports.emplace_back();
    report = {.epoch = epochs[i], .step = at[0], .loss = at[1], .lr = at[2], .best = at[3] != 0};
    for (std::size_t j = 0; j < scores; ++j) {
      report.scores.values.emplace_back(file.text(str("score ", j)), at[static_cast<std::ptrdiff_t>(4 + j)]);
    }
  }
  return state;
}

TrainingState numbers_of(const StateFile& file) {
  TrainingState state;
  try {
    const bool in_json = file.metadata.contains("trainer");
    state = in_json ? Json::parse(file.text("trainer")).get<TrainingState>() : numbers_in_texts(file);
  } catch (const Json::exception& error) {
    fail<FormatError>(op, file.source, " has no numbers of a trainer: ", error.what());
  }
  if (state.step < 0 || state.epochs < 0 || state.summed < 0) {
    fail<FormatError>(op, file.source, " counts steps and epochs as no trainer does");
  }
  if (!state.reports.empty() && !state.reports.front().best) fail<FormatError>(op, file.source, " has no best report");
  return state;
}

void refuse_others(const std::string& path, const Metadata& found, const Metadata& expected) {
  Metadata all = found;
  all.insert(expected.begin(), expected.end());
  std::string differences;
  const auto in = [](const Metadata& of, const std::string& name) {
    return of.contains(name) ? of.find(name)->second : "nothing";
  };
  for (const auto& [name, value] : all) {
    const std::string was = in(found, name), is = in(expected, name);
    if (was != is) append(differences, str(differences.empty() ? "" : "; ", name, ": found ", was, ", expected ", is));
  }
  if (!differences.empty()) fail<FormatError>(op, path, " is of another run: ", differences);
}

}  // namespace

void Checkpoint::save(TrainingState numbers) const {
  numbers.seed = random_state().seed;
  numbers.draws = random_state().draws;
  StateFile file{.metadata = {{"trainer", Json(numbers).dump()}}};
  file.add("settings", {.metadata = attributes});
  for (const CheckpointPart& part : parts) file.add(part.name, part.state());
  save_safetensors(path.string(), file);
}

void Checkpoint::load(TrainingState& numbers) const {
  const StateFile file = load_safetensors(path.string());
  refuse_others(path.string(), file.part("settings").metadata, attributes);
  TrainingState loaded = numbers_of(file);
  std::vector<StateFile> before;
  for (const CheckpointPart& part : parts) before.push_back(part.state());
  try {
    for (const CheckpointPart& part : parts) part.load(file.part(part.name), loaded);
  } catch (...) {
    for (std::size_t i = 0; i < parts.size(); ++i) parts[i].load(before[i], numbers);
    throw;
  }
  set_random_state({.seed = loaded.seed, .draws = loaded.draws});
  numbers = std::move(loaded);
}

}  // namespace detail
}  // namespace xgrad::kit
