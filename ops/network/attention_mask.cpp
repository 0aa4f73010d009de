// The mask of an attention: combination, checks, and its expansion to one mask by position.
#include "attention_mask.h"

#include <algorithm>
#include <limits>

#include "../../core/array/shape_hints.h"
#include "../elementwise/arithmetic.h"
#include "../kernels/attention/attention.h"

namespace xgrad {
namespace {

Index smaller(const Index& a, const Index& b) {
  if (a.shape() != b.shape()) fail<ShapeError>("mask", "lengths of shapes ", a.shape(), " and ", b.shape());
  Index least(a.shape());
  std::ranges::transform(a, b, least.mutable_data(), [](std::int64_t p, std::int64_t q) { return std::min(p, q); });
  return least;
}

}  // namespace

AttentionMask operator&(const AttentionMask& a, const AttentionMask& b) {
  AttentionMask both = a;
  both.causal = a.causal || b.causal;
  if (a.band && b.band) {
    both.band = {std::min(a.band->before, b.band->before), std::min(a.band->after, b.band->after)};
  } else if (b.band) {
    both.band = b.band;
  }
  if (b.lengths) both.lengths = a.lengths ? smaller(*a.lengths, *b.lengths) : *b.lengths;
  if (b.masked) both.masked = a.masked ? *a.masked || *b.masked : *b.masked;
  if (b.bias.defined()) both.bias = a.bias.defined() ? a.bias + b.bias : b.bias;
  return both;
}

KeyRanges detail::check_mask(const char* op, const AttentionMask& mask, const Shape& scores) {
  const std::int64_t B = scores[0], T = scores[2], S = scores[3];
  KeyRanges ranges{.T = T, .S = S, .causal = mask.causal};
  if (mask.band) {
    if (mask.band->before < 0 || mask.band->after < 0) {
      fail<ValueError>(op, "a band of ", mask.band->before, " before and ", mask.band->after,
                       " after: one is negative");
    }
    const std::int64_t all = std::max(T, S);  // a longer side means the same, and sums with it could overflow
    ranges.band = true;
    ranges.before = std::min(mask.band->before, all);
    ranges.after = std::min(mask.band->after, all);
  }
  constexpr std::int64_t exact = std::int64_t{1} << std::numeric_limits<Real>::digits;
  if ((mask.causal || mask.band || mask.lengths) && S > exact) {
    fail<LimitError>(op, S, " keys: this mask cannot tell positions beyond ", exact, " apart");
  }
  if (mask.lengths) {
    const Shape& shape = mask.lengths->shape();
    if (shape != Shape{B} && shape != Shape{B, T}) {
      fail<ShapeError>(op, "lengths of shape ", shape, ", needs ", Shape{B}, " or ", Shape{B, T});
    }
    for (const std::int64_t length : *mask.lengths) {
      if (length < 0 || length > S) fail<ValueError>(op, "length ", length, " is not in [0, ", S, "]");
    }
    ranges.lengths = mask.lengths->data();
    ranges.length_per_query = shape.rank() == 2;
  }
  const auto strides = [&](const char* what, const Shape& shape) {
    if (!broadcasts_to(shape, scores)) {
      fail<ShapeError>(op, what, " of shape ", shape, " cannot become ", scores, detail::mask_hint(shape, scores));
    }
    return broadcast_strides(shape, scores);
  };
  if (mask.masked) {
    ranges.masked_strides = strides("masked", mask.masked->shape());
    ranges.masked = mask.masked->data();
  }
  if (mask.bias.defined()) {
    ranges.bias_strides = strides("bias", mask.bias.shape());
    ranges.bias = mask.bias.value().data();
  }
  return ranges;
}

std::optional<Mask> detail::expanded(const KeyRanges& ranges, const Shape& scores) {
  if (!ranges.causal && !ranges.band && !ranges.lengths && !ranges.masked) return std::nullopt;
  Mask result(scores);
  if (result.size() == 0) return result;
  bool* out = result.mutable_data();
  for (std::int64_t b = 0; b < scores[0]; ++b) {
    for (std::int64_t h = 0; h < scores[1]; ++h) {
      for (std::int64_t t = 0; t < scores[2]; ++t, out += scores[3]) {
        const std::int64_t begin = ranges.begin(t), end = ranges.end(b, t);
        for (std::int64_t s = 0; s < scores[3]; ++s) {
          out[s] = s < begin || s >= end || ranges.is_masked(b, h, t, s);
        }
      }
    }
  }
  return result;
}

Mask masked_keys(const AttentionMask& mask, const Shape& scores, const char* op) {
  if (scores.rank() != 3 && scores.rank() != 4) {
    fail<ShapeError>(op, "needs scores (B, T, S) or (B, H, T, S), got ", scores);
  }
  Shape full = scores;
  if (full.rank() == 3) full.insert(1, 1);
  const std::optional<Mask> expanded = detail::expanded(detail::check_mask(op, mask, full), full);
  return expanded ? *expanded : Mask(full, false);
}

}  // namespace xgrad
