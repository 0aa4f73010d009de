// The file from which a training goes on.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <xgrad/core/files/state.h>
#include <xgrad/kit/train/report.h>

namespace xgrad::kit::detail {

/// A part of a training: its state stands in the checkpoint under its name.
struct CheckpointPart {
  std::string name;
  std::function<StateFile()> state;
  /// Takes a state, given the numbers of the checkpoint. Throws FormatError if it does not fit.
  std::function<void(const StateFile& part, const TrainingState& numbers)> load;
};

/// Saves and loads the numbers of a training, the state of this thread's generator, and the parts, which are loaded in
/// their order. The numbers are JSON in the metadata "trainer".
///
/// Threads: one at a time.
struct Checkpoint {
  std::filesystem::path path;
  Metadata attributes;  ///< of the run; a file with others is refused
  std::vector<CheckpointPart> parts;

  /// Throws what save_safetensors throws.
  void save(TrainingState numbers) const;
  /// Throws FormatError for a file that does not fit, with the path and the differences; then nothing has changed.
  void load(TrainingState& numbers) const;
};

}  // namespace xgrad::kit::detail
