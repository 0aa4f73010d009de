// Decoding.
#include "decode.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "../../core/array/random.h"
#include "../../core/base/error.h"
#include "../../core/files/file.h"
#include "../../core/graph/record.h"
#include "../../ops/network/softmax.h"

namespace xgrad::nn {
namespace {

// The options that all ways of decoding share: those of greedy().
struct Limits : GreedyOptions {
  const char* op;

  bool ends(std::int64_t token) const { return eos.has(token); }
  /// The token that fills rows after their end.
  std::int64_t filler() const { return eos.tokens().empty() ? 0 : eos.tokens().front(); }
  bool changes_scores() const { return min_length > 0 || repetition_penalty != 1 || process; }
  /// Changes the scores of the token after `written`, of which `length` tokens are new.
  void change(std::span<const std::int64_t> written, std::int64_t length, std::span<Real> scores) const;
};

template <class Options>
Limits checked_limits(const char* op, const Options& options) {
  if (options.max_length < 1) fail<ValueError>(op, "max_length ", options.max_length, " is not positive");
  Limits limits{{.bos = options.bos, .eos = options.eos, .max_length = options.max_length}, op};
  if constexpr (requires { options.process; }) {
    limits.min_length = options.min_length;
    limits.repetition_penalty = options.repetition_penalty;
    limits.process = options.process;
    if (options.min_length < 0 || options.min_length > options.max_length) {
      fail<ValueError>(op, "min_length ", options.min_length, " is not in [0, ", options.max_length, "]");
    }
    if (!(options.repetition_penalty > 0) || std::isinf(options.repetition_penalty)) {
      fail<ValueError>(op, "repetition_penalty ", options.repetition_penalty, " is not positive and finite");
    }
  }
  return limits;
}

void Limits::change(std::span<const std::int64_t> written, std::int64_t length, std::span<Real> scores) const {
  if (repetition_penalty != 1) {
    std::vector<bool> seen(scores.size());
    for (const std::int64_t token : written) {
      const auto i = static_cast<std::size_t>(token);
      if (i >= seen.size() || seen[i]) continue;
      seen[i] = true;
      const double score = scores[i];
      scores[i] = static_cast<Real>(score > 0 ? score / repetition_penalty : score * repetition_penalty);
    }
  }
  if (length < min_length) {
    for (const std::int64_t end : eos.tokens()) scores[static_cast<std::size_t>(end)] = -infinity;
  }
  if (process) process(written, scores);
  for (const Real score : scores) {
    if (std::isnan(score)) fail<NumericError>(op, "a processed score is NaN");
  }
}

// ln of the probabilities of the next token, (B, V): p by the model, q after the changes that the options ask for.
struct Prediction {
  Array log_p, log_q;
};

// change(b, scores) applies the options to the logits of row b.
template <class Change>
Prediction next(const Limits& limits, Stepper& model, const Index& newest, const Change& change) {
  const Tensor logits = model.step(newest);
  const std::int64_t B = newest.size();
  if (logits.rank() != 2 || logits.dim(0) != B || logits.dim(1) < 1) {
    fail<ShapeError>(limits.op, "needs a step that gives (", B, ", V), got ", logits.shape());
  }
  const std::int64_t V = logits.dim(1);
  for (const std::int64_t end : limits.eos.tokens()) {
    if (end < 0 || end >= V) fail<ValueError>(limits.op, "eos ", end, " is not in [0, ", V, ")");
  }
  Array log_p = log_softmax(logits).value();
  for (std::int64_t i = 0; i < log_p.size(); ++i) {
    if (std::isnan(log_p.data()[i])) fail<NumericError>(limits.op, "row ", i / V, " of a step's logits holds NaN");
  }
  if (!limits.changes_scores()) return {log_p, log_p};
  Array changed = logits.value();
  Real* const row = changed.mutable_data();
  for (std::int64_t b = 0; b < B; ++b) change(b, std::span(row + b * V, static_cast<std::size_t>(V)));
  return {log_p, log_softmax(changed).value()};
}

std::span<const Real> row_of(const Array& log_p, std::int64_t row) {
  const auto V = static_cast<std::size_t>(log_p.dim(1));
  return {log_p.data() + static_cast<std::size_t>(row) * V, V};
}

// -- one sequence each ------------------------------------------------------------------------------------------------

struct Text {
  std::vector<std::int64_t> written;  // the prompt, too
  std::size_t begin;                  // after the prompt
  std::int64_t length = 0;            // without the end
  double log_p = 0;
  bool open = true;
};

Decoded decoded(const std::vector<Text>& texts, std::int64_t filler) {
  const std::int64_t B = std::ssize(texts);
  std::int64_t L = 0;
  for (const Text& text : texts) L = std::max(L, std::ssize(text.written) - static_cast<std::int64_t>(text.begin));
  Decoded result{.tokens = Index({B, L}, filler), .lengths = Index(Shape{B}), .scores = Array(Shape{B})};
  for (std::int64_t b = 0; b < B; ++b) {
    const Text& text = texts[static_cast<std::size_t>(b)];
    std::ranges::copy(std::span(text.written).subspan(text.begin), result.tokens.mutable_data() + b * L);
    result.lengths.mutable_data()[b] = text.length;
    result.scores.mutable_data()[b] = static_cast<Real>(text.log_p);
  }
  return result;
}

// Sequences that are written side by side: choose(b, t, log_q) is the token of sequence b at position t.
template <class Choose>
Decoded write(const Limits& limits, Stepper& model, const OnToken& on_token, const Choose& choose) {
  const NoGrad off;
  const std::int64_t B = model.batch();
  std::vector<Text> texts;
  for (std::int64_t b = 0; b < B; ++b) {
    std::vector<std::int64_t> prompt = model.before(b);
    const std::size_t begin = prompt.size();
    texts.push_back({.written = std::move(prompt), .begin = begin});
  }
  Index newest({B}, limits.bos);
  while (std::ranges::any_of(texts, &Text::open)) {
    const Prediction said = next(limits, model, newest, [&](std::int64_t b, std::span<Real> scores) {
      const Text& text = texts[static_cast<std::size_t>(b)];
      if (text.open && !model.given(b)) limits.change(text.written, text.length, scores);
    });
    newest = Index({B}, limits.filler());
    for (std::int64_t b = 0; b < B; ++b) {
      Text& text = texts[static_cast<std::size_t>(b)];
      if (!text.open) continue;
      const auto given = model.given(b);
      const std::int64_t token = given ? *given : choose(b, text.length, row_of(said.log_q, b));
      newest.mutable_data()[b] = token;
      if (given) continue;
      if (said.log_q.at({b, token}) == -infinity) {
        fail<NumericError>(limits.op, "no token has a probability above 0 in row ", b);
      }
      text.written.push_back(token);
      text.log_p += said.log_p.at({b, token});
      if (on_token) on_token(b, token);
      text.open = !limits.ends(token) && text.length + 1 < limits.max_length;
      text.length += !limits.ends(token);
    }
  }
  return decoded(texts, limits.filler());
}

void check_sampling(const char* op, const SamplingOptions& options) {
  if (!(options.temperature > 0) || std::isinf(options.temperature)) {
    fail<ValueError>(op, "temperature ", options.temperature, " is not positive and finite",
                     options.temperature == 0 ? "; greedy() takes the most probable token" : "");
  }
  if (options.top_k && *options.top_k < 1) fail<ValueError>(op, "top_k ", *options.top_k, " is not positive");
  if (!(options.top_p > 0 && options.top_p <= 1)) {
    fail<ValueError>(op, "top_p ", options.top_p, " is not in (0, 1]");
  }
}

// Numbers proportional to the probabilities that temperature and filters leave.
std::vector<double> sampling_weights(std::span<const Real> logits, const SamplingOptions& options) {
  const double largest = *std::ranges::max_element(logits);
  std::vector<double> weights;
  for (const Real logit : logits) weights.push_back(std::exp((logit - largest) / options.temperature));

  const std::size_t V = logits.size();
  const auto most = static_cast<std::int64_t>(V);
  const auto k = static_cast<std::size_t>(std::min(most, options.top_k.value_or(most)));
  if (k == V && options.top_p == 1) return weights;
  std::vector<std::size_t> order(V);
  std::iota(order.begin(), order.end(), 0);
  const auto larger = [&](std::size_t a, std::size_t b) {
    return logits[a] != logits[b] ? logits[a] > logits[b] : a < b;
  };
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(k), order.end(), larger);

