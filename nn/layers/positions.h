// Positional encodings: vectors that give a transformer the position of each token.
#pragma once

#include "../layer.h"
#include "dropout.h"

namespace xgrad::nn {

/// The order of the sines and cosines, whose frequencies are w_j = 10000^(-2j/C).
enum class Sinusoids {
  interleaved,   ///< sin, cos, sin, cos, ...: p(i, 2j) = sin(i w_j), p(i, 2j+1) = cos(i w_j)
  concatenated,  ///< all sines, then all cosines
};
/// The sinusoidal vectors of positions 0 ... length - 1, (length, dim) (Vaswani et al. 2017). A shift by n positions
/// rotates each pair (sin, cos) by an angle that depends only on n. Throws ValueError for a negative size.
Array sinusoids(std::int64_t length, std::int64_t dim, Sinusoids layout = Sinusoids::interleaved);

/// The way in which the vectors p of the positions are combined with the input x.
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
  Init init = {};  ///< initial values of learned vectors; by default normal with standard deviation 1
};
/// y = dropout(x + p), or as Positions defines.      x (B, T, C) or (T, C)
struct PositionalEncoding : Layer<PositionalEncoding> {
  using Options = PositionalEncodingOptions;

  /// An encoding for at most `max_length` positions. Throws ValueError for sizes below 1 or a dropout outside [0, 1].
  PositionalEncoding(At here, std::int64_t max_length, std::int64_t dim, const Options& options = {});
  explicit PositionalEncoding(Placeless, ...);  ///< compile error: the first argument must be at("name") or root

  /// The first position of x is `first`. Throws ShapeError unless the last axis of x has size `dim`, and ValueError for
  /// positions outside [0, max_length).
  Tensor forward(const Tensor& x, std::int64_t first = 0) const;

  const Positions kind;
  const Tensor weight;  ///< (max_length, C), a parameter if learned, otherwise fixed; undefined for `none`
  Dropout dropout;

 protected:
  std::string extra_repr() const override;
};

}  // namespace xgrad::nn
