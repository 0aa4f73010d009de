// Positional encodings: vectors that tell a transformer the position of a token.
#pragma once

#include "../layer.h"
#include "dropout.h"

namespace xgrad::nn {

/// How the sines and cosines of the frequencies 10000^(-2j/C) are laid out.
enum class Sinusoids {
  interleaved,   ///< sin, cos, sin, cos, ...: p(i, 2j) = sin(i w_j), p(i, 2j+1) = cos(i w_j)
  concatenated,  ///< all sines, then all cosines
};
/// The vectors of positions 0 ... length - 1, (length, dim). Moving by a number of positions turns each (sin, cos) pair
/// by an angle that depends on that number alone (Vaswani et al. 2017). Throws ValueError for a negative size.
Array sinusoids(std::int64_t length, std::int64_t dim, Sinusoids layout = Sinusoids::interleaved);

/// What is done with the vectors p of the positions.
enum class Positions {
  sinusoidal,  ///< y = x + p, p fixed: see sinusoids
  learned,     ///< y = x + p, p a parameter
  joined,      ///< y = [x, p], twice as wide as x, p fixed
  none,        ///< y = x
};

struct PositionalEncodingOptions {
  Positions kind = Positions::sinusoidal;
  double dropout = 0;
  Sinusoids layout = Sinusoids::interleaved;
  Init init = {};  ///< of learned vectors; if not given, normal with standard deviation 1
};
/// y = dropout(x + p), or what else Positions says.      x (B, T, C) or (T, C)
struct PositionalEncoding : Layer<PositionalEncoding> {
  using Options = PositionalEncodingOptions;

  /// For sequences of at most `max_length` vectors. Throws ValueError for sizes below 1 or a dropout outside [0, 1].
  PositionalEncoding(At here, std::int64_t max_length, std::int64_t dim, const Options& options = {});
  explicit PositionalEncoding(Placeless, ...);  ///< does not compile: no place

  /// x begins at position `first`. Throws ShapeError unless x ends in `dim`, ValueError for positions that lack a row.
  Tensor forward(const Tensor& x, std::int64_t first = 0) const;

  const Positions kind;
  const Tensor weight;  ///< (max_length, C), undefined if there are none: a parameter if learned, otherwise fixed
  Dropout dropout;

 protected:
  std::string extra_repr() const override;
};

}  // namespace xgrad::nn
