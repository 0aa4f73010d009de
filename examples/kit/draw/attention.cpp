// Putting recorded weights together, and drawing them.
#include <xgrad/kit/draw/attention.h>

#include <algorithm>
#include <set>

#include <xgrad/core/base/error.h>

namespace xgrad::kit {
namespace {

using Tokens = std::vector<std::string>;

constexpr const char* predicts = "query (the token it predicts)";
constexpr const char* reads = "key (the token it reads)";

/// The tokens and behind them <pad>, `size` in all.
Tokens padded(const char* op, Tokens tokens, std::int64_t size) {
  if (tokens.empty()) fail<ValueError>(op, "there are no tokens");
  if (size != 0 && size < std::ssize(tokens)) fail<ValueError>(op, tokens.size(), " tokens for ", size, " positions");
  tokens.resize(size == 0 ? tokens.size() : static_cast<std::size_t>(size), "<pad>");
  return tokens;
}

/// Maps with these rows and columns, where query t may look at the key s if visible(t, s).
template <class Visible>
HeatMaps maps_of(const char* op, const Tokens& queries, const Tokens& keys, const AttentionMapsOptions& options,
                 const Visible& visible) {
  HeatMaps maps{.title = options.title,
                .queries = padded(op, queries, options.queries),
                .keys = padded(op, keys, options.keys),
                .key_caption = reads};
  for (std::size_t t = 0; t < maps.queries.size(); ++t) {
    for (std::size_t s = 0; s < maps.keys.size(); ++s) maps.masked.push_back(!visible(t, s));
  }
  return maps;
}

Array average_of(const char* op, const Array& weights, Average average) {
  if (weights.rank() != 4) fail<ShapeError>(op, "weights are (layers, H, T, S), got ", weights.shape());
  if (weights.size() == 0) fail<ShapeError>(op, "there are no weights in ", weights.shape());
  if (average == Average::none) return weights;
  const std::int64_t H = weights.dim(1), T = weights.dim(2), S = weights.dim(3);
  const std::int64_t groups = average == Average::heads ? weights.dim(0) : 1;
  const std::int64_t members = weights.dim(0) * H / groups;
  Array result(Shape{groups, 1, T, S});
  for (std::int64_t i = 0; i < result.size(); ++i) {
    double sum = 0;
    for (std::int64_t j = 0; j < members; ++j) {
      sum += static_cast<double>(weights.data()[(i / (T * S) * members + j) * T * S + i % (T * S)]);
    }
    result.mutable_data()[i] = static_cast<Real>(sum / static_cast<double>(members));
  }
  return result;
}

std::string panel_title(const Array& weights, std::int64_t layer, std::int64_t head, Average average) {
  const std::int64_t L = weights.dim(0), H = weights.dim(1);
  if (average == Average::layers_and_heads) return "mean of all";
  std::string title = L > 1 ? str("layer ", layer + 1) : "";
  if (H > 1 && L > 1) title += ", ";
  if (H > 1) title += average == Average::heads ? "mean" : str("head ", head + 1);
  return title;
}

}  // namespace

Array attention_weights(const nn::AttentionRecorder& recorder, std::string_view kind, const WeightsOptions& options) {
  std::vector<std::string> layers;
  std::vector<std::vector<const Array*>> steps;  // of each layer, (B, H, t, s)
  std::int64_t S = options.keys;
  for (const auto& [path, weights] : recorder.records()) {
    if (!path.ends_with(kind)) continue;
    const auto layer = static_cast<std::size_t>(std::ranges::find(layers, path) - layers.begin());
    if (layer == layers.size()) {
      layers.push_back(path);
      steps.emplace_back();
    }
    steps[layer].push_back(&weights);
    if (options.keys == 0) S = std::max(S, weights.dim(3));
  }
  const auto refuse = [&](const std::string& why) { fail<ValueError>("attention_weights", "of '", kind, "': ", why); };
  if (layers.empty()) {
    std::set<std::string> ran;
    for (const auto& record : recorder.records()) ran.insert(record.path);
    refuse(str("no layer whose path ends so ran, only ", std::vector(ran.begin(), ran.end())));
  }

  const std::int64_t H = steps[0][0]->dim(1);
  std::vector<Real> all;
  for (auto& layer : steps) {
    if (!options.rows.empty()) layer.resize(std::min(layer.size(), options.rows.size()));
    for (std::int64_t h = 0; h < H; ++h) {
      for (std::size_t i = 0; i < layer.size(); ++i) {
        const Array& step = *layer[i];
        const std::int64_t row = options.rows.empty() ? options.row : options.rows[i];
        if (step.dim(1) != H || step.dim(3) > S || row < 0 || row >= step.dim(0)) refuse("they do not fit together");
        for (std::int64_t t = 0; t < step.dim(2); ++t) {
          for (std::int64_t s = 0; s < S; ++s) all.push_back(s < step.dim(3) ? step.at({row, h, t, s}) : 0);
        }
      }
    }
  }
  const auto N = static_cast<std::int64_t>(layers.size());
  const std::int64_t T = static_cast<std::int64_t>(all.size()) / (N * H * S);
  if (N * H * T * S != static_cast<std::int64_t>(all.size())) refuse("layers ran for different numbers of steps");
  return Array({N, H, T, S}, all);
}

Array averaged(const Array& weights, Average average) { return average_of("averaged", weights, average); }

std::string attention_svg(const Array& weights, HeatMaps maps, Average average) {
  const Array shown = average_of("attention_svg", weights, average);
  if (shown.dim(2) != std::ssize(maps.queries) || shown.dim(3) != std::ssize(maps.keys)) {
    fail<ValueError>("attention_svg", "weights of ", shown.dim(2), " queries and ", shown.dim(3), " keys for ",
                     maps.queries.size(), " and ", maps.keys.size(),
                     " labels; cross_maps and its like take .queries and .keys, and call what is left <pad>. Of a text "
                     "that was read again for each new word, record one run over the whole, or decode with a cache");
  }
  if (average != Average::heads) maps.columns = static_cast<std::size_t>(shown.dim(1));
  maps.scale = HeatScale::shares;
  maps.panels.clear();
  for (std::int64_t layer = 0; layer < shown.dim(0); ++layer) {
    for (std::int64_t head = 0; head < shown.dim(1); ++head) {
      maps.panels.push_back({panel_title(weights, layer, head, average), shown[{layer, head}]});
    }
  }
  return heat_map_svg(maps);
}

HeatMaps encoder_maps(const Tokens& read, const AttentionMapsOptions& options) {
  HeatMaps maps =
      maps_of("encoder_maps", read, read, options, [&](std::size_t, std::size_t s) { return s < read.size(); });
  maps.query_caption = "query (the token it reads)";
  return maps;
}

HeatMaps decoder_maps(const std::string& first, const Tokens& predicted, const AttentionMapsOptions& options) {
  Tokens read{first};
  if (!predicted.empty()) read.insert(read.end(), predicted.begin(), predicted.end() - 1);
  HeatMaps maps =
      maps_of("decoder_maps", predicted, read, options, [](std::size_t t, std::size_t s) { return s <= t; });
  maps.query_caption = predicts;
  return maps;
}

HeatMaps cross_maps(const Tokens& predicted, const Tokens& source, const AttentionMapsOptions& options) {
  HeatMaps maps =
      maps_of("cross_maps", predicted, source, options, [&](std::size_t, std::size_t s) { return s < source.size(); });
  maps.query_caption = predicts;
  maps.key_caption = "key (the token of the source)";
  return maps;
}

}  // namespace xgrad::kit
