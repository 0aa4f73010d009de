// Masks for attention.
#include "masks.h"

#include <limits>

#include "../../ops/indexing/index.h"

namespace xgrad::nn {
namespace {

void check_size(const char* op, const char* name, std::int64_t size) {
  if (size < 0) fail<ValueError>(op, name, " ", size, " is negative");
}

}  // namespace

AttentionMask padding(const Index& lengths) { return {.lengths = lengths}; }

AttentionMask window(const WindowOptions& options) {
  if (options.before < 0 || options.after < 0) {
    fail<ValueError>("window", "before ", options.before, " and after ", options.after, ": one is negative");
  }
  return {.band = options};
}

AttentionMask select_rows(const AttentionMask& mask, const Index& rows) {
  AttentionMask selected = mask;
  // A mask that all sequences share has less than four axes or one row.
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
  return masked_keys({.band = WindowOptions{past + size, past}}, {1, size, past + size}, "causal_mask")
      .reshaped({size, past + size});
}

Mask padding_mask(const Index& lengths, std::int64_t size) {
  if (lengths.rank() != 1) fail<ShapeError>("padding_mask", "needs lengths (B), got ", lengths.shape());
  check_size("padding_mask", "size", size);
  const std::int64_t B = lengths.size();
  return masked_keys(padding(lengths), {B, 1, size}, "padding_mask").reshaped({B, size});
}

Mask window_mask(std::int64_t size, const WindowOptions& options) {
  check_size("window_mask", "size", size);
  return masked_keys({.band = options}, {1, size, size}, "window_mask").reshaped({size, size});
}

}  // namespace xgrad::nn
