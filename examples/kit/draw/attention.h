// Recorded attention weights as one array, as figures, and as lists of alignments.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <xgrad/kit/draw/heatmap.h>
#include <xgrad/nn/attention/multi_head_attention.h>

namespace xgrad::kit {

/// Selects recorded weights.
struct WeightsOptions {
  std::int64_t row = 0;                 ///< row of the batch
  std::vector<std::int64_t> rows = {};  ///< row in each step, if it changes: see nn::Hypothesis::rows
};

/// The weights of all layers whose paths end in `kind`, in the order in which they first ran: (layers, H, T, S). In
/// step-by-step decoding each layer has one record per step; the steps become the rows T. Keys that a step did not have
/// yet get the weight 0.
///
///     nn::AttentionRecorder recorder;
///     nn::greedy(decoding, {.bos = bos, .eos = eos});
///     const Array cross = kit::attention_weights(recorder, ".cross_attn");
///
/// Steps after the last entry of `rows` are ignored. Throws ValueError if no layer has such a path, or the weights of
/// layers and steps do not match.
Array attention_weights(const nn::AttentionRecorder& recorder, std::string_view kind,
                        const WeightsOptions& options = {});

/// The axes over which attention weights are averaged before drawing.
enum class Average {
  none,
  heads  ///< the heads of each layer
};

/// Heat maps of the weights (layers, H, T, S) as SVG: a row of panels for each layer, a column for each head. With
/// averages there is one panel for each layer. Labels, captions and mask come from `maps`: see encoder_maps,
/// decoder_maps and cross_maps. Throws what heat_map_svg() throws, ShapeError unless the weights have four axes and are
/// not empty, and ValueError if weights and labels differ in size.
std::string attention_svg(const Array& weights, HeatMaps maps, Average average = Average::none);

struct AttentionMapsOptions {
  std::string title = {};
};

/// Labels and captions for the self-attention of an encoder, such as BERT or a part of a translator. Rows and columns
/// are the tokens that it reads. Throws ValueError if there are no tokens.
HeatMaps encoder_maps(const std::vector<std::string>& read, const AttentionMapsOptions& options = {});

/// Labels, captions and mask for the causal self-attention of a decoder or a language model. The label of a row is the
/// token that it predicts, the label of a column the token that it reads. The tokens that are read are `first`, for
/// example <bos>, and all predicted tokens except the last. Throws what encoder_maps throws.
HeatMaps decoder_maps(const std::string& first, const std::vector<std::string>& predicted,
                      const AttentionMapsOptions& options = {});

/// Labels and captions for cross-attention to a source. The label of a row is the token that it predicts. Throws what
/// encoder_maps throws.
HeatMaps cross_maps(const std::vector<std::string>& predicted, const std::vector<std::string>& source,
                    const AttentionMapsOptions& options = {});

/// A key, and its weight for a query.
struct AlignedKey {
  std::int64_t key = 0;
  double weight = 0;
};

/// For each query the `count` keys with the largest weights, in descending order. Weights (layers, H, T, S) are
/// averaged over layers and heads. Masked keys and keys of weight 0 are omitted. Throws ShapeError unless there is a
/// weight for each pair of labels, and ValueError for a count below 1 or an unmasked weight that is not finite.
std::vector<std::vector<AlignedKey>> alignments(const Array& weights, const HeatMaps& maps, std::int64_t count);

/// The same as text, with one line for each query:
///
///     query (the token it predicts)   most weight on
///     il                                   he's 0.81     calm 0.12
///
/// Throws what alignments() throws.
std::string alignment_text(const Array& weights, const HeatMaps& maps, std::int64_t count = 3);

/// The same as SVG: queries at the left, keys at the right. The width of the line between a query and a key shows the
/// weight, its tooltip the value. Keys that are masked for every query are omitted. Throws what alignments() throws.
std::string alignment_svg(const Array& weights, const HeatMaps& maps, std::int64_t count = 3);

}  // namespace xgrad::kit
