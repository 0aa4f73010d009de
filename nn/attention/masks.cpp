// Masks for attention.
#include "masks.h"

#include <limits>

#include "../../core/array/xtensor_functions.h"
#include "../../ops/elementwise/compare.h"
#include "../../ops/indexing/index.h"

namespace xgrad::nn {
namespace {

// A mask that `write` fills as an xtensor view. Its memory is allocated first, because xtensor does not check sizes.
template <class Write>
Mask written(const Shape& shape, const Write& write) {
  Mask mask(shape);
  auto seen = mutable_view(mask);
  if (mask.size() > 0) write(seen);
  return mask;
}

void check(const char* op, const WindowOptions& options) {
  if (options.before < 0 || options.after < 0) {
    fail<ValueError>(op, "before ", options.before, " and after ", options.after, ": one is negative");
  }
}

void check_size(const char* op, const char* name, std::int64_t size) {
  if (size < 0) fail<ValueError>(op, name, " ", size, " is negative");
}

void check_lengths(const char* op, const Index& lengths, std::int64_t size) {
  for (const std::int64_t length : lengths) {
    if (length < 0 || length > size) fail<ValueError>(op, "length ", length, " is not in [0, ", size, "]");
  }
}

}  // namespace

AttentionMask padding(const Index& lengths) { return {.lengths = lengths}; }

AttentionMask window(const WindowOptions& options) {
  check("window", options);
  return {.band = AttentionBand{options.before, options.after}};
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
  return written({size, past + size}, [&](auto& mask) {
    xt::noalias(mask) = xt::arange(past + size) > past + xt::expand_dims(xt::arange(size), 1);
  });
}

Mask padding_mask(const Index& lengths, std::int64_t size) {
  if (lengths.rank() != 1) fail<ShapeError>("padding_mask", "needs lengths (B), got ", lengths.shape());
  check_size("padding_mask", "size", size);
  check_lengths("padding_mask", lengths, size);
  return written({lengths.size(), size},
                 [&](auto& mask) { xt::noalias(mask) = xt::arange(size) >= xt::expand_dims(view(lengths), 1); });
}

Mask window_mask(std::int64_t size, const WindowOptions& options) {
  check_size("window_mask", "size", size);
  check("window_mask", options);
  return written({size, size}, [&](auto& mask) {
    // Differences of positions do not overflow, sums with the sides could.
    const auto s = xt::arange(size);
    const auto t = xt::expand_dims(s, 1);
    xt::noalias(mask) = t - s > options.before || s - t > options.after;
  });
}

}  // namespace xgrad::nn
