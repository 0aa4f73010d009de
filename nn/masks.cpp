// Masks for attention.
#include "masks.h"

#include <algorithm>
#include <limits>

#include "../ops/arithmetic.h"
#include "../ops/index.h"
#include "../ops/shape.h"

namespace xgrad {
namespace {

Index smaller(const Index& a, const Index& b) {
  if (a.shape() != b.shape()) fail<ValueError>("mask", "lengths of shapes ", a.shape(), " and ", b.shape());
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
  if (b.ignore) both.ignore = a.ignore ? *a.ignore || *b.ignore : *b.ignore;
  if (b.bias.defined()) both.bias = a.bias.defined() ? a.bias + b.bias : b.bias;
  return both;
}

}  // namespace xgrad

namespace xgrad::nn {
namespace {

// (rows, columns), true where blocked(row, column).
template <class F>
Mask mask_where(std::int64_t rows, std::int64_t columns, const F& blocked) {
  Mask mask(Shape{rows, columns});
  if (mask.size() == 0) return mask;
  bool* out = mask.mutable_data();
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t column = 0; column < columns; ++column) *out++ = blocked(row, column);
  }
  return mask;
}

void check(const char* op, const WindowOptions& options) {
  if (options.before < 0 || options.after < 0) {
    fail<ValueError>(op, "before ", options.before, " and after ", options.after, " must not be negative");
  }
}

void check_size(const char* op, const char* name, std::int64_t size) {
  if (size < 0) fail<ValueError>(op, name, " ", size, " must not be negative");
}

void check_lengths(const char* op, const Index& lengths, std::int64_t size) {
  for (const std::int64_t length : lengths) {
    if (length < 0 || length > size) fail<ValueError>(op, "length ", length, " is not in [0, ", size, "]");
  }
}

// Whether key s is outside the window of query t. Differences of positions do not overflow, sums with the sides could.
bool outside(const WindowOptions& window, std::int64_t t, std::int64_t s) {
  return t - s > window.before || s - t > window.after;
}

}  // namespace

AttentionMask padding(const Index& lengths) { return {.lengths = lengths}; }

AttentionMask window(const WindowOptions& options) {
  check("window", options);
  return {.band = AttentionBand{options.before, options.after}};
}

AttentionMask select_rows(const AttentionMask& mask, const Index& rows) {
  AttentionMask selected = mask;
  // What is shared by all sequences has less than four axes or one row.
  const auto differs = [](const auto& x) { return x.rank() == 4 && x.dim(0) > 1; };
  if (mask.lengths) selected.lengths = index_select(*mask.lengths, 0, rows);
  if (mask.ignore && differs(*mask.ignore)) selected.ignore = index_select(*mask.ignore, 0, rows);
  if (mask.bias.defined() && differs(mask.bias)) selected.bias = index_select(mask.bias, 0, rows);
  return selected;
}

Mask causal_mask(std::int64_t size, std::int64_t past) {
  check_size("causal_mask", "size", size);
  check_size("causal_mask", "past", past);
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  if (past > most - size) fail<LimitError>("causal_mask", size, " positions after ", past, " are too many");
  return mask_where(size, past + size, [past](std::int64_t t, std::int64_t s) { return s > past + t; });
}

Mask padding_mask(const Index& lengths, std::int64_t size) {
  if (lengths.rank() != 1) fail<ShapeError>("padding_mask", "lengths must be (B), got ", lengths.shape());
  check_size("padding_mask", "size", size);
  check_lengths("padding_mask", lengths, size);
  return mask_where(lengths.size(), size, [&](std::int64_t b, std::int64_t s) { return s >= lengths.data()[b]; });
}

Mask window_mask(std::int64_t size, const WindowOptions& options) {
  check_size("window_mask", "size", size);
  check("window_mask", options);
  return mask_where(size, size, [&](std::int64_t t, std::int64_t s) { return outside(options, t, s); });
}

Mask blocked_keys(const AttentionMask& mask, const Shape& scores) {
  if (scores.rank() != 3) fail<ShapeError>("mask", "scores must be (B, T, S), got ", scores);
  const std::int64_t B = scores[0], T = scores[1], S = scores[2];
  Mask blocked({B, 1, T, S}, false);
  bool* out = blocked.mutable_data();
  const auto block = [&](const auto& is_blocked) {
    if (blocked.size() == 0) return;
    for (std::int64_t b = 0, i = 0; b < B; ++b) {
      for (std::int64_t t = 0; t < T; ++t) {
        for (std::int64_t s = 0; s < S; ++s, ++i) out[i] |= is_blocked(b, t, s);
      }
    }
  };
  if (mask.causal) block([](std::int64_t, std::int64_t t, std::int64_t s) { return s > t; });
  if (mask.band) {
    check("mask", *mask.band);
    block([&](std::int64_t, std::int64_t t, std::int64_t s) { return outside(*mask.band, t, s); });
  }
  if (mask.lengths) {
    const Index& lengths = *mask.lengths;
    const bool per_query = lengths.rank() == 2;
    if (lengths.shape() != (per_query ? Shape{B, T} : Shape{B})) {
      fail<ShapeError>("mask", "lengths ", lengths.shape(), " for scores ", scores, ": needs (B) or (B, T)");
    }
    check_lengths("mask", lengths, S);
    block(
        [&](std::int64_t b, std::int64_t t, std::int64_t s) { return s >= lengths.data()[per_query ? b * T + t : b]; });
  }
  if (!mask.ignore) return blocked;
  if (!broadcasts_to(mask.ignore->shape(), blocked.shape())) {
    fail<ShapeError>("mask", "ignore ", mask.ignore->shape(), " for scores ", scores, ": cannot become ",
                     blocked.shape());
  }
  return blocked || *mask.ignore;
}

}  // namespace xgrad::nn
