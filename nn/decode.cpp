// Decoding.
#include <xgrad/nn/decode.h>

#include <algorithm>
#include <vector>

#include <xgrad/core/record.h>
#include <xgrad/ops/normalize.h>

namespace xgrad::inline XGRAD_ABI::nn {

Decoded greedy(Stepper& model, const GreedyOptions& options) {
  if (options.max_length < 1) fail<ValueError>("greedy", "max_length must be at least 1, got ", options.max_length);
  const NoGrad off;
  const std::int64_t B = model.batch();
  Index newest({B}, options.bos);
  Decoded result{.tokens = Index(), .lengths = Index({B}, options.max_length), .scores = Array({B}, Real(0))};
  std::int64_t* lengths = result.lengths.mutable_data();
  Real* scores = result.scores.mutable_data();
  std::vector<Index> columns;
  std::int64_t running = B;
  std::vector<bool> ended(static_cast<std::size_t>(B), false);
  for (std::int64_t t = 0; t < options.max_length && running > 0; ++t) {
    const Tensor logits = model.step(newest);
    if (logits.rank() != 2 || logits.dim(0) != B) {
      fail<ShapeError>("greedy", "a step must give (", B, ", V), got ", logits.shape());
    }
    const Array log_p = log_softmax(logits).value();  // (B, V)
    const std::int64_t V = log_p.dim(1);
    newest = Index({B}, options.eos);
    for (std::int64_t b = 0; b < B; ++b) {
      if (ended[static_cast<std::size_t>(b)]) continue;
      const Real* row = log_p.data() + b * V;
      const std::int64_t best = std::max_element(row, row + V) - row;
      newest.mutable_data()[b] = best;
      scores[b] += row[best];
      if (best == options.eos) {
        ended[static_cast<std::size_t>(b)] = true;
        lengths[b] = t;
        --running;
      }
    }
    columns.push_back(newest);
  }
  const auto L = static_cast<std::int64_t>(columns.size());
  result.tokens = Index({B, L});
  std::int64_t* out = result.tokens.mutable_data();
  for (std::int64_t b = 0; b < B; ++b) {
    for (const Index& column : columns) *out++ = column.data()[b];
  }
  return result;
}

}  // namespace xgrad::inline XGRAD_ABI::nn
