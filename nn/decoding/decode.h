// Decoding: choosing tokens one after the other from a model that gives the logits of the next. Greedy, exhaustive and
// beam search, and sampling, for every model that is a Stepper.
//
//     auto decoding = model.start(source, lengths);                  // nn::EncoderDecoder, nn::Seq2Seq
//     const auto found = nn::beam_search(decoding, {.bos = bos, .eos = eos, .num_beams = 4});
//     const nn::Hypothesis& best = found[b].front();                 // of sequence b
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

/// A model in the middle of writing B sequences, as every search sees it. When step() or select() throws, the model
/// should be unchanged, so that it can be asked again; those of the library are.
///
/// Threads: one at a time; several may decode with steppers of their own from one model.
class Stepper {
 public:
  virtual ~Stepper() = default;
  /// B
  virtual std::int64_t batch() const = 0;
  /// Takes the newest token of each sequence, tokens (B), and gives the logits of the next, (B, V).
  virtual Tensor step(const Index& tokens) = 0;
  /// Goes on with sequence rows[i] as the i-th: some may be dropped, others doubled.
  virtual void select(const Index& rows) = 0;
  /// The prompt of sequence b: the tokens before its first one.
  virtual std::vector<std::int64_t> before(std::int64_t) const { return {}; }
  /// The next token of sequence b if it is given: its prompt is longer than another's, and goes on.
  virtual std::optional<std::int64_t> given(std::int64_t) const { return {}; }
};

/// A decoder that goes on from a state, for all searches; it runs in evaluation mode. The decoder must outlive it.
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

/// The tokens that end a sequence: none, one, `.eos = 2`, or any of several, `.eos = {2, 5}`.
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

/// Changes the scores of the next token, one for each of the V, given the tokens so far, the prompt included:
/// -infinity forbids a token. Scores are logits.
using LogitsProcessor = std::function<void(std::span<const std::int64_t> written, std::span<Real> scores)>;

// All searches record no graph. All throw ValueError for a max_length below 1 and for an eos that is not in [0, V),
// ShapeError if a step gives no (B, V), NumericError if its logits are NaN or leave no token with a probability above
// 0. Tokens that the model does not know are refused by the model.
//
// All have these options, too: before min_length tokens no end is written; repetition_penalty (Keskar et al. 2019)
// divides the score of a token that was written before, if it is positive, and multiplies it otherwise; `process` is
// called last. All three change the logits, and softmax of the changed ones, q, is what tokens are chosen by; what is
// reported, `scores` and `log_p`, is ln p by the model's own logits. They throw ValueError for a min_length that is
// negative or above max_length and a repetition_penalty that is not positive and finite.

// -- one sequence each ------------------------------------------------------------------------------------------------

/// Finished sequences, side by side.
struct [[nodiscard]] Decoded {
  Index tokens;   ///< (B, L) without bos; from the end of a sequence on eos, the first of several
  Index lengths;  ///< (B) tokens before eos, max_length if it did not come
  Array scores;   ///< (B) ln p of the sequence, with the eos that ends it
};

/// A callback for each token as it is written, in row b of the batch: to print it, for example.
using OnToken = std::function<void(std::int64_t b, std::int64_t token)>;

struct GreedyOptions {
  std::int64_t bos = 0;  ///< every sequence begins after this token
  Ends eos = {};         ///< a sequence ends with one of these; without, at max_length
  std::int64_t max_length = 100;
  std::int64_t min_length = 0;
  double repetition_penalty = 1;
  LogitsProcessor process = {};
  OnToken on_token = {};
};
/// Takes the most probable token at every step, the first of equal ones, until all sequences have ended or are
/// max_length long.
Decoded greedy(Stepper& model, const GreedyOptions& options);

