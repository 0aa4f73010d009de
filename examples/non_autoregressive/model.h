// A transformer that writes all words of a translation at once (Gu et al., "Non-Autoregressive Neural Machine
// Translation", 2018, in its simplest form).
#pragma once

#include <xgrad/kit/text/corpus.h>
#include <xgrad/xgrad.h>

#include "config.h"

namespace non_autoregressive {

using namespace xgrad;

inline nn::TransformerOptions transformer_options(const Config& config) {
  return {.dim = config.dim,
          .ffn = config.hidden,
          .heads = config.heads,
          .layers = config.layers,
          .dropout = config.dropout,
          .max_length = config.corpus.steps + 1};
}

/// How a model that writes all at once knows where to stop.
enum class Ending {
  predicted,  ///< a classifier says the length first
  cut,        ///< it writes all positions; the text ends at the first <eos>
};

/// The layers of the autoregressive model. What differs: the decoder is fed with <bos> at every position, and every
/// position sees all others.
struct ParallelTranslator : nn::Module {
  const Ending ending;
  const std::int64_t steps, bos, eos;
  nn::Encoder encoder;
  nn::Decoder decoder;
  nn::Maybe<nn::Linear> length;  // logits of 0 ... steps tokens

  ParallelTranslator(const Config& config, const kit::Corpus& corpus, Ending how)
      : ending(how),
        steps(config.corpus.steps),
        bos(corpus.bos()),
        eos(corpus.eos()),
        encoder(at("encoder"), corpus.source_vocab().size(), transformer_options(config)),
        decoder(at("decoder"), corpus.target_vocab().size(), transformer_options(config)),
        length(at("length"), ending == Ending::predicted, config.dim, steps + 1) {}

  /// What is read before anything is written, (B, S, C).
  Tensor read(const Index& source, const Index& lengths) const { return encoder(source, nn::padding(lengths)); }

  /// The logits of all words: (B, T, V). Positions at and behind `target_lengths` are not looked at.
  Tensor write(const Tensor& memory, const Index& lengths, const Index& target_lengths) const {
    const AttentionMask written = nn::padding(target_lengths), read = nn::padding(lengths);
    const Index begin({memory.dim(0), steps}, bos);
    // Not times sqrt(C): the same large vector everywhere would drown the positions, which are all that differs.
    Tensor h = decoder.positions(decoder.embedding(begin));  // (B, T, C)
    for (std::int64_t i = 0; i < decoder.blocks.size(); ++i) {
      const nn::DecoderBlock& block = decoder.blocks[i];
      h = block.add_norm1.around(h, [&](const Tensor& x) { return block.self_attn(x, written); });  // not causal
      h = block.add_norm2.around(h, [&](const Tensor& x) { return block.cross_attn(x, memory, memory, read); });
      h = block.add_norm3.around(h, block.ffn);  // (B, T, C)
    }
    return decoder.out(h);
  }

  /// The logits of the length, from the mean of what was read: (B, steps + 1).
  Tensor length_logits(const Tensor& memory, const Index& lengths) const {
    const std::int64_t B = memory.dim(0), S = memory.dim(1);
    Array share({B, 1, S}, Real(0));
    for (std::int64_t b = 0; b < B; ++b) {
      const std::int64_t n = lengths.at({b});
      std::fill_n(share.mutable_data() + b * S, n, Real(1) / static_cast<Real>(n));
    }
    return (*length)(squeeze(matmul(share, memory), {1}));
  }

  /// Cross-entropy of the words, and of the length if that is predicted, summed over the batch.
  Tensor loss(const kit::CorpusBatch& batch, std::int64_t pad) const {
    const Tensor memory = read(batch.source, batch.source_lengths);
    Index target_lengths = everything(memory);
    if (ending == Ending::predicted) {
      for (std::int64_t b = 0; b < target_lengths.size(); ++b) {
        const std::int64_t* row = batch.target.data() + b * steps;
        target_lengths.mutable_data()[b] = steps - std::count(row, row + steps, pad);
      }
    }
    const Tensor logits = write(memory, batch.source_lengths, target_lengths);
    const Tensor words = cross_entropy(logits, batch.target, {.ignore_index = pad, .reduction = Reduction::sum});
    if (ending == Ending::cut) return words;
    return words +
           cross_entropy(length_logits(memory, batch.source_lengths), target_lengths, {.reduction = Reduction::sum});
  }

  /// One pass: (B, S) (B) -> (B, steps), <eos> behind the end.
  Index translate(const Index& source, const Index& lengths) const {
    const NoGrad off;
    const nn::Eval eval(*this);
    const Tensor memory = read(source, lengths);
    Index ends = everything(memory);
    if (ending == Ending::predicted) {
      ends = argmax(length_logits(memory, lengths), -1);
      for (std::int64_t b = 0; b < ends.size(); ++b) ends.mutable_data()[b] = std::max<std::int64_t>(1, ends.at({b}));
    }
    Index ids = argmax(write(memory, lengths, ends), -1);
    for (std::int64_t i = 0; i < ids.size(); ++i) {
      if (i % steps >= ends.data()[i / steps]) ids.mutable_data()[i] = eos;
    }
    return ids;
  }

 private:
  Index everything(const Tensor& memory) const { return Index({memory.dim(0)}, steps); }
};

}  // namespace non_autoregressive