  double total = 0, sum = 0;
  for (std::size_t i = 0; i < k; ++i) total += weights[order[i]];
  std::size_t count = 0;
  while (count < k && (count == 0 || sum < options.top_p * total)) sum += weights[order[count++]];
  for (std::size_t i = count; i < V; ++i) weights[order[i]] = 0;
  return weights;
}

// In [0, 1), on a grid of 2^-53.
double uniform(const RandomKey& key, std::uint64_t i) {
  const auto words = random_words(key, i);
  return ((words[0] >> 5) * 0x1p26 + (words[1] >> 6)) * 0x1p-53;
}

// The entry that u in [0, 1) falls on if each takes a share in proportion to its weight.
std::int64_t draw(const std::vector<double>& weights, double u) {
  double left = u * std::accumulate(weights.begin(), weights.end(), 0.0);
  std::size_t last = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] == 0) continue;
    last = i;
    left -= weights[i];
    if (left < 0) break;
  }
  return static_cast<std::int64_t>(last);
}

}  // namespace

Decoded greedy(Stepper& model, const GreedyOptions& options) {
  const auto choose = [](std::int64_t, std::int64_t, std::span<const Real> log_q) {
    return std::ranges::max_element(log_q) - log_q.begin();
  };
  const Limits limits = checked_limits("greedy", options);
  return write(limits, model, options.on_token, choose);
}

