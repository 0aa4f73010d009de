// A transformer that writes all words of a translation at once (Gu et al., "Non-Autoregressive Neural Machine
// Translation", 2018, in its simplest form: a text ends at its first <eos>).
#pragma once

#include <xgrad/kit/text/corpus.h>
#include <xgrad/xgrad.h>

namespace non_autoregressive {

using namespace xgrad;

/// The layers of nn::EncoderDecoder, with two differences: the decoder is fed with <bos> at every position, and every
/// position sees all others.
struct ParallelTranslator : nn::Layer<ParallelTranslator> {
  const std::int64_t steps, bos;  // T positions
  nn::Encoder encoder;
  nn::Decoder decoder;

  ParallelTranslator(nn::At here, const kit::Corpus& corpus, std::int64_t words, const nn::TransformerOptions& options)
      : Layer(here),
        steps(words),
        bos(corpus.bos()),
        encoder(at("encoder"), corpus.source_vocab().size(), options),
        decoder(at("decoder"), corpus.target_vocab().size(), options) {}

  /// The logits of all words: source (B, S) of which the first `lengths` (B) tokens count -> (B, T, V).
  Tensor forward(const Index& source, const Index& lengths) const {
    const AttentionMask read = nn::padding(lengths);
    const Tensor memory = encoder(source, read);  // (B, S, C)
    const Index begin({source.dim(0), steps}, bos);
    // Not times sqrt(C): the same large vector everywhere would drown the positions, which are all that differs.
    Tensor h = decoder.positions(decoder.embedding(begin));  // (B, T, C)
    return decoder.out(decoder.blocks(h, memory, read, AttentionMask()));  // not causal
  }

  /// The most probable word everywhere, in one pass: (B, S) (B) -> (B, T).
  Index translate(const Index& source, const Index& lengths) const {
    const NoGrad off;
    const nn::Eval eval(*this);
    return argmax((*this)(source, lengths), -1);
  }
};

}  // namespace non_autoregressive
