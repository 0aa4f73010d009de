// Pictures in a grid, and confusion matrices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <xgrad/core/array/array.h>
#include <xgrad/kit/draw/svg.h>

namespace xgrad::kit {

/// A translucent overlay on pictures: how much a model looked at each part.
struct PictureOverlay {
  Array shares = {};         ///< (N, rows, columns) in [0, 1] of the cells of each picture, blue is 0 and yellow 1
  std::string caption = {};  ///< of the shares
  std::int64_t rows = 0, columns = 0;  ///< that lines divide pictures into; if 0, those of the shares
  std::string lines_caption = {};      ///< of the lines
};

/// Pictures in rows, each with a text below it.
struct PictureGrid {
  std::string title = {};
  Array images = {};                       ///< (N, 1 or 3, H, W) in [0, 1]
  std::vector<std::string> captions = {};  ///< N of them, or none
  PictureOverlay overlay = {};             ///< if it has shares, each picture stands beside itself under them
  std::size_t columns = 8;                 ///< pictures in one row
  double width = 84;                       ///< of a picture, in pixels of the figure
};

/// The figure as SVG, the pictures in it as PNG; a long caption goes on in further lines. Throws ShapeError unless the
/// images have such a shape, every one a caption, if any has, and shares of the overlay, if it has any; ValueError
/// without images or columns, for a width that is not from 1 to 4096, a value that is not a number, a share that is not
/// in [0, 1], or fewer than no lines.
std::string picture_grid_svg(const PictureGrid& grid);

/// How often class i was taken for class j, (classes, classes), from labels and guesses (N). Throws ShapeError unless
/// both are lists of the same length, ValueError for a number that is no class.
Index confusion_matrix(const Index& labels, const Index& guesses, std::int64_t classes);

/// A confusion matrix as a heat map (SVG): of each class, a row, the shares that were taken for each class. Throws
/// ShapeError unless it is (C, C) for C names, ValueError without classes.
std::string confusion_svg(const std::string& title, const Index& confusion, const std::vector<std::string>& classes);

}  // namespace xgrad::kit