Array sampling_probabilities(const Array& logits, const SamplingOptions& options) {
  check_sampling("sampling_probabilities", options);
  if (logits.rank() != 2) fail<ShapeError>("sampling_probabilities", "needs (B, V), got ", logits.shape());
  const Array log_p = log_softmax(logits).value();
  Array result(logits.shape());
  Real* out = result.mutable_data();
  for (std::int64_t b = 0; b < logits.dim(0); ++b) {
    const std::span<const Real> row = row_of(log_p, b);
    if (!std::ranges::any_of(row, [](Real v) { return v > -infinity; })) {
      fail<NumericError>("sampling_probabilities", "row ", b, " holds NaN, or nothing above -inf");
    }
    const std::vector<double> weights = sampling_weights(row, options);
    const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
    for (const double weight : weights) *out++ = static_cast<Real>(weight / sum);
  }
  return result;
}

Decoded sample(Stepper& model, const SamplingOptions& options) {
  const Limits limits = checked_limits("sample", options);
  check_sampling("sample", options);
  const RandomKey key = options.seed ? RandomKey{.seed = *options.seed} : next_random_key();
  // A row has 2^32 numbers, more than it can have tokens.
  return write(limits, model, options.on_token, [&](std::int64_t b, std::int64_t t, std::span<const Real> log_q) {
    return draw(sampling_weights(log_q, options), uniform(key, static_cast<std::uint64_t>(b << 32 | t)));
  });
}

// -- search -----------------------------------------------------------------------------------------------------------

namespace {

// An unfinished sequence. The i-th of a list is in row i of the model's batch.
struct Open {
  std::int64_t of;  // which sequence of the batch it continues
  std::vector<std::int64_t> tokens = {};
  std::vector<std::int64_t> rows = {};
  double log_p = 0, log_q = 0;
};

// One more token for the open sequence in a row.
struct Continuation {
  std::int64_t row;
  std::int64_t token;
  double log_q;  // of the whole

