// Putting recorded weights together, and drawing them.
#include <xgrad/kit/draw/attention.h>

#include <algorithm>
#include <set>

#include <xgrad/core/base/error.h>
#include <xgrad/ops/reduce/reduce.h>
#include <xgrad/ops/shape/join.h>

namespace xgrad::kit {
namespace {

using Tokens = std::vector<std::string>;

constexpr const char* predicts = "query (the token it predicts)";
constexpr const char* reads = "key (the token it reads)";

void check_tokens(const char* op, const Tokens& tokens) {
  if (tokens.empty()) fail<ValueError>(op, "there are no tokens");
}

std::string panel_title(const Array& weights, std::int64_t layer, std::int64_t head, Average average) {
  const std::int64_t L = weights.dim(0), H = weights.dim(1);
  std::string title = L > 1 ? str("layer ", layer + 1) : "";
  if (H > 1 && L > 1) title += ", ";
  if (H > 1) title += average == Average::heads ? "mean" : str("head ", head + 1);
  return title;
}

}  // namespace

Array attention_weights(const nn::AttentionRecorder& recorder, std::string_view kind, const WeightsOptions& options) {
  std::vector<std::string> layers;
  std::vector<std::vector<const Array*>> steps;  // of each layer, (B, H, t, s)
  std::int64_t S = 0;
  for (const auto& [path, weights] : recorder.records()) {
    if (!path.ends_with(kind)) continue;
    const auto layer = static_cast<std::size_t>(std::ranges::find(layers, path) - layers.begin());
    if (layer == layers.size()) {
      layers.push_back(path);
      steps.emplace_back();
    }
    if (!options.rows.empty() && steps[layer].size() == options.rows.size()) continue;
    steps[layer].push_back(&weights);
    S = std::max(S, weights.dim(3));
  }
  const auto refuse = [&](const std::string& why) { fail<ValueError>("attention_weights", "of '", kind, "': ", why); };
  if (layers.empty()) {
    std::set<std::string> ran;
    for (const auto& record : recorder.records()) ran.insert(record.path);
    refuse(str("no layer whose path ends so ran, only ", std::vector(ran.begin(), ran.end())));
  }

  const std::int64_t H = steps[0][0]->dim(1);
  std::vector<Array> all;  // (H, T, S) of each layer
  for (const auto& layer : steps) {
    std::vector<Array> rows;
    for (std::size_t i = 0; i < layer.size(); ++i) {
      const Array& step = *layer[i];
      const std::int64_t row = options.rows.empty() ? options.row : options.rows[i];
      if (step.dim(1) != H || row < 0 || row >= step.dim(0)) refuse("they do not fit together");
      Array& all_keys = rows.emplace_back(Shape{H, step.dim(2), S}, Real(0));
      all_keys[{_, _, slice(0, step.dim(3))}] = step[{row}];
    }
    all.push_back(concat(rows, 1));
    if (all.back().shape() != all.front().shape()) refuse("layers ran for different numbers of steps");
  }
  return stack(all);
}

std::string attention_svg(const Array& weights, HeatMaps maps, Average average) {
  constexpr const char* op = "attention_svg";
  if (weights.rank() != 4) fail<ShapeError>(op, "weights are (layers, H, T, S), got ", weights.shape());
  if (weights.size() == 0) fail<ShapeError>(op, "there are no weights in ", weights.shape());
  const Array shown = average == Average::heads ? mean(weights, 1, {.keepdim = true}).value() : weights;
  if (shown.dim(2) != std::ssize(maps.queries) || shown.dim(3) != std::ssize(maps.keys)) {
    fail<ValueError>(op, "weights of ", shown.dim(2), " queries and ", shown.dim(3), " keys for ",
                     maps.queries.size(), " and ", maps.keys.size(),
                     " labels; without padding: weights[{_, _, slice(0, ", maps.queries.size(), "), slice(0, ",
                     maps.keys.size(), ")}]. Of a text that was read again for each new word, record one run over the "
                     "whole, or decode with a cache");
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
  check_tokens("encoder_maps", read);
  return {.title = options.title,
          .queries = read,
          .keys = read,
          .query_caption = "query (the token it reads)",
          .key_caption = reads};
}

HeatMaps decoder_maps(const std::string& first, const Tokens& predicted, const AttentionMapsOptions& options) {
  check_tokens("decoder_maps", predicted);
  HeatMaps maps{.title = options.title,
                .queries = predicted,
                .keys = {first},
                .query_caption = predicts,
                .key_caption = reads};
  maps.keys.insert(maps.keys.end(), predicted.begin(), predicted.end() - 1);
  for (std::size_t t = 0; t < predicted.size(); ++t) {
    for (std::size_t s = 0; s < predicted.size(); ++s) maps.masked.push_back(s > t);
  }
  return maps;
}

HeatMaps cross_maps(const Tokens& predicted, const Tokens& source, const AttentionMapsOptions& options) {
  check_tokens("cross_maps", predicted);
  check_tokens("cross_maps", source);
  return {.title = options.title,
          .queries = predicted,
          .keys = source,
          .query_caption = predicts,
          .key_caption = "key (the token of the source)"};
}

}  // namespace xgrad::kit
