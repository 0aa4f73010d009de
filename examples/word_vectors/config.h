// Every number that shapes this example.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <xgrad/kit/text/corpus.h>

namespace word_vectors {

/// Skip-gram with negative sampling (Mikolov et al., "Distributed Representations of Words and Phrases and their
/// Compositionality", 2013).
struct Config {
  // text: one sentence per line; of a line with tabs the first column counts
  std::filesystem::path text = XGRAD_EXAMPLES_DIR "/translate/data/en-fr.tsv";
  int min_freq = 2;
  double subsample = 1e-3;  // t: a word of frequency f is kept with probability sqrt(t / f)
  std::int64_t window = 3;  // a context word is at most so far away

  // model
  std::int64_t dim = 32;       // d
  std::int64_t negatives = 5;  // K

  // training
  std::int64_t steps = 3000;
  std::int64_t batch = 512;
  double learning_rate = 0.01;

  // report
  std::vector<std::string> words = {};  // to print the neighbours of; chosen by frequency if empty
  std::int64_t shown = 70;              // words in the picture

  // translation with the vectors as the encoder's embedding
  xgrad::kit::CorpusOptions corpus{.file = XGRAD_EXAMPLES_DIR "/translate/data/en-fr.tsv"};
  std::int64_t epochs = 40;
  std::int64_t translation_batch = 64;
  double translation_rate = 0.005;
};

}  // namespace word_vectors
