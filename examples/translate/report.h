// What a run shows and leaves behind: translations with their BLEU, curves, heat maps, the graph of a training step.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <kit/corpus.h>

#include "config.h"
#include "model.h"

namespace translate {

/// What training came to.
struct Summary {
  double loss = 0;          ///< of the last epoch
  std::int64_t tokens = 0;  ///< target tokens seen in this run
  double seconds = 0;       ///< that this took
};

/// Of loss.csv.
inline const std::vector<std::string> log_columns{"epoch", "loss", "tokens_per_second"};

/// The sizes of the data and the model, and what the library runs on.
std::string introduction(const Config& config, const kit::Corpus& data, const Translator& model);

/// Translates, judges, draws, prints, and ends with the line for scripts.
void report(const Config& config, const kit::Corpus& data, const Translator& model, const std::filesystem::path& out,
            const Summary& summary);

}  // namespace translate
