// Figures made of pictures and of counts.
#include <xgrad/kit/draw/pictures.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include <xgrad/core/base/error.h>
#include <xgrad/kit/draw/heatmap.h>
#include <xgrad/kit/draw/png.h>
#include <xgrad/ops/elementwise/integer.h>
#include <xgrad/ops/reduce/count.h>

namespace xgrad::kit {

namespace {

constexpr double picture_gap = 12, picture_font = 11, beside = 4;
constexpr double opacity = 0.6;
/// Pictures, and what lies on them, are the same on every ground.
constexpr Ink same_ink(std::uint32_t colour) { return {colour, colour}; }

/// Of a share, the colour that lies over a picture: dark blue, magenta, yellow, whose hues are told apart on light and
/// on dark parts (five colours of matplotlib's plasma).
Ink overlay_ink(double share) {
  constexpr std::array<Ink, 5> stops{same_ink(0x0d0887), same_ink(0x7e03a8), same_ink(0xcc4778), same_ink(0xf89540),
                                     same_ink(0xf0f921)};
  return mixed(share, stops);
}

void check(const char* op, const PictureGrid& grid) {
  const Array& images = grid.images;
  if (images.rank() != 4) fail<ShapeError>(op, "needs pictures (N, C, H, W), got ", images.shape());
  if (images.size() == 0 || grid.columns == 0) fail<ValueError>(op, "no pictures, or no columns");
  if (!(grid.width >= 1 && grid.width <= 4096)) fail<ValueError>(op, "width must be in [1, 4096], got ", grid.width);
  if (!grid.captions.empty() && std::ssize(grid.captions) != images.dim(0)) {
    fail<ShapeError>(op, grid.captions.size(), " captions for pictures ", images.shape());
  }
  const Array& shares = grid.overlay.shares;
  if (shares.size() == 0) return;
  if (shares.rank() != 3 || shares.dim(0) != images.dim(0)) {
    fail<ShapeError>(op, "needs shares (N, rows, columns), got ", shares.shape(), " for pictures ", images.shape());
  }
  for (const Real share : shares) {
    if (!(share >= 0 && share <= 1)) fail<ValueError>(op, "a share is in [0, 1], got ", share);
  }
  if (grid.overlay.rows < 0 || grid.overlay.columns < 0) {
    fail<ValueError>(op, "a negative number of rows or columns of lines");
  }
}

/// Shares (rows, columns) as colours and opacities (4, rows, columns).
Array overlay_of(const Array& shares) {
  std::vector<std::uint32_t> colours;
  for (const Real share : shares) colours.push_back(overlay_ink(share).light);
  return coloured(colours, shares.dim(0), opacity);
}

/// Between `count` parts of a length, from `begin` on.
std::vector<double> between(double begin, double length, std::int64_t count) {
  std::vector<double> places;
  for (std::int64_t i = 1; i < count; ++i) {
    places.push_back(begin + length * static_cast<double>(i) / static_cast<double>(count));
  }
  return places;
}

/// The scale, and the caption of the lines.
struct Key {
  std::vector<std::string> scale, lines;

  static constexpr double bar = 120, height = 14, at = Sheet::margin + bar + 44, least_width = at + 200;

  Key(const PictureOverlay& overlay, double width)
      : scale(wrap_width(overlay.caption, picture_font, width - at)),
        lines(wrap_width(overlay.lines_caption, picture_font, width - at)) {}

  double scale_height() const { return std::max(line_height(picture_font), lines_height(scale, picture_font)); }
  double total_height() const { return 2 * picture_gap + scale_height() + lines_height(lines, picture_font); }