  bool operator<(const Continuation& other) const {  // better
    if (log_q != other.log_q) return log_q > other.log_q;
    return row != other.row ? row < other.row : token < other.token;
  }
};

double score_of(double log_q, std::int64_t length, double alpha) {
  return log_q / std::pow(static_cast<double>(length), alpha);
}

// The best hypotheses for one sequence of the batch.
class Best {
 public:
  Best(std::int64_t count, double alpha) : count_(count), alpha_(alpha) {}

  void add(const Open& open, bool ended) {
    ended_ += ended;
    const double score = score_of(open.log_q, std::ssize(open.tokens), alpha_);
    if (full() && score <= list_.back().score) return;
    Hypothesis found{.tokens = open.tokens, .ended = ended, .log_p = open.log_p, .score = score, .rows = open.rows};
    if (ended) found.tokens.pop_back();
    const auto place = std::ranges::upper_bound(list_, score, std::greater(), &Hypothesis::score);
    list_.insert(place, std::move(found));
    if (std::ssize(list_) > count_) list_.pop_back();
  }

  std::int64_t ended() const { return ended_; }
  // Whether there are enough hypotheses, and all are better than this.
  bool all_above(double score) const { return full() && score < list_.back().score; }
  Hypotheses take() && { return std::move(list_); }

 private:
  bool full() const { return std::ssize(list_) == count_; }

