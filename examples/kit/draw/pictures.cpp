// Figures made of pictures and of counts.
#include <xgrad/kit/draw/pictures.h>

#include <algorithm>
#include <numeric>
#include <span>

#include <xgrad/core/base/error.h>
#include <xgrad/kit/draw/heatmap.h>
#include <xgrad/kit/draw/png.h>

namespace xgrad::kit {

std::string picture_grid_svg(const PictureGrid& grid) {
  constexpr const char* op = "picture_grid_svg";
  const Array& images = grid.images;
  if (images.rank() != 4) fail<ShapeError>(op, "needs pictures (N, C, H, W), got ", images.shape());
  if (images.size() == 0 || grid.columns == 0) fail<ValueError>(op, "no pictures, or no columns");
  if (!(grid.width >= 1 && grid.width <= 4096)) fail<ValueError>(op, "width must be in [1, 4096], got ", grid.width);
  if (!grid.captions.empty() && std::ssize(grid.captions) != images.dim(0)) {
    fail<ShapeError>(op, grid.captions.size(), " captions for pictures ", images.shape());
  }
  constexpr double margin = 24, gap = 12, font = 11, line = 16;
  const auto N = static_cast<std::size_t>(images.dim(0));
  const std::int64_t C = images.dim(1), H = images.dim(2), W = images.dim(3);
  const std::size_t columns = std::min(grid.columns, N), rows = (N + columns - 1) / columns;
  const double height = grid.width * static_cast<double>(H) / static_cast<double>(W);
  const double across = grid.width + gap, down = height + gap + (grid.captions.empty() ? 0 : line);
  const double top = grid.title.empty() ? margin : margin + 30;
  const double row_width = 2 * margin + static_cast<double>(columns) * across - gap;
  const double wide = std::max(row_width, 2 * margin + bold_width(grid.title, 17));
  Svg svg(wide, top + static_cast<double>(rows) * down - gap + margin, grid.title, grid.theme);
  if (!grid.title.empty()) svg.heading(margin, 34, grid.title, 17, wide - 2 * margin);
  for (std::size_t i = 0; i < N; ++i) {
    const double x = margin + static_cast<double>(i % columns) * across,
                 y = top + static_cast<double>(i / columns) * down;
    const Real* picture = images.data() + static_cast<std::int64_t>(i) * C * H * W;
    const Array image(Shape{C, H, W}, std::span<const Real>(picture, static_cast<std::size_t>(C * H * W)));
    const std::string caption = grid.captions.empty() ? "" : grid.captions[i];
    svg.shape("image",
              {{"x", x},
               {"y", y},
               {"width", grid.width},
               {"height", height},
               {"style", "image-rendering:pixelated"},
               {"href", png_address(image)}},
              caption);
    if (caption.empty()) continue;
    svg.text(x + grid.width / 2, y + height + line - 3, fit_width(caption, font, across),
             {{"font-size", font}, {"text-anchor", "middle"}});
  }
  return svg.str();
}

Index confusion_matrix(const Index& labels, const Index& guesses, std::int64_t classes) {
  constexpr const char* op = "confusion_matrix";
  if (labels.rank() != 1 || guesses.shape() != labels.shape()) {
    fail<ShapeError>(op, "needs labels and guesses (N), got ", labels.shape(), " and ", guesses.shape());
  }
  if (classes < 1 || classes > 1 << 15) fail<ValueError>(op, "classes must be in [1, 32768], got ", classes);
  for (const Index& list : {labels, guesses}) {
    for (const std::int64_t number : list) {
      if (number < 0 || number >= classes) fail<ValueError>(op, "class ", number, " is not in [0, ", classes, ")");
    }
  }
  Index counts({classes, classes}, 0);
  for (std::int64_t i = 0; i < labels.size(); ++i) {
    ++counts.mutable_data()[labels.data()[i] * classes + guesses.data()[i]];
  }
  return counts;
}

std::string confusion_svg(const std::string& title, const Index& confusion, const std::vector<std::string>& classes,
                          Theme theme) {
  const std::int64_t C = std::ssize(classes);
  if (confusion.shape() != Shape{C, C}) {
    fail<ShapeError>("confusion_svg", C, " classes need (", C, ", ", C, "), got ", confusion.shape());
  }
  HeatMaps maps{.title = title,
                .queries = classes,
                .keys = classes,
                .panels = {{}},
                .columns = 1,
                .query_caption = "class",
                .key_caption = "taken for",
                .theme = theme};
  for (std::int64_t i = 0; i < C; ++i) {
    const std::int64_t* row = confusion.data() + i * C;
    const std::int64_t total = std::max<std::int64_t>(1, std::accumulate(row, row + C, std::int64_t{0}));
    for (std::int64_t j = 0; j < C; ++j) {
      maps.panels[0].values.push_back(static_cast<double>(row[j]) / static_cast<double>(total));
    }
  }
  return heat_map_svg(maps);
}

}  // namespace xgrad::kit
