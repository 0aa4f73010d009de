// Decoding: choosing tokens one after the other from a model that gives the logits of the next token. There are greedy
// decoding, sampling, beam search and exhaustive search, for every model that is a Stepper.
//
//     auto decoding = model.start(source, lengths);                  // nn::EncoderDecoder, nn::Seq2Seq
//     const auto found = nn::beam_search(decoding, {.bos = bos, .eos = eos, .num_beams = 4});
//     const nn::Hypothesis& best = found[b].front();                 // the best one for sequence b
#pragma once

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "../../core/array/random.h"
#include "../../core/graph/tensor.h"
#include "../../ops/shape/shape.h"
#include "../base/rewind.h"
#include "../module.h"

namespace xgrad::nn {

/// A model that is generating B sequences: the interface that all searches use. If step() or select() throws, the model
/// should be unchanged, so that the call can be repeated. The steppers of the library fulfil this.
///
/// Threads: one thread at a time per stepper. Several threads may decode from one model, each with its own stepper.
class Stepper {
 public:
  virtual ~Stepper() = default;
  /// B, the number of sequences.
  virtual std::int64_t batch() const = 0;
  /// Reads the newest token of each sequence, tokens (B), and returns the logits of the next token, (B, V).
  virtual Tensor step(const Index& tokens) = 0;
  /// Sequence rows[i] becomes sequence i. Sequences may be dropped or repeated.
  virtual void select(const Index& rows) = 0;
  /// The prompt of sequence b: the tokens before the first generated one.
  virtual std::vector<std::int64_t> before(std::int64_t) const { return {}; }
  /// The next token of sequence b, if its prompt determines it. With prompts of unequal length, shorter sequences are
  /// continued while longer prompts are still read.
  virtual std::optional<std::int64_t> given(std::int64_t) const { return {}; }
};

/// A Stepper made of a decoder and its state. Steps run in evaluation mode. The decoder must outlive the stepper.
template <class Decoder, class State>
class StateStepper : public Stepper {
 public:
  StateStepper(const Decoder& decoder, State state) : decoder_(decoder), state_(std::move(state)) {}

  std::int64_t batch() const override { return state_.batch(); }
  Tensor step(const Index& tokens) override {
    const std::optional<Eval> eval = outside_of_training(decoder_);
    Rewind undo(state_);
    return undo.keep(squeeze(decoder_(tokens.reshaped({-1, 1}), state_), {1}));  // (B, V)
  }
  void select(const Index& rows) override { state_.select(rows); }

 private:
  const Decoder& decoder_;
  State state_;
};

/// The tokens that end a sequence: none, one (`.eos = 2`), or any of several (`.eos = {2, 5}`).
class Ends {
 public:
  Ends() = default;
  Ends(std::int64_t token) : tokens_{token} {}
  Ends(std::initializer_list<std::int64_t> tokens) : tokens_(tokens) {}
  Ends(std::vector<std::int64_t> tokens) : tokens_(std::move(tokens)) {}
  Ends(const std::optional<std::int64_t>& token) {
    if (token) tokens_ = {*token};
  }

  const std::vector<std::int64_t>& tokens() const { return tokens_; }
  bool has(std::int64_t token) const { return std::ranges::find(tokens_, token) != tokens_.end(); }

