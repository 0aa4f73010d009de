// The training loop: one epoch at a time, with everything that a later run needs to go on where this one stopped.
#pragma once

#include <filesystem>

#include <xgrad/kit/text/corpus.h>
#include <xgrad/xgrad.h>

#include "config.h"

namespace translate {

/// The loss of one batch as "Dive into Deep Learning" counts it: for each sentence the mean cross-entropy over its T
/// positions, padding counting as 0; summed over the batch. Teacher forcing: the decoder is shown the right words
/// before each position, and says what comes next.
Tensor batch_loss(const nn::EncoderDecoder& model, const kit::Corpus& data, const kit::CorpusBatch& batch);

/// More epochs than anybody trains: a bound for what the command line and checkpoints say.
inline constexpr std::int64_t most_epochs = 1'000'000'000;

/// What an epoch brought.
struct Epoch {
  double loss = 0;          ///< of its batches, added up and divided by the number of target tokens
  std::int64_t tokens = 0;  ///< target tokens
};

class Trainer {
 public:
  Trainer(const Config& config, const kit::Corpus& data, const nn::EncoderDecoder& model, std::uint64_t seed);

  /// Every training pair once, in an order that follows from the seed and the number of the epoch.
  Epoch run_epoch();
  /// How many epochs are done.
  std::int64_t epoch() const { return epoch_; }
  /// The loss of the last epoch, 0 before the first.
  double loss() const { return loss_; }
  /// From which the order of the pairs follows: that of the first run, if this one goes on from a checkpoint.
  std::uint64_t seed() const { return seed_; }
  double learning_rate() const { return adam_.lr(); }
  void set_learning_rate(double rate) { adam_.set_lr(rate); }

  /// Everything that the epochs to come depend on: parameters, optimizer with its learning rate, random state, seed,
  /// position; and what tells whether it fits: the settings of model and training, fingerprints of vocabularies and
  /// pairs. Throws IoError.
  void save(const std::filesystem::path& path) const;
  /// Goes on where a checkpoint was saved; the epochs that follow are the same bit for bit. Throws IoError, and
  /// FormatError for a checkpoint of other settings or other data, with all that differs, and for one with
  /// numbers that no training leads to or without checksums.
  void load(const std::filesystem::path& path);

 private:
  std::int64_t steps_per_epoch() const;

  const Config& config_;
  const kit::Corpus& data_;
  const nn::EncoderDecoder& model_;
  std::uint64_t seed_;
  Tensors parameters_;
  optim::Adam adam_;
  std::int64_t epoch_ = 0;
  double loss_ = 0;
};

}  // namespace translate
