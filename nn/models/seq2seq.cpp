// Sequence to sequence with recurrent layers.
#include "seq2seq.h"

#include "../../core/graph/record.h"
#include "../../ops/creation/create.h"
#include "../../ops/elementwise/arithmetic.h"
#include "../../ops/indexing/index.h"
#include "../../ops/reduce/reduce.h"
#include "../../ops/shape/broadcast.h"
#include "../../ops/shape/join.h"
#include "../../ops/shape/shape.h"
#include "../../ops/shape/slice.h"

namespace xgrad::nn {
namespace {

GRUOptions gru_options(const Seq2SeqOptions& options) { return {.layers = options.layers, .dropout = options.dropout}; }

// The width with the context, which is added to the inputs of the GRU and of the last map.
std::int64_t wider(std::int64_t width, const Seq2SeqOptions& options) {
  return options.context == Context::initial_state ? width : checked_add("seq2seq", width, options.hidden);
}

// The first lengths[b] of the ids (B, S) of each row b in reverse order, the others where they are.
Index reversed_within(const Index& ids, const Index& lengths) {
  if (ids.rank() != 2 || lengths.shape() != Shape{ids.dim(0)}) {
    fail<ShapeError>("reversed_within", "ids ", ids.shape(), " with lengths ", lengths.shape());
  }
  const std::int64_t S = ids.dim(1);
  Index result = ids;
  std::int64_t* row = result.mutable_data();
  for (std::int64_t b = 0; b < lengths.size(); ++b, row += S) {
    const std::int64_t length = lengths.data()[b];
    if (length < 0 || length > S) {
      fail<ValueError>("reversed_within", "length ", length, " of row ", b, " is not in [0, ", S, "]");
    }
    std::reverse(row, row + length);
  }
  return result;
}

}  // namespace

Seq2SeqEncoder::Seq2SeqEncoder(At here, std::int64_t vocabulary, const Options& options)
    : Layer(std::move(here)),
      reverse(options.reverse_source),
      embedding(at("embedding"), vocabulary, options.embed),
      gru(at("gru"), options.embed, options.hidden, gru_options(options)) {}

Recurrence Seq2SeqEncoder::forward(const Index& ids, const Index& lengths) const {
  return gru(embedding(reverse ? reversed_within(ids, lengths) : ids), {.lengths = lengths});
}

void Seq2SeqState::select(const Index& rows) {
  *this = Seq2SeqState{.h = index_select(h, 1, rows),
                       .context = index_select(context, 0, rows),
                       .memory = index_select(memory, 0, rows),
                       .memory_mask = select_rows(memory_mask, rows)};
}

Seq2SeqDecoder::Seq2SeqDecoder(At here, std::int64_t vocabulary, const Options& options)
    : Layer(std::move(here)),
      context(options.context),
      embedding(at("embedding"), vocabulary, options.embed),
      gru(at("gru"), wider(options.embed, options), options.hidden, gru_options(options)),
      out(at("out"), wider(options.hidden, options), vocabulary),
      attention(at("attention"), context == Context::attention,
                AdditiveAttentionOptions{.query = options.hidden, .key = options.hidden, .hidden = options.hidden}) {}

Tensor Seq2SeqDecoder::forward(const Index& ids, Seq2SeqState& state) const {
  const Tensor x = embedding(ids);  // (B, T, e)
  if (context != Context::attention) {
    return next(x, context == Context::initial_state ? Tensor() : unsqueeze(state.context, 1), state);
  }
  // Each step asks with the top layer's state before it, so the steps must be taken one after the other.
  Tensors logits;
  for (const Tensor& step : split(x, std::vector<std::int64_t>(static_cast<std::size_t>(x.dim(1)), 1), 1)) {
    const Tensor query = unsqueeze(state.h[-1], 1);  // (B, 1, h)
    logits.push_back(next(step, (*attention)(query, state.memory, state.memory, state.memory_mask), state));
  }
  return concat(logits, 1);
}

Tensor Seq2SeqDecoder::next(const Tensor& x, const Tensor& seen, Seq2SeqState& state) const {
  const auto with_context = [&](const Tensor& u) {
    if (!seen.defined()) return u;
    return concat({u, broadcast_to(seen, {-1, u.dim(1), -1})}, -1);
  };
  const Recurrence y = gru(with_context(x), {.h = state.h});
  state.h = y.h;
  return out(with_context(y.output));
}

Seq2Seq::Seq2Seq(At here, std::int64_t source_vocabulary, std::int64_t target_vocabulary, const Options& options)
    : Layer(std::move(here)),
      encoder(at("encoder"), source_vocabulary, options),
      decoder(at("decoder"), target_vocabulary, options) {}

Seq2SeqState Seq2Seq::read(const Index& source, const Index& lengths) const {
  const Recurrence states = encoder(source, lengths);
  // The states after the end of a sentence are 0.
  const Tensor context =
      decoder.context == Context::mean ? sum(states.output, 1) / unsqueeze(to_real(lengths), 1) : states.h[-1];
  return {.h = states.h, .context = context, .memory = states.output, .memory_mask = padding(lengths)};
}

Tensor Seq2Seq::forward(const Index& source, const Index& lengths, const Index& target) const {
  Seq2SeqState state = read(source, lengths);
  return decoder(target, state);
}

Seq2SeqStepper Seq2Seq::start(const Index& source, const Index& lengths) const {
  const NoGrad off;
  const std::optional<Eval> eval = outside_of_training(*this);
  return {decoder, read(source, lengths)};
}

}  // namespace xgrad::nn