  std::int64_t count_;
  double alpha_;
  std::int64_t ended_ = 0;
  Hypotheses list_;
};

// How many different sequences there are.
double possible_sequences(const Limits& limits, std::int64_t V) {
  const auto ends = static_cast<double>(limits.eos.tokens().size()), branches = static_cast<double>(V) - ends;
  if (branches == 1) return static_cast<double>(limits.max_length) * ends + 1;  // not one by one
  double open = 1, ended = 0;
  for (std::int64_t t = 0; t < limits.max_length && open > 0 && open < 1e18; ++t) {
    ended += open * ends;
    open *= branches;
  }
  return open + ended;
}

// Moves the model to the rows that the open sequences come from; costs nothing when they stay where they are.
void follow(Stepper& model, const std::vector<Open>& open, std::int64_t rows_before) {
  Index rows(Shape{std::ssize(open)});
  bool moved = rows.size() != rows_before;
  for (std::int64_t i = 0; i < rows.size(); ++i) {
    rows.mutable_data()[i] = open[static_cast<std::size_t>(i)].rows.back();
    moved |= rows.data()[i] != i;
  }
  if (moved) model.select(rows);
}

// One step for one sequence of the batch: its open continuations, and where they go on.
struct Turn {
  std::span<const Open> open;
  std::int64_t first_row;   // of open
  const Prediction& said;   // (rows, V)
  bool last;                // at max_length
  Best& best;               // gets what is complete
  std::vector<Open>& next;  // gets what stays open
};

// check(V) once, then advance(turn) for each sequence in each step.
template <class Check, class Advance>
std::vector<Hypotheses> search(const Limits& limits, Stepper& model, std::int64_t num_best, double alpha,
                               const Check& check, const Advance& advance) {
  if (num_best < 1) fail<ValueError>(limits.op, "num_best ", num_best, " is not positive");
  if (!std::isfinite(alpha)) fail<ValueError>(limits.op, "length_penalty ", alpha, " is not finite");
  const NoGrad off;
  for (std::int64_t b = 0; b < model.batch(); ++b) {
    if (model.given(b)) fail<ValueError>(limits.op, "prompts of unequal length; search after each by itself");
  }
  std::vector<std::vector<std::int64_t>> prompts;
  for (std::int64_t b = 0; b < model.batch(); ++b) prompts.push_back(model.before(b));
  std::vector<Best> best(static_cast<std::size_t>(model.batch()), Best(num_best, alpha));
  std::vector<Open> open;
  for (std::int64_t b = 0; b < model.batch(); ++b) open.push_back({.of = b});
  for (std::int64_t t = 0; t < limits.max_length && !open.empty(); ++t) {
    Index newest({std::ssize(open)}, limits.bos);
    for (std::size_t i = 0; t > 0 && i < open.size(); ++i) newest.mutable_data()[i] = open[i].tokens.back();
    const Prediction said = next(limits, model, newest, [&](std::int64_t row, std::span<Real> scores) {
      const Open& before = open[static_cast<std::size_t>(row)];
      std::vector<std::int64_t> written = prompts[static_cast<std::size_t>(before.of)];
      written.insert(written.end(), before.tokens.begin(), before.tokens.end());
      limits.change(written, t, scores);
    });
    if (t == 0) check(said.log_p.dim(1));
    const bool last = t + 1 == limits.max_length;
    std::vector<Open> next;
    for (auto from = open.begin(); from != open.end();) {
      const auto to = std::find_if(from, open.end(), [&](const Open& other) { return other.of != from->of; });
      advance(Turn{{from, to}, from - open.begin(), said, last, best[static_cast<std::size_t>(from->of)], next});
      from = to;
    }
    if (!last && !next.empty()) follow(model, next, std::ssize(open));
    open = std::move(next);
  }
  std::vector<Hypotheses> result;
  for (Best& list : best) result.push_back(std::move(list).take());
  for (const Hypotheses& list : result) {
    if (!list.empty()) continue;
    fail<NumericError>(limits.op, "sequence ", &list - result.data(),
                       " has no continuation with a probability above 0");
  }
  return result;
}

// Calls f(continuation) for every token after every open sequence that has a probability q above 0.
template <class F>
void each_continuation(const Turn& turn, const F& f) {
  for (std::size_t i = 0; i < turn.open.size(); ++i) {
    const std::int64_t row = turn.first_row + static_cast<std::int64_t>(i);
    const std::span<const Real> log_q = row_of(turn.said.log_q, row);
    for (std::size_t token = 0; token < log_q.size(); ++token) {
      if (log_q[token] == -infinity) continue;
      f(Continuation{row, static_cast<std::int64_t>(token), turn.open[i].log_q + log_q[token]});
    }
  }
}

// The `count` best continuations, the best first.
std::vector<Continuation> best_continuations(const Turn& turn, std::size_t count) {
  std::vector<Continuation> heap;  // the worst of them is in front
  each_continuation(turn, [&](const Continuation& way) {
    if (heap.size() == count) {
      if (!(way < heap.front())) return;
      std::ranges::pop_heap(heap, std::less());
      heap.pop_back();
    }
    heap.push_back(way);
    std::ranges::push_heap(heap, std::less());
  });
  std::ranges::sort_heap(heap, std::less());
  return heap;
}

Open extended(const Turn& turn, const Continuation& way) {
  Open longer = turn.open[static_cast<std::size_t>(way.row - turn.first_row)];
  longer.tokens.push_back(way.token);
  longer.rows.push_back(way.row);
  longer.log_p += turn.said.log_p.at({way.row, way.token});
  longer.log_q = way.log_q;
  return longer;
}

}  // namespace