  void draw(Svg& svg, double y) const {
    constexpr int strips = 40;
    svg.open("g", {{"shape-rendering", "crispEdges"}});
    for (const bool dark : {false, true}) {  // over white above, over black below
      svg.rect(Sheet::margin + 12, y + (dark ? height / 2 : 0), bar, height / 2,
               {{"fill", dark ? "#000000" : "#ffffff"}});
    }
    for (int i = 0; i < strips; ++i) {
      svg.rect(Sheet::margin + 12 + i * bar / strips, y, bar / strips, height,
               {{"fill", overlay_ink((i + 0.5) / strips)}, {"fill-opacity", opacity}});
    }
    svg.close("g");
    svg.rect(Sheet::margin + 12, y, bar, height, {{"fill", "none"}, {"stroke", frame_ink}});
    svg.lines(Sheet::margin, y + 11, {"0"}, picture_font, {{"fill", quiet_ink}});
    svg.lines(Sheet::margin + bar + 18, y + 11, {"1"}, picture_font, {{"fill", quiet_ink}});
    svg.lines(at, y + 11, scale, picture_font, {{"fill", quiet_ink}});
    const double below = y + 11 + scale_height();
    if (!lines.empty()) {
      svg.line(Sheet::margin + 12, below - 4, Sheet::margin + 12 + bar, below - 4,
               {{"stroke", frame_ink}, {"stroke-width", 2}});
    }
    svg.lines(at, below, lines, picture_font, {{"fill", quiet_ink}});
  }
};

}  // namespace

std::string picture_grid_svg(const PictureGrid& grid) {
  check("picture_grid_svg", grid);
  const auto N = static_cast<std::size_t>(grid.images.dim(0));
  const std::size_t columns = std::min(grid.columns, N), rows = (N + columns - 1) / columns;
  const bool overlaid = grid.overlay.shares.size() > 0;
  const double width = grid.width;
  const double height = width * static_cast<double>(grid.images.dim(2)) / static_cast<double>(grid.images.dim(3));
  const double across = (overlaid ? 2 * width + beside : width) + picture_gap;
  std::vector<std::vector<std::string>> captions;
  double captions_height = 0;
  for (const std::string& caption : grid.captions) {
    captions.push_back(wrap_width(caption, picture_font, across - 4));
    captions_height = std::max(captions_height, lines_height(captions.back(), picture_font));
  }
  const double down = height + picture_gap + (captions_height == 0 ? 0 : 2 + captions_height);
  const double grid_width = static_cast<double>(columns) * across - picture_gap;
  const Sheet sheet(grid.title, std::max(grid_width, overlaid ? Key::least_width - 2 * Sheet::margin : 0.0));
  const double top = sheet.top(), bottom = top + static_cast<double>(rows) * down - picture_gap;
  const Key key(grid.overlay, sheet.width() - Sheet::margin);
  Svg svg = sheet.svg(bottom + (overlaid ? key.total_height() : 0) - top);
  for (std::size_t i = 0; i < N; ++i) {
    const double x = Sheet::margin + static_cast<double>(i % columns) * across,
                 y = top + static_cast<double>(i / columns) * down;
    const std::string caption = grid.captions.empty() ? "" : grid.captions[i];
    const std::string address = png_address(grid.images[{i}]);
    svg.image(x, y, width, height, address, caption);
    if (!captions.empty()) {
      svg.lines(x + (across - picture_gap) / 2, y + height + line_height(picture_font), captions[i], picture_font,
                {{"text-anchor", "middle"}});
    }
    if (!overlaid) continue;
    const double right = x + width + beside;
    const Array shares = grid.overlay.shares[{i}];
    svg.image(right, y, width, height, address, caption);
    svg.image(right, y, width, height, png_address(overlay_of(shares)), caption);
    svg.open("g", {{"stroke", same_ink(0xffffff)}, {"stroke-width", 0.75}, {"stroke-opacity", 0.6}});
    for (const double at : between(right, width, grid.overlay.columns == 0 ? shares.dim(1) : grid.overlay.columns)) {
      svg.line(at, y, at, y + height, {});
    }
    for (const double at : between(y, height, grid.overlay.rows == 0 ? shares.dim(0) : grid.overlay.rows)) {
      svg.line(right, at, right + width, at, {});
    }
    svg.close("g");
  }
  if (overlaid) key.draw(svg, bottom + 2 * picture_gap);
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
  return bincount(labels * classes + guesses, {.minlength = classes * classes}).reshaped({classes, classes});
}

std::string confusion_svg(const std::string& title, const Index& confusion, const std::vector<std::string>& classes) {
  const std::int64_t C = std::ssize(classes);
  if (confusion.shape() != Shape{C, C}) {
    fail<ShapeError>("confusion_svg", C, " classes need (", C, ", ", C, "), got ", confusion.shape());
  }
  HeatMaps maps{.title = title,
                .queries = classes,
                .keys = classes,
                .panels = {{}},
                .scale = HeatScale::shares,
                .query_caption = "true class",
                .key_caption = "predicted class"};
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
