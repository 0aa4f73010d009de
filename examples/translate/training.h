// The training loop: one epoch at a time, with everything that a later run needs to go on where this one stopped.
#pragma once

#include <filesystem>

#include <kit/corpus.h>
#include <xgrad/xgrad.h>

#include "config.h"
#include "model.h"

namespace translate {

/// The loss of one batch as "Dive into Deep Learning" counts it: for each sentence the mean cross-entropy over its T
/// positions, padding counting as 0; summed over the batch.
xgrad::Tensor batch_loss(const Translator& model, const kit::CorpusBatch& batch, std::int64_t pad);

/// What an epoch brought.
struct Epoch {
  double loss = 0;          ///< of its batches, added up and divided by the number of target tokens
  std::int64_t tokens = 0;  ///< target tokens
};

class Trainer {
 public:
  Trainer(const Config& config, const kit::Corpus& data, const Translator& model, std::uint64_t seed);

  /// Every training pair once, in an order that follows from the seed and the number of the epoch.
  Epoch run_epoch();
  /// How many epochs are done.
  std::int64_t epoch() const { return epoch_; }
  /// The loss of the last epoch, 0 before the first.
  double loss() const { return loss_; }

  /// Everything that the epochs to come depend on: parameters, optimizer, random state, position. Throws
  /// xgrad::IoError.
  void save(const std::filesystem::path& path) const;
  /// Goes on where a checkpoint was saved; the epochs that follow are the same bit for bit. Throws xgrad::IoError,
  /// xgrad::FormatError; a checkpoint of another model or of other data is refused.
  void load(const std::filesystem::path& path);

 private:
  const Config& config_;
  const kit::Corpus& data_;
  const Translator& model_;
  std::uint64_t seed_;
  xgrad::Tensors parameters_;
  xgrad::optim::Adam adam_;
  std::int64_t epoch_ = 0;
  double loss_ = 0;
};

}  // namespace translate
