// The base of language models.
#include "language_model.h"

#include <algorithm>

#include "../../core/array/shape_hints.h"
#include "../../core/graph/record.h"
#include "../../ops/indexing/index.h"
#include "../../ops/shape/join.h"
#include "../../ops/shape/slice.h"
#include "../layers/linear.h"

namespace xgrad::nn {
namespace {

constexpr std::int64_t most_capacity = 4096;  // of a cache's first block: few texts fill a context that is longer

// How many of its n tokens a text sees: all, until they fill the context; then the newer half of it goes on, to be
// filled again. It depends on n alone, so that it is the same for every text of a batch, read or written.
std::int64_t seen(std::int64_t n, std::int64_t context) {
  if (n <= context) return n;
  const std::int64_t half = context / 2;
  return half + 1 + (n - context - 1) % (context - half);
}

}  // namespace

Init detail::first_weights() { return init::normal({.std = first_std}); }

void detail::reset_linear_maps(const Module& model) {
  model.apply<Linear>([](const Linear& map) {
    init::reset(map.weight, first_weights());
    if (map.bias.defined()) init::reset(map.bias, init::zeros());
  });
}

void detail::check_ids(const char* op, const Index& ids, const char* name) {
  if (ids.rank() != 2) {
    fail<ShapeError>(op, "needs ", name, " (B, T), got ", ids.shape(),
                     xgrad::detail::batch_axis_hint(ids.shape(), Shape{-1}));
  }
}

void LanguageState::rewind(std::int64_t length) {
  detail::check_rewind("language_model", length, position);
  for (KeyValueCache& block : blocks) block.rewind(length);
  position = length;
}

void LanguageState::select(const Index& rows) {
  LanguageState next = *this;
  next.batch = index_select(Index(Shape{batch}, 0), 0, rows).size();
  for (KeyValueCache& block : next.blocks) block.select(rows);
  *this = std::move(next);
}

Tensor LanguageModel::operator()(const Index& ids) const {
  const ModuleScope here(*this, ids);
  check_ids(ids);
  return here(forward(ids));
}

Tensor LanguageModel::next(const Index& ids, LanguageState& state) const {
  const ModuleScope here(*this, ids);
  check_ids(ids, &state);
  Rewind undo(state);
  Tensor logits = here(forward(ids, state));
  state.position += ids.dim(1);
  return undo.keep(std::move(logits));
}

LanguageState LanguageModel::begin(std::int64_t batch) const {
  if (batch < 0) fail<ValueError>("language_model", "a batch of ", batch);
  const KeyValueCache none(std::min(context(), most_capacity));
  return {.blocks = std::vector(static_cast<std::size_t>(layers()), none), .batch = batch};
}

LanguageStepper LanguageModel::start(const Index& prompt, const std::optional<Index>& lengths) const {
  return {*this, prompt, lengths};
}

Decoded LanguageModel::generate(const Index& prompt, const SamplingOptions& options,
                                const std::optional<Index>& lengths) const {
  LanguageStepper text = start(prompt, lengths);
  return sample(text, options);
}

void LanguageModel::check_ids(const Index& ids, const LanguageState* state) const {
  detail::check_ids("language_model", ids);
  const std::int64_t before = state ? state->position : 0, T = ids.dim(1);
  if (state && ids.dim(0) != state->batch) {
    fail<ShapeError>("language_model", "ids ", ids.shape(), " with the state of ", state->batch, " texts");
  }
  if (state && T == 0) fail<ShapeError>("language_model", "no token to go on from: ids ", ids.shape());
  if (T > context() - before) {
    fail<ValueError>("language_model", T, " positions from ", before, " on, the context has ", context());
  }
}

LanguageStepper::LanguageStepper(const LanguageModel& model, const Index& prompt, const std::optional<Index>& lengths)
    : model_(model), prompt_(prompt) {
  constexpr const char* op = "language_model";
  const NoGrad off;
  const std::optional<Eval> eval = outside_of_training(model);
  detail::check_ids(op, prompt, "a prompt");
  const std::int64_t B = prompt.dim(0), T = prompt.dim(1);
  lengths_ = lengths.value_or(Index({B}, T));
  if (lengths_.shape() != Shape{B}) {
    fail<ShapeError>(op, "lengths of shape ", lengths_.shape(), " for a prompt ", prompt.shape());
  }
  read_ = T;
  for (const std::int64_t length : lengths_) {
    if (lengths && (length < 1 || length > T)) fail<ValueError>(op, "length ", length, " is not in [1, ", T, "]");
    read_ = std::min(read_, length);
  }
  text_ = slice(prompt, {_, slice(read_ - seen(read_, model.context()), read_)});
  state_ = model.begin(B);
  after_prompt_ = model.next(text_, state_);
}

std::vector<std::int64_t> LanguageStepper::before(std::int64_t b) const {
  const std::int64_t* const row = prompt_.data() + b * prompt_.dim(1);
  return {row, row + lengths_.at({b})};
}

std::optional<std::int64_t> LanguageStepper::given(std::int64_t b) const {
  return read_ < lengths_.at({b}) ? std::optional(prompt_.at({b, read_})) : std::nullopt;
}

Tensor LanguageStepper::step(const Index& tokens) {
  if (after_prompt_.defined()) return std::exchange(after_prompt_, Tensor());
  const std::optional<Eval> eval = outside_of_training(model_);
  Index ids = tokens.reshaped({-1, 1}), text = concat(std::vector{text_, ids}, 1);
  std::optional<LanguageState> anew;  // where the context is used up
  if (state_.position >= model_.context()) {
    const std::int64_t length = text.dim(1);
    text = slice(text, {_, slice(length - seen(read_ + 1, model_.context()), length)});
    ids = text;
    anew = model_.begin(state_.batch);
  }
  Tensor logits = model_.next(ids, anew ? *anew : state_);
  if (anew) state_ = std::move(*anew);
  text_ = std::move(text);
  ++read_;
  return logits;
}

void LanguageStepper::select(const Index& rows) {
  Index text = index_select(text_, 0, rows), prompt = index_select(prompt_, 0, rows),
        lengths = index_select(lengths_, 0, rows);
  Tensor selected = after_prompt_.defined() ? index_select(after_prompt_, 0, rows) : Tensor();
  state_.select(rows);
  text_ = std::move(text);
  prompt_ = std::move(prompt);
  lengths_ = std::move(lengths);
  after_prompt_ = std::move(selected);
}

}  // namespace xgrad::nn
