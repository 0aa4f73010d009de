// Utilities for the sections of the gallery: files named after the rows of the curriculum, and maps of plain numbers.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <xgrad/kit/draw/heatmap.h>
#include <xgrad/kit/draw/plot.h>
#include <xgrad/kit/program/output.h>
#include <xgrad/xgrad.h>

namespace gallery {

using namespace xgrad;

/// The pictures of a section go into this folder; some train a little.
void attention(const std::filesystem::path& out);
void heads(const std::filesystem::path& out);
void transformer(const std::filesystem::path& out);
void recurrent(const std::filesystem::path& out);
void search(const std::filesystem::path& out);
void vision(const std::filesystem::path& out);
void argument(const std::filesystem::path& out);

/// A leaf that gradients flow to, so that operations on it are recorded.
inline Tensor input(const char* name, const Shape& shape) { return variable(randn(shape).value(), name); }

/// 1, 2, 3, ..., with the same words before each.
inline std::vector<std::string> numbered(std::int64_t count, const std::string& word = "") {
  std::vector<std::string> labels;
  for (std::int64_t i = 1; i <= count; ++i) labels.push_back(str(word, i));
  return labels;
}

/// Matrices (q, k) of one size, by title.
struct Panel {
  std::string title;
  Array values;
};
inline kit::HeatMaps maps(const std::string& title, const std::vector<Panel>& panels, std::size_t columns = 3) {
  const Shape shape = panels.front().values.shape();
  const std::int64_t keys = shape[shape.rank() - 1];
  const std::int64_t queries = panels.front().values.size() / keys;
  kit::HeatMaps result{.title = title, .queries = numbered(queries), .keys = numbered(keys), .columns = columns};
  for (const Panel& panel : panels) result.panels.push_back({panel.title, panel.values});
  return result;
}
/// The same of weights: shares from 0 to 1.
inline kit::HeatMaps weight_maps(const std::string& title, const std::vector<Panel>& panels, std::size_t columns = 3) {
  kit::HeatMaps result = maps(title, panels, columns);
  result.scale = kit::HeatScale::shares;
  return result;
}
inline void save(const std::filesystem::path& file, const kit::HeatMaps& picture) {
  kit::save(file, kit::heat_map_svg(picture));
}

}  // namespace gallery
