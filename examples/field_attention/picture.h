// The picture of the example: how the fields of records look at each other.
#pragma once

#include <xgrad/kit/draw/heatmap.h>

#include "model.h"

namespace field_attention {

/// A row of panels for each head of weights (H, B, F, F), a column for each record.
inline kit::HeatMaps weight_maps(const Index& records, const Tensor& weights) {
  kit::HeatMaps maps{.title = "Attention between fields, for three records (sex, brand)",
                     .queries = {"sex", "brand"},
                     .keys = {"sex", "brand"},
                     .columns = static_cast<std::size_t>(records.dim(0)),
                     .scale = kit::HeatScale::shares,
                     .query_caption = "field",
                     .key_caption = "attends to"};
  for (std::int64_t h = 0; h < weights.dim(0); ++h) {
    for (std::int64_t b = 0; b < records.dim(0); ++b) {
      maps.panels.push_back(
          {str("(", records.at({b, 0}), ", ", records.at({b, 1}), "), head ", h + 1), weights.value()[{h, b}]});
    }
  }
  return maps;
}

}  // namespace field_attention
