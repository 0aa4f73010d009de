// Attention weights of a model as one array, as pictures, and as lists of alignments.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <xgrad/kit/draw/heatmap.h>
#include <xgrad/nn/attention/multi_head_attention.h>

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
///     nn::AttentionRecorder recorder;
///     nn::greedy(decoding, {.bos = bos, .eos = eos});
///     const Array cross = kit::attention_weights(recorder, ".cross_attn");
///
/// With `rows`, steps behind the last of them are left out. Throws ValueError if no layer has such a path,
/// or its weights do not fit together.
Array attention_weights(const nn::AttentionRecorder& recorder, std::string_view kind,
                        const WeightsOptions& options = {});

/// The axes that are averaged before attention is drawn.
enum class Average {
  none,
  heads,            ///< the heads of each layer
  layers_and_heads  ///< everything
};

/// Weights (layers, H, T, S) as they are, as (layers, 1, T, S), or as (1, 1, T, S). Throws ShapeError unless they have
/// four axes, none of them empty.
Array averaged(const Array& weights, Average average);

/// The weights (layers, H, T, S) as SVG: each layer a row of panels, each head a column; of averages a panel for each
/// layer, or one. Labels, captions and mask are those of `maps`: see encoder_maps, decoder_maps and cross_maps.
/// Throws as averaged and heat_map_svg.
std::string attention_svg(const Array& weights, HeatMaps maps, Average average = Average::none);

struct AttentionMapsOptions {
  std::string title = {};
  std::int64_t queries = 0;  ///< T: rows behind the last token are called <pad>; if 0, as many as there are tokens
  std::int64_t keys = 0;     ///< S: columns behind the last token are called <pad>, and masked; if 0, likewise
};

/// Labels, captions and mask of tokens that see one another, in the encoder of a translator or in a BERT: rows and
/// columns are the tokens that are read. Throws ValueError without tokens, or if there are more than rows or columns.
HeatMaps encoder_maps(const std::vector<std::string>& read, const AttentionMapsOptions& options = {});

/// Those of tokens that see themselves and what is before them, in a decoder or a language model: a row is called after
/// the token that it predicts, a column after the token that it reads. Those that are read are `first`, for example
/// <bos>, and then all predicted but the last. Throws as encoder_maps.
HeatMaps decoder_maps(const std::string& first, const std::vector<std::string>& predicted,
                      const AttentionMapsOptions& options = {});

/// Those of a decoder that looks at a source: a row is called after the token that it predicts. Throws as encoder_maps.
HeatMaps cross_maps(const std::vector<std::string>& predicted, const std::vector<std::string>& source,
                    const AttentionMapsOptions& options = {});

/// A key, and the weight that a query gave it.
struct AlignedKey {
  std::int64_t key = 0;
  double weight = 0;
};

/// For each query the `count` keys that it gave most weight, the greatest first, on the average of all layers and heads
/// of (layers, H, T, S); keys that are masked or got nothing are left out. Throws ShapeError unless there is a weight
/// for each pair of labels, ValueError for a count below 1, or a weight that is not masked and not finite.
std::vector<std::vector<AlignedKey>> alignments(const Array& weights, const HeatMaps& maps, std::int64_t count);

/// The same as lines of text, a query each:
///
///     query (the token it predicts)   most weight on
///     il                                   he's 0.81     calm 0.12
///
/// Throws as alignments.
std::string alignment_text(const Array& weights, const HeatMaps& maps, std::int64_t count = 3);

/// The same as SVG: queries at the left, keys at the right, the wider the line between two of them the greater the
/// weight, which is told under the pointer. Keys that are masked for every query are left out. Throws as alignments.
std::string alignment_svg(const Array& weights, const HeatMaps& maps, std::int64_t count = 3);

}  // namespace xgrad::kit
