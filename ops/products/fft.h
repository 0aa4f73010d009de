// Fourier transforms of real numbers. The results are complex; an array of complex numbers is here one of reals with a
// last axis of 2, the real and the imaginary part, as in torch.view_as_real.
//
//     const Tensor c = fft::rfft(x);              // x (B, 400) -> (B, 201, 2)
//     const Tensor power = sum(square(c), {.axis = -1});
//     const Tensor same = fft::irfft(c, {.n = 400});
#pragma once

#include <optional>

#include "../../core/graph/tensor.h"

namespace xgrad::fft {

/// The normalisation of a transform of length n: which direction is divided.
enum class FftNorm {
  backward,  ///< the inverse by n
  forward,   ///< the transform by n
  ortho      ///< both by sqrt n
};

struct RfftOptions {
  std::optional<std::int64_t> n = {};  ///< how many numbers: padded with zeros, or cut off
  int axis = -1;
  FftNorm norm = FftNorm::backward;
};
/// y_k = sum_j x_j e^(-2 pi i j k/n) along an axis, for k = 0 ... n/2: the others are conjugates of these.
///     (..., n, ...) -> (..., n/2 + 1, ..., 2)
/// Throws ValueError for an axis out of range, which a scalar always has, and for n < 1.
Tensor rfft(const Tensor& x, const RfftOptions& options = {});

struct IrfftOptions {
  std::optional<std::int64_t> n = {};  ///< how many numbers come out; 2 (m - 1) if not given
  int axis = -1;                       ///< among the axes before the last one
  FftNorm norm = FftNorm::backward;
};
/// The inverse of rfft: x_j = (1/n) sum of c_k e^(2 pi i j k/n) over k < n, where c_(n - k) is the conjugate of c_k. An
/// odd n must be given. The imaginary parts of c_0 and, for an even n, of c_(n/2) are ignored.
///     (..., m, ..., 2) -> (..., n, ...)
/// Throws ShapeError unless the last axis is 2 and there is another, ValueError for an axis out of range and n < 1.
Tensor irfft(const Tensor& c, const IrfftOptions& options = {});

/// The frequencies that rfft's results belong to: 0, 1, ..., n/2, divided by n d, where d is the time from one number
/// to the next. Throws ValueError for n < 1 and a d that is 0 or not finite.
Tensor rfftfreq(std::int64_t n, double d = 1);

}  // namespace xgrad::fft
