// Seq2Seq: translation with recurrent layers. An encoder reads the source, a decoder writes the target word by word.
//
//     nn::Seq2Seq model{nn::root, source_vocab.size(), target_vocab.size(), {.context = nn::Context::attention}};
//     const Tensor logits = model(source, lengths, nn::shift_right(target, bos));     // (B, T, V), for training
//     const nn::Eval eval(model);
//     auto decoding = model.start(source, lengths);
//     const nn::Decoded result = nn::greedy(decoding, {.bos = bos, .eos = eos});
#pragma once

#include "../attention/attention_scores.h"
#include "../containers/maybe.h"
#include "../decoding/decode.h"
#include "../layer.h"
#include "../layers/embedding.h"
#include "../layers/linear.h"
#include "../layers/recurrent.h"

namespace xgrad::nn {

/// How a decoder gets information about the source.
enum class Context {
  initial_state,  ///< only from its initial state, the final states of the encoder (Sutskever, Vinyals, Le 2014)
  every_step,     ///< also from the last state of the encoder, joined to every input and output (Cho et al. 2014)
  mean,           ///< also from the mean of all states of the encoder, joined in the same way
  attention,      ///< also from attention: at each step, the state of the decoder attends to all states of the encoder;
                  ///< the weighted sum is joined to input and output (Bahdanau, Cho, Bengio 2015)
};

struct Seq2SeqOptions {
  Context context = Context::attention;
  std::int64_t embed = 32;      ///< e, width of the embeddings
  std::int64_t hidden = 32;     ///< h, width of the states
  std::int64_t layers = 2;      ///< number of layers of the encoder, and of the decoder
  double dropout = 0;           ///< dropout probability between layers
  bool reverse_source = false;  ///< read the source backward, so that its first word is nearest to the target
};

/// The encoder: embedding and GRU.
struct Seq2SeqEncoder : Layer<Seq2SeqEncoder> {
  using Options = Seq2SeqOptions;

  /// Throws ValueError for sizes below 1 or a dropout outside [0, 1].
  Seq2SeqEncoder(At here, std::int64_t vocabulary, const Options& options);

  /// ids (B, S), of which the first `lengths` (B) are valid. The result has output (B, S, h), the states of the last
  /// layer, and h (layers, B, h), the final states of all layers. Throws what GRU throws.
  Recurrence forward(const Index& ids, const Index& lengths) const;

  const bool reverse;
  Embedding embedding;
  GRU gru;
};

/// The state of a decoder between two steps. If a step or select() throws, it is unchanged.
struct Seq2SeqState {
  static constexpr bool restored_by_copy = true;

  Tensor h;        ///< (layers, B, h): the states of the decoder
  Tensor context;  ///< (B, h): the last state of the encoder, or the mean of its states for Context::mean
  Tensor memory;   ///< (B, S, h): all states of the encoder
  AttentionMask memory_mask;

  std::int64_t batch() const { return context.dim(0); }
  /// Row rows[i] of the batch becomes row i. Throws ValueError for a row that does not exist.
  void select(const Index& rows);
};

/// The decoder: embedding, GRU, and a linear map to the logits.
struct Seq2SeqDecoder : Layer<Seq2SeqDecoder> {
  using Options = Seq2SeqOptions;

  /// Throws ValueError for sizes below 1 or a dropout outside [0, 1].
  Seq2SeqDecoder(At here, std::int64_t vocabulary, const Options& options);

  /// ids (B, T) are the next T tokens -> logits (B, T, V) of the token after each. Advances the state. Throws
  /// ShapeError if ids and state differ in batch size.
  Tensor forward(const Index& ids, Seq2SeqState& state) const;

  const Context context;
  Embedding embedding;
  GRU gru;
  Linear out;
  Maybe<AdditiveAttention> attention;  ///< present for Context::attention

 private:
  // T steps of x (B, T, e) with the same context `seen` (B, 1, h), or without one if `seen` is undefined.
  Tensor next(const Tensor& x, const Tensor& seen, Seq2SeqState& state) const;
};

/// The result of Seq2Seq::start, for greedy(), sample() and beam_search().
using Seq2SeqStepper = StateStepper<Seq2SeqDecoder, Seq2SeqState>;

/// The whole model, from tokens of one language to tokens of another.
struct Seq2Seq : Layer<Seq2Seq> {
  using Options = Seq2SeqOptions;

  /// Throws ValueError for sizes below 1 or a dropout outside [0, 1].
  Seq2Seq(At here, std::int64_t source_vocabulary, std::int64_t target_vocabulary, const Options& options = {});
  explicit Seq2Seq(Placeless, ...);  ///< compile error: the first argument must be at("name") or root

  /// Teacher forcing: source (B, S), of which the first `lengths` (B) tokens are valid, target (B, T) -> logits (B, T,
  /// V).
  Tensor forward(const Index& source, const Index& lengths, const Index& target) const;
  /// Starts decoding from the beginning. Records no graph.
  Seq2SeqStepper start(const Index& source, const Index& lengths) const;

  Seq2SeqEncoder encoder;
  Seq2SeqDecoder decoder;

 private:
  Seq2SeqState read(const Index& source, const Index& lengths) const;
};

}  // namespace xgrad::nn
