// Attention weights of a model as one array, and as a picture.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <xgrad/kit/heatmap.h>
#include <xgrad/nn/multi_head_attention.h>

namespace xgrad::kit {

/// Which of the recorded weights.
struct WeightsOptions {
  std::int64_t row = 0;                 ///< of the batch
  std::vector<std::int64_t> rows = {};  ///< of each step, if they differ: nn::Hypothesis::rows
  std::int64_t keys = 0;  ///< S: later keys, which were not there yet, get the weight 0; if 0, as many as were recorded
};

/// The weights of all layers whose paths end in `kind`, in the order in which they first ran: (layers, H, T, S). The
/// steps of a decoding, one record of each layer for each step, become the rows T.
///
///     const nn::AttentionRecorder recorder;
///     nn::greedy(decoding, {.bos = bos, .eos = eos});
///     const Array cross = kit::attention_weights(recorder, ".cross_attn");
///
/// With `rows`, steps behind the last of them are left out. Throws ValueError if no layer has such a path,
/// or its weights do not fit together.
Array attention_weights(const nn::AttentionRecorder& recorder, std::string_view kind,
                        const WeightsOptions& options = {});

/// The weights (layers, H, T, S) as SVG: each layer a row of panels, each head a column. Titles, labels and mask are
/// those of `maps`. Throws ShapeError unless the weights have four axes, and what heat_map_svg throws.
std::string attention_svg(const Array& weights, HeatMaps maps);

}  // namespace xgrad::kit