struct SamplingOptions {
  std::int64_t bos = 0;
  Ends eos = {};
  std::int64_t max_length = 100;
  double temperature = 1;                  ///< below 1 the probable tokens become more so, above 1 less
  std::optional<std::int64_t> top_k = {};  ///< only so many tokens take part, the most probable
  double top_p = 1;                        ///< only the fewest that have this much probability together
  std::optional<Seed> seed = {};           ///< if not given, the next draw of the generator
  std::int64_t min_length = 0;
  double repetition_penalty = 1;
  LogitsProcessor process = {};
  OnToken on_token = {};
};
/// The probabilities from which a token is drawn, (B, V) from logits (B, V), rows that sum to 1:
///
///     softmax(logits / temperature)
///     then all but the top_k largest are 0
///     then all but the fewest of the largest whose share of the rest is at least top_p (Holtzman et al. 2020)
///
/// in this order, as Hugging Face has it. Of equal tokens the first count as larger. A top_k above V keeps all.
/// Throws ShapeError unless logits are (B, V); ValueError unless temperature > 0 and finite (for 0 there is greedy()),
/// top_k >= 1, 0 < top_p <= 1; NumericError.
Array sampling_probabilities(const Array& logits, const SamplingOptions& options);
/// Draws every token from sampling_probabilities. A sequence's tokens depend on the seed, its row and its logits, not
/// on the rest of the batch or max_length. The scores are by the model's own probabilities, before temperature and
/// filters. To draw several times after the same beginning, select its row several times first. Throws as above.
Decoded sample(Stepper& model, const SamplingOptions& options);

// -- search -----------------------------------------------------------------------------------------------------------

/// A sequence that a search found.
struct [[nodiscard]] Hypothesis {
  std::vector<std::int64_t> tokens = {};  ///< without bos and eos
  bool ended = false;                     ///< whether eos came
  double log_p = 0;                       ///< ln p of the tokens, and of the eos that ended them
  double score = 0;                       ///< of the search: ln q / L^alpha; L counts the tokens and that eos
  /// The row of the model's batch in which each of the L tokens was chosen: logits and attention weights of step t for
  /// this sequence are in row rows[t].
  std::vector<std::int64_t> rows = {};
};
/// The best first; of equal scores, the one that was found first.
using Hypotheses = std::vector<Hypothesis>;

/// The sequences that a search may return.
enum class Candidates {
  complete,  ///< sequences that have ended or are max_length long
  prefixes,  ///< also all that were in the beam on the way ("Dive into Deep Learning", section 10.8)
};

/// When a beam search is done with a sequence, if open hypotheses are left.
enum class Stopping {
  enough,      ///< as soon as num_beams have ended (Hugging Face: early_stopping = True)
  unlikely,    ///< when the best open one, scored as it stands, would not be returned (False)
  impossible,  ///< when no open one can become so good that it would be returned ("never")
};

struct BeamOptions {
  std::int64_t bos = 0;
  Ends eos = {};
  std::int64_t max_length = 100;
  std::int64_t num_beams = 4;    ///< k
  double length_penalty = 0.75;  ///< alpha
  Stopping stopping = Stopping::enough;
  Candidates candidates = Candidates::complete;
  std::int64_t num_best = 1;  ///< return so many hypotheses, or as many as there are
  std::int64_t min_length = 0;
  double repetition_penalty = 1;
  LogitsProcessor process = {};
};
/// Keeps at every step the k most probable prefixes that have not ended, and returns those with the best
///
///     score = 1/L^alpha sum_t ln q(y_t | y_1 ... y_{t-1})
///
/// of all that ended among the k most probable ones, or were open at max_length. q is p unless min_length,
/// repetition_penalty or process change it. One list for each sequence of the batch. With k = 1 and Stopping::enough it
/// is greedy(), with k so large that nothing is dropped exhaustive_search(). The model selects rows only when they
/// really change. Throws ValueError for num_beams < 1 or more than there are sequences, num_best < 1, a length_penalty
/// that is not finite, and prompts of unequal length; NumericError, too, if nothing possible is left in the beam.
std::vector<Hypotheses> beam_search(Stepper& model, const BeamOptions& options);

struct ExhaustiveOptions {
  std::int64_t bos = 0;
  Ends eos = {};
  std::int64_t max_length = 5;
  double length_penalty = 0;  ///< 0: the most probable sequence
  std::int64_t num_best = 1;
  std::int64_t max_sequences = 1'000'000;  ///< more than this are refused
};
/// Looks at all sequences that end or are max_length long, (V - 1)^max_length and more, and returns the best for each
/// of the batch. Throws LimitError, after the first step, if there are more than max_sequences, or more
/// than memory can hold side by side; ValueError as beam_search.
std::vector<Hypotheses> exhaustive_search(Stepper& model, const ExhaustiveOptions& options);

/// The first hypothesis of each sequence in the form of greedy(), shorter ones filled up with eos. Throws ValueError
/// for a sequence without a hypothesis.
Decoded best_of(const std::vector<Hypotheses>& found, std::int64_t eos);

}  // namespace xgrad::nn
