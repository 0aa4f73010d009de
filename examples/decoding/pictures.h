// The prefixes of a beam search as a tree.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <xgrad/kit/draw/svg.h>
#include <xgrad/kit/program/format.h>
#include <xgrad/xgrad.h>

#include "table.h"

namespace decoding {

using namespace xgrad;

/// Every prefix that was considered, with its probability: blue those that stayed in the beam, green those that ended
/// in it, grey those that were dropped.
inline std::string beam_svg(const std::vector<std::vector<std::string>>& steps, const nn::Hypotheses& found) {
  std::vector<std::string> ends;
  for (const nn::Hypothesis& one : found) {
    ends.emplace_back();
    for (const std::int64_t token : one.tokens) ends.back() += letters[token];
    if (one.ended) ends.back() += '.';
  }
  constexpr double left = 60, column = 190, top = 70, line = 30, box_width = 96, box_height = 22;
  std::size_t most = 1;
  for (const auto& open : steps) most = std::max(most, 4 * open.size());
  const double height = top + line * most + 20;
  kit::Svg svg(left + column * steps.size() - 60, height, "A beam search");
  svg.heading(20, 32, "A beam of width 2: what it explored, and what it kept", 16, 600);

  struct Place {
    double x, y, p;
  };
  std::map<std::string, Place> places{{"", {20, top + line * most / 2, 1}}};
  svg.circle(24, places[""].y, 5, {{"fill", kit::series_inks[0]}});
  for (std::size_t t = 0; t < steps.size(); ++t) {
    const double x = left + column * t;
    const double first = top + line * (most - 4 * steps[t].size()) / 2;
    for (std::size_t i = 0; i < 4 * steps[t].size(); ++i) {
      const std::string& from = steps[t][i / 4];
      const std::string prefix = from + letters[i % 4];
      const Place parent = places.at(from);
      const Place here{x, first + line * i, parent.p * probabilities(from)[i % 4]};
      places[prefix] = here;
      const bool open = t + 1 < steps.size() && std::ranges::find(steps[t + 1], prefix) != steps[t + 1].end();
      const bool ended = std::ranges::find(ends, prefix) != ends.end();
      const kit::Ink colour = ended ? kit::series_inks[2] : open ? kit::series_inks[0] : kit::frame_ink;
      svg.line(parent.x + (from.empty() ? 10 : box_width), parent.y, x, here.y,
               {{"stroke", colour}, {"stroke-width", open || ended ? 2.0 : 1.0}});
      svg.rect(x, here.y - box_height / 2, box_width, box_height,
               {{"rx", 4.0}, {"fill", open || ended ? colour : kit::ground_ink}, {"stroke", colour}});
      svg.text(
          x + box_width / 2, here.y + 4, prefix + "  " + kit::fixed(here.p, 3),
          {{"text-anchor", "middle"}, {"font-size", 12}, {"fill", open || ended ? kit::ground_ink : kit::quiet_ink}});
    }
  }
  return svg.str();
}

}  // namespace decoding
