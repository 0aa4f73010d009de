// Every number that shapes this example, in the order in which a run meets them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <xgrad/kit/text/corpus.h>
#include <xgrad/nn/models/transformer.h>

namespace translate {

using namespace xgrad;

/// The model of "Attention Is All You Need" (Vaswani et al. 2017) in a size that learns a few hundred sentences in
/// seconds, with the settings of "Dive into Deep Learning", section 11.7.
struct Config {
  // data: the first 600 pairs of the file, 10 tokens each, words seen once unknown
  kit::CorpusOptions corpus{.file = XGRAD_EXAMPLES_DIR "/translate/data/en-fr.tsv"};

  // model
  std::int64_t dim = 32;     // C
  std::int64_t hidden = 64;  // of the feed-forward layers
  std::int64_t heads = 4;    // H
  std::int64_t layers = 2;   // of the encoder, and of the decoder
  double dropout = 0.1;
  nn::CrossAttention cross_attention = nn::CrossAttention::last;

  // training
  std::int64_t epochs = 200;
  std::int64_t batch = 64;  // B
  double learning_rate = 0.005;
  double clip = 1;                     // the norm of all gradients together is at most this
  std::int64_t checkpoint_every = 10;  // epochs; a run that is killed loses at most so many
};

/// What the model, an nn::EncoderDecoder, is made from.
inline nn::TransformerOptions transformer_options(const Config& config) {
  return {.dim = config.dim,
          .ffn = config.hidden,
          .heads = config.heads,
          .layers = config.layers,
          .dropout = config.dropout,
          .cross_attention = config.cross_attention,
          .max_length = config.corpus.steps + 1};
}

/// The kinds of cross-attention as the command line and checkpoints call them, in the order of the enumeration.
inline const std::vector<std::string> cross_attention_names{"last", "same-depth", "all"};

}  // namespace translate
