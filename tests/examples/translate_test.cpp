// The translation example's checkpoints: going on bit for bit, and refusing what does not fit or cannot be.
#include <doctest/doctest.h>

#include <functional>
#include <limits>

#include <translate/training.h>

#include "examples/support.h"

namespace xgrad::kit::testing {
namespace {

using xgrad::FormatError;
using xgrad::Index;
using xgrad::StateFile;

constexpr const char* pairs = "go .\tva !\ngo now .\tva !\nrun now .\tcours !\nrun .\tcours !\ngo .\tcours !\n";

/// Everything that a run of the example trains with.
struct Run {
  translate::Config config;
  Corpus data;
  nn::EncoderDecoder model;
  translate::Trainer trainer;

  explicit Run(const translate::Config& settings, std::uint64_t seed = 1)
      : config(settings), data(settings.corpus), model(seeded_model(seed)), trainer(config, data, model, seed) {}

 private:
  nn::EncoderDecoder seeded_model(std::uint64_t seed) const {
    manual_seed(seed);
    return {nn::root, data.source_vocab().size(), data.target_vocab().size(), translate::transformer_options(config)};
  }
};

translate::Config small(const std::filesystem::path& file) {
  translate::Config config;
  config.corpus = {.file = file, .pairs = 5, .steps = 4, .min_freq = 1};
  config.dim = 8;
  config.hidden = 8;
  config.heads = 2;
  config.batch = 2;
  return config;
}

/// The message with which a checkpoint is refused.
std::string refusal(Run& run, const std::filesystem::path& checkpoint) {
  try {
    run.trainer.load(checkpoint);
  } catch (const FormatError& error) {
    return error.what();
  }
  return "accepted";
}

TEST_CASE("a run that goes on from a checkpoint ends in the same bytes, wherever it stopped") {
  const TemporaryFolder folder;
  const translate::Config config = small(write_text(folder / "pairs", pairs));
  Run whole(config, 7);
  whole.trainer.save(folder / "0");
  for (const char* name : {"1", "2", "3"}) {
    whole.trainer.run_epoch();
    whole.trainer.save(folder / name);
  }
  for (const char* name : {"0", "1", "2", "3"}) {
    Run other(config, 8);
    other.trainer.load(folder / name);
    CHECK(other.trainer.seed() == 7);
    while (other.trainer.epoch() < 3) other.trainer.run_epoch();
    CHECK(other.trainer.loss() == whole.trainer.loss());
    other.trainer.save(folder / "again");
    CHECK(read_text(folder / "again") == read_text(folder / "3"));
  }
}

TEST_CASE("the learning rate comes from the checkpoint and can be set anew") {
  const TemporaryFolder folder;
  translate::Config config = small(write_text(folder / "pairs", pairs));
  config.learning_rate = 0.25;
  Run(config).trainer.save(folder / "checkpoint");
  config.learning_rate = 0.5;
  Run other(config);
  other.trainer.load(folder / "checkpoint");
  CHECK(other.trainer.learning_rate() == 0.25);
  other.trainer.set_learning_rate(0.125);
  other.trainer.save(folder / "checkpoint");
  other.trainer.load(folder / "checkpoint");
  CHECK(other.trainer.learning_rate() == 0.125);
}

TEST_CASE("a checkpoint of other settings or other data is refused with what differs") {
  const TemporaryFolder folder;
  const translate::Config config = small(write_text(folder / "pairs", pairs));
  Run run(config);
  run.trainer.run_epoch();
  const auto checkpoint = folder / "checkpoint";
  run.trainer.save(checkpoint);

  using Change = std::function<void(translate::Config&)>;
  const auto other_pairs = [&](const char* text) {
    return [file = write_text(folder / "other", text)](translate::Config& c) { c.corpus.file = file; };
  };
  struct Case {
    Change change;
    const char* message;  // nothing: the checkpoint fits
  };
  using translate::Config;
  const Case cases[] = {
      {[](Config& c) { c.cross_attention = xgrad::nn::CrossAttention::all; },
       "cross-attention: found last, expected all"},
      {[](Config& c) { c.dim = 16; }, "width: found 8, expected 16"},
      {[](Config& c) { c.hidden = 16; }, "feed-forward width: found 8, expected 16"},
      {[](Config& c) { c.heads = 4; }, "heads: found 2, expected 4"},
      {[](Config& c) { c.layers = 3; }, "layers: found 2, expected 3"},
      {[](Config& c) { c.dropout = 0.2; }, "dropout: found 0.1, expected 0.2"},
      {[](Config& c) { c.batch = 3; }, "batch: found 2, expected 3"},
      {[](Config& c) { c.clip = 2; }, "clip: found 1, expected 2"},
      {[](Config& c) { c.corpus.steps = 5; }, "tokens of a sentence: found 4, expected 5"},
      {[](Config& c) { c.heads = 4, c.batch = 3; }, "batch: found 2, expected 3; heads: found 2, expected 4"},
      {[](Config& c) { c.corpus.pairs = 4; }, "pairs: found 5 (fingerprint "},
      // Vocabularies of the same size with another word.
      {other_pairs("go .\tva !\ngo now .\tva !\nwalk now .\tcours !\nwalk .\tcours !\ngo .\tcours !\n"),
       "source vocabulary: found "},
      {[&](Config& c) {
         c.corpus.file = write_text(folder / "other2",
                                    "go .\tva !\ngo now .\tva !\nrun now .\tfile !\nrun .\tfile !\n"
                                    "go .\tfile !\n");
       },
       "target vocabulary: found "},
      // The same words in other pairs.
      {[&](Config& c) {
         c.corpus.file = write_text(folder / "other3",
                                    "go .\tcours !\ngo now .\tva !\nrun now .\tcours !\n"
                                    "run .\tcours !\ngo .\tva !\n");
       },
       "pairs: found 5 (fingerprint "},
      {[](Config& c) { c.epochs = 7, c.learning_rate = 0.25, c.checkpoint_every = 3, c.corpus.held_out = 0; }, nullptr},
  };
  for (const Case& one : cases) {
    Config changed = config;
    one.change(changed);
    Run other(changed);
    const std::string message = refusal(other, checkpoint);
    if (one.message) {
      CAPTURE(message);
      CAPTURE(one.message);
      CHECK(message.starts_with("checkpoint: " + checkpoint.string() + " is of another run: "));
      CHECK(message.find(one.message) != message.npos);
      CHECK(other.trainer.epoch() == 0);
    } else {
      CHECK(message == "accepted");
      CHECK(other.trainer.epoch() == 1);
    }
  }
}

TEST_CASE("a damaged checkpoint is refused, even if the damage hides its checksums") {
  const TemporaryFolder folder;
  Run run(small(write_text(folder / "pairs", pairs)));
  run.trainer.save(folder / "checkpoint");
  std::string bytes = read_text(folder / "checkpoint");
  bytes[bytes.size() - 30] ^= 1;
  write_text(folder / "checkpoint", bytes);
  CHECK(refusal(run, folder / "checkpoint") != "accepted");
  for (const char* entry : {"xgrad.checksum", "xgrad.crc32"}) bytes[bytes.find(entry)] = 'y';
  write_text(folder / "checkpoint", bytes);
  CHECK(refusal(run, folder / "checkpoint").ends_with("the checksums are missing"));
}

TEST_CASE("a checkpoint with numbers that no training leads to is refused") {
  const TemporaryFolder folder;
  Run run(small(write_text(folder / "pairs", pairs)));
  run.trainer.run_epoch();
  run.trainer.save(folder / "good");
  const StateFile good = xgrad::load_safetensors((folder / "good").string());
  const auto refused = [&](const StateFile& file) {
    xgrad::save_safetensors((folder / "bad").string(), file);
    return refusal(run, folder / "bad");
  };
  CHECK(refused(good) == "accepted");

  const std::pair<const char*, const char*> entries[] = {{"epoch", "-5"},
                                                         {"epoch", "2"},
                                                         {"epoch", "9223372036854775807"},
                                                         {"epoch", "1000000000000000000000"},
                                                         {"epoch", "1.5"},
                                                         {"epoch", "abc"},
                                                         {"epoch", ""},
                                                         {"epoch", " 1"},
                                                         {"loss", "-1"},
                                                         {"loss", "nan"},
                                                         {"loss", "inf"},
                                                         {"loss", "1e300"},
                                                         {"loss", "0.5x"},
                                                         {"seed", "-1"},
                                                         {"seed", "18446744073709551616"},
                                                         {"random.seed", "one"},
                                                         {"random.draws", "-1"}};
  for (const auto& entry : entries) {
    StateFile file = good;
    file.metadata[entry.first] = entry.second;
    CAPTURE(entry.first);
    CAPTURE(entry.second);
    const std::string message = refused(file);
    CAPTURE(message);
    CHECK(message.starts_with("checkpoint: "));
  }
  for (const char* key : {"epoch", "loss", "seed", "random.seed", "random.draws", "settings.heads"}) {
    StateFile file = good;
    file.metadata.erase(key);
    CHECK(refused(file) != "accepted");
  }

  const std::string steps = "optimizer." + run.model.parameters().front().name() + ".step";
  for (const std::int64_t count :
       {std::int64_t{-1}, std::int64_t{0}, std::int64_t{2}, std::int64_t{4}, std::numeric_limits<std::int64_t>::min(),
        std::numeric_limits<std::int64_t>::max()}) {
    StateFile file = good;
    file.arrays.at(steps) = Index({}, count);
    CHECK(refused(file).find("steps, but 1 epochs are 3") != std::string::npos);
  }
  StateFile file = good;
  file.arrays.at(steps) = Index({2}, std::int64_t{3});
  CHECK(refused(file).starts_with("checkpoint: "));
  file.arrays.erase(steps);
  CHECK(refused(file) != "accepted");
  CHECK(run.trainer.epoch() == 1);
}

}  // namespace
}  // namespace xgrad::kit::testing
