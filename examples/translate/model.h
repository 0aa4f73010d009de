// The model: encoder and decoder of a transformer, and how it translates once it has learnt.
#pragma once

#include <xgrad/xgrad.h>

#include "config.h"

namespace translate {

using namespace xgrad;

inline nn::TransformerOptions transformer_options(const Config& config) {
  return {.dim = config.dim,
          .ffn = config.hidden,
          .heads = config.heads,
          .layers = config.layers,
          .dropout = config.dropout,
          .cross_attention = config.cross_attention,
          .max_length = config.corpus.steps + 1};
}

struct Translator : nn::Module {
  nn::Encoder encoder;
  nn::Decoder decoder;

  Translator(const Config& config, std::int64_t source_words, std::int64_t target_words)
      : encoder(at("encoder"), source_words, transformer_options(config)),
        decoder(at("decoder"), target_words, transformer_options(config)) {}

  /// Teacher forcing: the decoder is shown the right words before each position, and says what comes next.
  Tensor operator()(const Index& source, const Index& lengths, const Index& target) const {  // (B, S) (B) (B, T)
    const AttentionMask words_only = nn::padding(lengths);
    return decoder(target, read(source, words_only), words_only);  // (B, T, V)
  }

  /// What the decoder attends to, each (B, S, C): the encoder's result, or those of all its blocks.
  Tensors read(const Index& source, const AttentionMask& words_only) const {
    if (decoder.options.cross_attention == nn::CrossAttention::last) return {encoder(source, words_only)};
    return encoder.layers(source, words_only);
  }

  /// The likeliest next word, again and again: (B, S) (B) -> (B, L) with L <= steps.
  Index translate(const Index& source, const Index& lengths, const nn::GreedyOptions& options) const {
    const NoGrad off;
    const nn::Eval eval(*this);
    const AttentionMask words_only = nn::padding(lengths);
    nn::DecoderStepper sentences(decoder, decoder.start(read(source, words_only), words_only));
    return nn::greedy(sentences, options).tokens;
  }
};

/// The book's first weights: uniform in +-sqrt(6 / (in + out)) for every linear map (Glorot, Bengio 2010).
inline void xavier_uniform(const Translator& model) {
  model.apply<nn::Linear>([](const nn::Linear& map) { nn::init::reset(map.weight, nn::init::xavier_uniform()); });
}

}  // namespace translate
