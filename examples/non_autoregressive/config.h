// Every number that shapes this example.
#pragma once

#include <cstdint>

#include <xgrad/kit/text/corpus.h>

namespace non_autoregressive {

/// The model and training of examples/translate, for all that are compared.
struct Config {
  xgrad::kit::CorpusOptions corpus{.file = XGRAD_EXAMPLES_DIR "/translate/data/en-fr.tsv"};

  std::int64_t dim = 32;  // C
  std::int64_t hidden = 64;
  std::int64_t heads = 4;
  std::int64_t layers = 2;
  double dropout = 0.1;

  std::int64_t epochs = 200;
  std::int64_t batch = 64;
  double learning_rate = 0.005;
  double clip = 1;

  std::int64_t repetitions = 20;  // of every measurement of speed
};

}  // namespace non_autoregressive