std::vector<Hypotheses> beam_search(Stepper& model, const BeamOptions& options) {
  const Limits limits = checked_limits("beam_search", options);
  const std::int64_t k = options.num_beams;
  if (k < 1) fail<ValueError>("beam_search", "num_beams ", k, " is not positive");
  const auto check = [&](std::int64_t V) {
    const double possible = possible_sequences(limits, V);
    if (static_cast<double>(k) > possible) {
      fail<ValueError>("beam_search", "num_beams ", k, " of ", possible, " possible sequences of at most ",
                       limits.max_length, " of ", V, " tokens");
    }
  };

  // With a penalty, an improbable sequence may still gain by its length.
  const bool may_gain = options.stopping == Stopping::impossible && options.length_penalty > 0;
  const auto done = [&](const Best& best, const Open& most_probable) {
    if (options.stopping == Stopping::enough) return best.ended() >= k;
    const std::int64_t length = may_gain ? limits.max_length : std::ssize(most_probable.tokens);
    return best.all_above(score_of(most_probable.log_q, length, options.length_penalty));
  };
  const auto advance = [&](const Turn& turn) {
    const std::size_t before = turn.next.size();
    std::int64_t rank = 0, open = 0;
    // At most this many continuations of a row are ends, so k others remain.
    const std::size_t ends = limits.eos.tokens().size();
    for (const Continuation& way : best_continuations(turn, (1 + ends) * static_cast<std::size_t>(k))) {
      const bool is_end = limits.ends(way.token), complete = is_end || turn.last;
      const bool chosen = complete ? rank < k : open < k;
      ++rank;
      if (!chosen) continue;
      Open longer = extended(turn, way);
      if (complete || options.candidates == Candidates::prefixes) turn.best.add(longer, is_end);
      if (complete) continue;
      turn.next.push_back(std::move(longer));
      ++open;
    }
    if (open > 0 && done(turn.best, turn.next[before])) turn.next.resize(before);
  };
  return search(limits, model, options.num_best, options.length_penalty, check, advance);
}

std::vector<Hypotheses> exhaustive_search(Stepper& model, const ExhaustiveOptions& options) {
  const Limits limits = checked_limits("exhaustive_search", options);
  const auto check = [&](std::int64_t V) {
    const double possible = possible_sequences(limits, V);
    if (possible > static_cast<double>(options.max_sequences)) {
      fail<LimitError>("exhaustive_search", possible, " sequences of at most ", limits.max_length, " of ", V,
                       " tokens are more than ", options.max_sequences);
    }
    // Before the last step, where each open sequence takes at least this much memory.
    const auto steps = static_cast<double>(limits.max_length - 1);
    const auto branches = static_cast<double>(V - std::ssize(limits.eos.tokens()));
    const double open = static_cast<double>(model.batch()) * std::pow(branches, steps);
    const double bytes = static_cast<double>(sizeof(Open)) + 2.0 * sizeof(std::int64_t) * steps;
    if (open * bytes > static_cast<double>(machine_memory())) {
      fail<LimitError>("exhaustive_search", open, " open sequences of ", limits.max_length - 1,
                       " tokens do not fit in memory");
    }
  };
  const auto advance = [&](const Turn& turn) {
    each_continuation(turn, [&](const Continuation& way) {
      const bool ends = limits.ends(way.token);
      Open longer = extended(turn, way);
      if (ends || turn.last) {
        turn.best.add(longer, ends);
      } else {
        turn.next.push_back(std::move(longer));
      }
    });
  };
  return search(limits, model, options.num_best, options.length_penalty, check, advance);
}

Decoded best_of(const std::vector<Hypotheses>& found, std::int64_t eos) {
  const std::int64_t B = std::ssize(found);
  std::int64_t L = 0;
  for (const Hypotheses& list : found) {
    if (list.empty()) fail<ValueError>("best_of", "sequence ", &list - found.data(), " has no hypothesis");
    L = std::max<std::int64_t>(L, std::ssize(list.front().tokens) + list.front().ended);
  }
  Decoded result{.tokens = Index({B, L}, eos), .lengths = Index(Shape{B}), .scores = Array(Shape{B})};
  for (std::int64_t b = 0; b < B; ++b) {
    const Hypothesis& best = found[static_cast<std::size_t>(b)].front();
    std::ranges::copy(best.tokens, result.tokens.mutable_data() + b * L);
    result.lengths.mutable_data()[b] = std::ssize(best.tokens);
    result.scores.mutable_data()[b] = static_cast<Real>(best.log_p);
  }
  return result;
}

}  // namespace xgrad::nn
