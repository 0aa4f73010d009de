// The Swin transformer.
#include "swin_transformer.h"

#include <algorithm>
#include <numeric>

#include "../../core/array/shape_hints.h"
#include "../../ops/elementwise/arithmetic.h"
#include "../../ops/indexing/index.h"
#include "../../ops/reduce/reduce.h"
#include "../../ops/shape/broadcast.h"
#include "../../ops/shape/shape.h"
#include "../../ops/shape/slice.h"
#include "../attention/attention_recorder.h"
#include "../containers/stack.h"

namespace xgrad::nn {
namespace {

LinearOptions linear_options() { return {.init = init::truncated_normal({.std = 0.02}), .bias_init = init::zeros()}; }

MlpOptions mlp_options(std::int64_t dim, const SwinTransformerOptions& options) {
  const double hidden = static_cast<double>(dim) * options.mlp_ratio;
  MlpOptions mlp = vision_mlp(dim, static_cast<std::int64_t>(hidden), options.dropout);
  mlp.init = init::truncated_normal({.std = 0.02});
  mlp.bias_init = init::zeros();
  return mlp;
}

std::int64_t round_up(std::int64_t size, std::int64_t step) { return (size + step - 1) / step * step; }

void check_map(const char* op, const Tensor& x, std::int64_t dim) {
  if (x.rank() != 4 || x.dim(1) == 0 || x.dim(2) == 0 || x.dim(3) != dim) {
    fail<ShapeError>(op, "needs (B, H, W, ", dim, ") with H and W above 0, got ", x.shape());
  }
}

// (B, H, W, C) padded at the end with zeros to a map of this size.
Tensor padded(const Tensor& x, std::int64_t height, std::int64_t width) {
  if (x.dim(1) == height && x.dim(2) == width) return x;
  return pad(x, {{0, 0}, {0, height - x.dim(1)}, {0, width - x.dim(2)}, {0, 0}});
}

// For tokens i and j of a window, the row of the table for the position of i relative to j: at i N + j.
Index relative_positions(const Size2d& window) {
  const std::int64_t M = window.width, N = window.height * M;
  Index index(Shape{N * N});
  std::int64_t* out = index.mutable_data();
  for (std::int64_t i = 0; i < N; ++i) {
    for (std::int64_t j = 0; j < N; ++j) {
      const std::int64_t down = i / M - j / M + window.height - 1, right = i % M - j % M + M - 1;
      *out++ = down * (2 * M - 1) + right;
    }
  }
  return index;
}

}  // namespace

// -- windows ----------------------------------------------------------------------------------------------------------

WindowGrid::WindowGrid(std::int64_t map_height, std::int64_t map_width, const Size2d& size, const Size2d& wanted)
    : height(map_height),
      width(map_width),
      window(size),
      shift(size.height >= map_height ? 0 : wanted.height, size.width >= map_width ? 0 : wanted.width) {}

std::int64_t WindowGrid::padded_height() const { return round_up(height, window.height); }
std::int64_t WindowGrid::padded_width() const { return round_up(width, window.width); }
std::int64_t WindowGrid::windows() const { return padded_height() / window.height * (padded_width() / window.width); }

Tensor WindowGrid::partition(const Tensor& x) const {
  const std::int64_t B = x.dim(0), C = x.dim(3), H = padded_height(), W = padded_width();
  Tensor y = padded(x, H, W);
  if (shifted()) y = roll(y, {-shift.height, -shift.width}, {1, 2});
  y = reshape(y, {B, H / window.height, window.height, W / window.width, window.width, C});
  return reshape(permute(y, {0, 1, 3, 2, 4, 5}), {B * windows(), window.height * window.width, C});
}

Tensor WindowGrid::reverse(const Tensor& windows_of) const {
  const std::int64_t B = windows_of.dim(0) / windows(), C = windows_of.dim(2), H = padded_height(), W = padded_width();
  Tensor y = reshape(windows_of, {B, H / window.height, W / window.width, window.height, window.width, C});
  y = reshape(permute(y, {0, 1, 3, 2, 4, 5}), {B, H, W, C});
  if (shifted()) y = roll(y, {shift.height, shift.width}, {1, 2});
  return H == height && W == width ? y : slice(y, {_, xgrad::slice(0, height), xgrad::slice(0, width)});
}

Mask WindowGrid::regions() const {
  const std::int64_t M = window.width, N = window.height * M, across = padded_width() / M;
  // In the last window of an axis, tokens that came round from the other end are another region.
  const auto region = [](std::int64_t at, std::int64_t size, std::int64_t side, std::int64_t moved) {
    return moved > 0 && at >= size - side ? (at < size - moved ? 1 : 2) : 0;
  };
  Mask apart(Shape{windows(), N, N});
  bool* out = apart.mutable_data();
  std::vector<std::int64_t> of(static_cast<std::size_t>(N));
  for (std::int64_t w = 0; w < windows(); ++w) {
    for (std::int64_t i = 0; i < N; ++i) {
      const std::int64_t row = w / across * window.height + i / M, column = w % across * M + i % M;
      of[static_cast<std::size_t>(i)] = 3 * region(row, padded_height(), window.height, shift.height) +
                                        region(column, padded_width(), M, shift.width);
    }
    for (const std::int64_t i : of) {
      for (const std::int64_t j : of) *out++ = i != j;
    }
  }
  return apart;
}

SwinAttention::SwinAttention(At here, std::int64_t width, std::int64_t head_count, const Size2d& given_shift,
                             const Options& options)
    : Layer(std::move(here)),
      dim(positive("dim", width)),
      heads(positive("heads", head_count)),
      window(positive("window", options.window.height, 1 << 10), positive("window", options.window.width, 1 << 10)),
      shift(given_shift),
      attention_dropout(probability("attention_dropout", options.attention_dropout)),
      qkv(at("qkv"), dim, 3 * dim, linear_options()),
      proj(at("proj"), dim, dim, linear_options()),
      dropout(at("dropout"), options.dropout),
      relative_position_bias_table(param("relative_position_bias_table",
                                         {(2 * window.height - 1) * (2 * window.width - 1), heads},
                                         init::truncated_normal({.std = 0.02}), Decay::no)),
      relative_position_index(buffer("relative_position_index", relative_positions(window))),
      positions_(relative_positions(window)) {
  const Scope scope(place());
  if (dim % heads != 0) fail<ValueError>("window_attention", "dim ", dim, " does not divide by ", heads, " heads");
  for (const auto& [moved, side] : {std::pair(shift.height, window.height), std::pair(shift.width, window.width)}) {
    if (moved < 0 || moved >= side) fail<ValueError>("window_attention", "shift ", moved, " is not in [0, ", side, ")");
  }
}

Tensor SwinAttention::forward(const Tensor& x) const {
  check_map("window_attention", x, dim);
  const std::int64_t B = x.dim(0), N = window.height * window.width;
  const WindowGrid grid(x.dim(1), x.dim(2), window, shift);
  const Tensor bias = reshape(index_select(relative_position_bias_table, 0, positions_), {N, N, heads});
  AttentionMask mask{.bias = unsqueeze(permute(bias, {2, 0, 1}), 0)};  // (1, H, N, N)
  if (grid.shifted()) {
    const Mask apart = grid.regions().reshaped({1, grid.windows(), N, N});
    mask.masked = broadcast_to(apart, {B, grid.windows(), N, N}).reshaped({B * grid.windows(), 1, N, N});
  }
  const Tensor y = attend_packed_heads(*this, qkv(grid.partition(x)), heads, mask, attention_dropout);
  return grid.reverse(dropout(proj(y)));
}

std::string SwinAttention::extra_repr() const {
  return str(dim, ", ", heads, " heads, windows ", window.height, " x ", window.width,
             shift.height > 0 || shift.width > 0 ? ", shifted" : "");
}

// -- blocks, stages ---------------------------------------------------------------------------------------------------

SwinBlock::SwinBlock(At here, std::int64_t dim, std::int64_t heads, const Size2d& shift, double drop,
                     const Options& options)
    : Layer(std::move(here)),
      norm1(at("norm1"), dim),
      attn(at("attn"), dim, heads, shift, options),
      drop_path(at("drop_path"), drop),
      norm2(at("norm2"), dim),
      mlp(at("mlp"), mlp_options(dim, options)) {}

Tensor SwinBlock::forward(const Tensor& z) const {
  const Tensor h = z + drop_path(attn(norm1(z)));  // (B, H, W, C)
  return h + drop_path(mlp(norm2(h)));
}

SwinStage::SwinStage(At here, std::size_t stage, const Options& options)
    : Stack(std::move(here), options.depths[stage], [&](At block, std::int64_t i) {
        const auto& depths = options.depths;
        const auto first = depths.begin() + static_cast<std::ptrdiff_t>(stage);
        const auto before = std::accumulate(depths.begin(), first, std::int64_t{0});
        const auto all = std::accumulate(depths.begin(), depths.end(), std::int64_t{0});
        const Size2d half{options.window.height / 2, options.window.width / 2};
        const auto most = static_cast<double>(std::max<std::int64_t>(all - 1, 1));
        return SwinBlock(std::move(block), options.dim << stage, options.heads[stage], i % 2 == 0 ? Size2d(0) : half,
                         options.drop_path * (static_cast<double>(before + i) / most), options);
      }) {}

PatchMerging::PatchMerging(At here, std::int64_t width) : Layer(std::move(here)), dim(positive("dim", width)) {}

Tensor PatchMerging::forward(const Tensor& x) const {
  check_map("patch_merging", x, dim);
  const std::int64_t B = x.dim(0), H = round_up(x.dim(1), 2), W = round_up(x.dim(2), 2);
  const Tensor pairs = reshape(padded(x, H, W), {B, H / 2, 2, W / 2, 2, dim});
  // Of four neighbours the upper left one, the one below it, the one right of it, the last one.
  const Tensor four = reshape(permute(pairs, {0, 1, 3, 4, 2, 5}), {B, H / 2, W / 2, 4 * dim});
  return reduction(norm(four));
}

Tensor SwinPatches::forward(const Tensor& x) const {
  return norm(permute(projection(x), {0, 2, 3, 1}));  // (B, H, W, C)
}

SwinFeatures::SwinFeatures(At here, const Options& options) : Sequential(std::move(here)) {
  append(make<SwinPatches>(options));
  for (std::size_t stage = 0; stage < options.depths.size(); ++stage) {
    append(make<SwinStage>(stage, options));
    if (stage + 1 < options.depths.size()) append(make<PatchMerging>(options.dim << stage));
  }
}

SwinTransformer::SwinTransformer(At here, const Options& given)
    : Layer(std::move(here)),
      options([&] {
        const Scope scope(place());
        positive("dim", given.dim);
        if (given.depths.empty() || given.depths.size() > 16 || given.depths.size() != given.heads.size()) {
          fail<ValueError>("swin_transformer", given.depths.size(), " depths and ", given.heads.size(),
                           " numbers of heads, needs 1 to 16 stages with one of each");
        }
        for (const std::int64_t depth : given.depths) positive("depth", depth, most_layers);
        if (!(given.mlp_ratio > 0 && given.mlp_ratio <= 1 << 10)) {
          fail<ValueError>("swin_transformer", "mlp_ratio ", given.mlp_ratio, " is not in (0, 1024]");
        }
        probability("drop_path", given.drop_path);
        return given;
      }()),
      features(at("features"), options),
      norm(at("norm"), options.dim << (options.depths.size() - 1)),
      head(at("head"), options.dim << (options.depths.size() - 1), options.classes, linear_options()) {}

Tensor SwinTransformer::forward(const Tensor& x) const {
  if (x.rank() != 4 || x.dim(1) != options.channels || x.dim(2) < options.patch.height ||
      x.dim(3) < options.patch.width) {
    fail<ShapeError>("swin_transformer", "needs (B, ", options.channels, ", H, W) of a patch ", options.patch.height,
                     " x ", options.patch.width, " at least, got ", x.shape(),
                     xgrad::detail::batch_axis_hint(x.shape(), Shape{options.channels, -1, -1}));
  }
  return head(mean(norm(features(x)), {1, 2}));
}

std::string SwinTransformer::extra_repr() const {
  std::string blocks;
  for (const std::int64_t depth : options.depths) blocks += str(blocks.empty() ? "" : " ", depth);
  return str(options.dim, " wide, ", blocks, " blocks");
}

}  // namespace xgrad::nn
