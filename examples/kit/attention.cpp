// Putting recorded weights together, and drawing them.
#include <xgrad/kit/attention.h>

#include <algorithm>
#include <string>
#include <vector>

#include <xgrad/core/error.h>
#include <xgrad/kit/numbers.h>

namespace xgrad::kit {

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
  const auto refuse = [&](const char* why) { fail<ValueError>("attention_weights", "of '", kind, "': ", why); };
  if (layers.empty()) refuse("no layer of that name ran");

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

std::string attention_svg(const Array& weights, HeatMaps maps) {
  if (weights.rank() != 4) fail<ShapeError>("attention_svg", "weights are (layers, H, T, S), got ", weights.shape());
  maps.columns = static_cast<std::size_t>(weights.dim(1));
  maps.panels.clear();
  for (std::int64_t layer = 0; layer < weights.dim(0); ++layer) {
    for (std::int64_t head = 0; head < weights.dim(1); ++head) {
      maps.panels.push_back({cat("layer ", layer + 1, ", head ", head + 1), numbers(weights[{layer, head}])});
    }
  }
  return heat_map_svg(maps);
}

}  // namespace xgrad::kit
