// The part of an image that the results of a convolution see through one place of its kernel, along an axis.
#pragma once

#include <algorithm>

#include "conv_sizes.h"

namespace xgrad::detail {

/// Results first ... last - 1 see a position of the image at place k of the kernel.
struct Seen {
  std::int64_t first, last, from;  ///< `from`: the position that the first of them sees

  std::int64_t count() const { return last - first; }
};

inline Seen seen(const ConvAxis& axis, std::int64_t k) {
  const std::int64_t shift = axis.dilation * k - axis.padding;
  const auto up = [&](std::int64_t n) { return n <= 0 ? 0 : (n - 1) / axis.stride + 1; };
  const std::int64_t first = std::min(up(-shift), axis.out);
  const std::int64_t last = std::clamp(up(axis.in - shift), first, axis.out);
  return {first, last, first * axis.stride + shift};
}

}  // namespace xgrad::detail
