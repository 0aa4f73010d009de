// Every number that shapes this example, in the order in which a run meets them.
#pragma once

#include <cstdint>
#include <filesystem>

namespace translate {

/// The model of "Attention Is All You Need" (Vaswani et al. 2017) in a size that learns a few hundred sentences in
/// seconds, with the settings of "Dive into Deep Learning", section 11.7.
struct Config {
  // data
  std::filesystem::path data = XGRAD_EXAMPLES_DIR "/translate/data/en-fr.tsv";
  std::int64_t pairs = 600;     // of the file are learnt; what follows is held out
  std::int64_t held_out = 100;  // pairs to judge by, at the most
  std::int64_t steps = 10;      // tokens of a sentence, <eos> included: T and S
  int min_freq = 2;             // rarer words become <unk>

  // model
  std::int64_t dim = 32;     // C
  std::int64_t hidden = 64;  // of the feed-forward layers
  std::int64_t heads = 4;    // H
  std::int64_t layers = 2;   // of the encoder, and of the decoder
  double dropout = 0.1;

  // training
  std::int64_t epochs = 200;
  std::int64_t batch = 64;  // B
  double learning_rate = 0.005;
  double clip = 1;  // the norm of all gradients together is at most this
};

}  // namespace translate
