// What a run shows and leaves behind: translations with their BLEU, curves, heat maps, the graph of a training step.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <xgrad/kit/program/cli.h>
#include <xgrad/kit/text/corpus.h>

#include "config.h"

namespace translate {

/// What training came to.
struct Summary {
  double loss = 0;          ///< of the last epoch
  std::int64_t tokens = 0;  ///< target tokens seen in this run
  double seconds = 0;       ///< that this took
};

/// Of loss.csv.
inline const std::vector<std::string> log_columns{"epoch", "loss", "tokens_per_second"};

/// The sizes of the data and the model.
std::string introduction(const Config& config, const kit::Corpus& data, const nn::EncoderDecoder& model);

/// Translates, judges, draws, prints, and adds to the line for scripts.
void report(const Config& config, const kit::Corpus& data, const nn::EncoderDecoder& model, const Summary& summary,
            kit::Example& example);

}  // namespace translate
