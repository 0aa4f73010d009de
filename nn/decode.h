// Decoding: choosing tokens one after the other from a model that gives the logits of the next.
#pragma once

#include <xgrad/core/tensor.h>

namespace xgrad::inline XGRAD_ABI::nn {

/// A model in the middle of writing B sequences: what every search needs to know of it.
class Stepper {
 public:
  virtual ~Stepper() = default;
  /// B
  virtual std::int64_t batch() const = 0;
  /// Takes the newest token of each sequence, tokens (B), and gives the logits of the next, (B, V).
  virtual Tensor step(const Index& tokens) = 0;
  /// Goes on with sequence rows[i] as the i-th: some may be dropped, others doubled.
  virtual void select(const Index& rows) = 0;
};

struct GreedyOptions {
  std::int64_t bos = 0;  ///< every sequence begins after this token
  std::int64_t eos = 0;  ///< a sequence ends with this token
  std::int64_t max_length = 100;
};
/// Finished sequences.
struct Decoded {
  Index tokens;   ///< (B, L) without bos; from the end of a sequence on eos
  Index lengths;  ///< (B) tokens before eos, L if it did not come
  Array scores;   ///< (B) ln p of the sequence, with the eos that ends it
};
/// Takes the most probable token at every step, until all sequences have ended or are max_length long. Records no
/// graph. Throws ValueError for a max_length below 1, ShapeError if a step gives no (B, V).
Decoded greedy(Stepper& model, const GreedyOptions& options);

}  // namespace xgrad::inline XGRAD_ABI::nn
