// Masks for attention.
#include "masks.h"

#include <algorithm>
#include <limits>

#include "../ops/index.h"
#include "../ops/compare.h"

namespace xgrad::nn {
namespace {

// (rows, columns), true where masked(row, column).
template <class F>
Mask mask_where(std::int64_t rows, std::int64_t columns, const F& masked) {
  Mask mask(Shape{rows, columns});
  if (mask.size() == 0) return mask;
  bool* out = mask.mutable_data();
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t column = 0; column < columns; ++column) *out++ = masked(row, column);
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
  if (mask.masked && differs(*mask.masked)) selected.masked = index_select(*mask.masked, 0, rows);
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

}  // namespace xgrad::nn