 private:
  std::vector<std::int64_t> tokens_;
};

/// A function that changes the scores of the next token, one score for each of the V tokens. `written` are the tokens
/// so far, the prompt included. Scores are logits; -infinity forbids a token.
using LogitsProcessor = std::function<void(std::span<const std::int64_t> written, std::span<Real> scores)>;

// No search records a graph. All throw ValueError for a max_length below 1 or an eos outside [0, V). They throw
// ShapeError if a step does not return (B, V), and NumericError if the logits are NaN or no token has a probability
// above 0. The model refuses tokens that it does not know.
//
// Except for exhaustive_search, all have three options that change the logits. No sequence ends before it has
// min_length tokens. repetition_penalty (Keskar et al. 2019) divides positive scores of tokens that were written
// before, and multiplies negative ones. `process` is called last. Tokens are chosen by q, the softmax of the changed
// logits. The results `scores` and `log_p` are ln p, p the softmax of the model's logits. All throw ValueError for a
// min_length that is negative or above max_length, and for a repetition_penalty that is not positive and finite.

// -- one sequence for each row ----------------------------------------------------------------------------------------

/// Finished sequences, one in each row.
struct [[nodiscard]] Decoded {
  Index tokens;   ///< (B, L) without bos; short rows are padded with eos, the first if there are several
  Index lengths;  ///< (B) tokens before eos; max_length if there is no eos
  Array scores;   ///< (B) ln p of the sequence, including the eos that ends it
};

/// A callback for each token that is written in row b of the batch, for example to print it.
using OnToken = std::function<void(std::int64_t b, std::int64_t token)>;

struct GreedyOptions {
  std::int64_t bos = 0;  ///< the token before every sequence
  Ends eos = {};         ///< the tokens that end a sequence; if there are none, all end at max_length
  std::int64_t max_length = 100;
  std::int64_t min_length = 0;
  double repetition_penalty = 1;
  LogitsProcessor process = {};
  OnToken on_token = {};
};
/// Chooses the most probable token at every step, and among equally probable ones the first. Stops when all sequences
/// have ended or have max_length tokens.
Decoded greedy(Stepper& model, const GreedyOptions& options);

struct SamplingOptions {
  std::int64_t bos = 0;
  Ends eos = {};
  std::int64_t max_length = 100;
  double temperature = 1;                  ///< below 1 probable tokens become more probable, above 1 less probable
  std::optional<std::int64_t> top_k = {};  ///< draw only from the top_k most probable tokens
  double top_p = 1;                        ///< draw only from the smallest set with a probability of at least top_p
  std::optional<Seed> seed = {};           ///< if not given, the next draw of the thread's generator
  std::int64_t min_length = 0;
  double repetition_penalty = 1;
  LogitsProcessor process = {};
  OnToken on_token = {};
};
/// The probabilities from which a token is drawn, (B, V) from logits (B, V). Each row sums to 1:
///
///     1. softmax(logits / temperature)
///     2. all but the top_k largest probabilities become 0
///     3. of these, only the largest stay: as few as sum to a fraction top_p or more (Holtzman et al. 2020)
///
/// The order of the steps is the same as in Hugging Face. Of equal probabilities, the first token counts as larger. A
/// top_k above V keeps all tokens. Throws ShapeError unless logits are (B, V), and NumericError for a row with NaN or
/// without a logit above -infinity. Throws ValueError unless temperature > 0 and finite (for 0 use greedy()), top_k >=
/// 1 and 0 < top_p <= 1.
Array sampling_probabilities(const Array& logits, const SamplingOptions& options);
/// Draws every token from sampling_probabilities. The tokens of a sequence depend on the seed, its row and its logits,
/// not on the other sequences or on max_length. The scores are ln p of the model, before temperature and filters. To
/// draw several continuations of one beginning, first select its row several times. Throws what sampling_probabilities
/// throws.
Decoded sample(Stepper& model, const SamplingOptions& options);

// -- several sequences for each row -----------------------------------------------------------------------------------

/// A sequence that a search found.
struct [[nodiscard]] Hypothesis {
  std::vector<std::int64_t> tokens = {};  ///< without bos and eos
  bool ended = false;                     ///< whether eos ended it
  double log_p = 0;                       ///< ln p of the tokens, including the eos that ends them
  double score = 0;                       ///< ln q / L^alpha; L counts the tokens and the final eos
  /// For each of the L tokens, the row of the model's batch in which it was chosen: the logits and attention weights of
  /// step t for this sequence are in row rows[t].
  std::vector<std::int64_t> rows = {};
};
/// Hypotheses by descending score; of equal scores, the one that was found first comes first.
using Hypotheses = std::vector<Hypothesis>;

/// The sequences that a search may return.
enum class Candidates {
  complete,  ///< sequences that have ended or are max_length long
  prefixes,  ///< also all prefixes that were in the beam ("Dive into Deep Learning", section 10.8)
};

/// The condition that ends a beam search for a sequence while hypotheses are still open.
enum class Stopping {
  enough,      ///< as soon as num_beams hypotheses have ended (Hugging Face: early_stopping = True)
  unlikely,    ///< when the current score of the best open hypothesis is too low to be returned (False)
  impossible,  ///< when no open hypothesis can reach a score at which it would be returned ("never")
};

struct BeamOptions {
  std::int64_t bos = 0;
  Ends eos = {};
  std::int64_t max_length = 100;
  std::int64_t num_beams = 4;    ///< k, the number of prefixes that each step keeps
  double length_penalty = 0.75;  ///< alpha, the exponent of the length in the score
  Stopping stopping = Stopping::enough;
  Candidates candidates = Candidates::complete;
  std::int64_t num_best = 1;  ///< maximum number of hypotheses to return
  std::int64_t min_length = 0;
  double repetition_penalty = 1;
  LogitsProcessor process = {};
};
/// Beam search. Keeps at every step the k most probable prefixes that have not ended. It returns the hypotheses with
/// the highest
///
///     score = 1/L^alpha sum_t ln q(y_t | y_1 ... y_{t-1})
///
/// Candidates are the hypotheses that ended among the k most probable ones, or were open at max_length. q is p unless
/// min_length, repetition_penalty or process change it. Returns one list for each sequence of the batch. With k = 1 and
/// Stopping::enough it is greedy(); with a k so large that nothing is dropped it is exhaustive_search(). select() is
/// called only if rows change. Throws ValueError for num_beams < 1 or above the number of possible sequences, num_best
/// < 1, a length_penalty that is not finite, or prompts of unequal length. Throws NumericError also if no hypothesis
/// with a probability above 0 is left.
std::vector<Hypotheses> beam_search(Stepper& model, const BeamOptions& options);

struct ExhaustiveOptions {
  std::int64_t bos = 0;
  Ends eos = {};
  std::int64_t max_length = 5;
  double length_penalty = 0;  ///< alpha, see beam_search; 0 finds the most probable sequence
  std::int64_t num_best = 1;
  std::int64_t max_sequences = 1'000'000;  ///< limit of the number of sequences
};
/// Scores all sequences that end or have max_length tokens, at least (V - 1)^max_length, and returns the best for each
/// row of the batch. Throws LimitError, after the first step, if there are more than max_sequences or if they do not
/// fit in memory. Throws ValueError for the options that beam_search refuses.
std::vector<Hypotheses> exhaustive_search(Stepper& model, const ExhaustiveOptions& options);

/// The first hypothesis of each sequence in the form that greedy() returns; shorter ones are padded with eos. Throws
/// ValueError for a sequence without a hypothesis.
Decoded best_of(const std::vector<Hypotheses>& found, std::int64_t eos);

}  // namespace xgrad::nn
