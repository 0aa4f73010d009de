// Images in a grid, and confusion matrices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <xgrad/core/array/array.h>
#include <xgrad/kit/draw/svg.h>

namespace xgrad::kit {

/// A translucent overlay on images, for example the attention to each part.
struct PictureOverlay {
  Array shares = {};         ///< (N, rows, columns): values in [0, 1] for cells of each image; 0 is blue, 1 yellow
  std::string caption = {};  ///< caption of the values
  std::int64_t rows = 0, columns = 0;  ///< number of cells that the lines separate; 0: as in `shares`
  std::string lines_caption = {};      ///< caption of the lines
};

/// Images in rows, each with a caption below it.
struct PictureGrid {
  std::string title = {};
  Array images = {};                       ///< (N, 1 or 3, H, W) in [0, 1]
  std::vector<std::string> captions = {};  ///< N captions, or none
  PictureOverlay overlay = {};             ///< if it has values, each image is drawn without and with it
  std::size_t columns = 8;                 ///< number of images in one row
  double width = 84;                       ///< width of an image in pixels
};

/// The figure as SVG, with images embedded as PNG. Long captions are broken into lines. Throws ShapeError if the images
/// have another shape, or if there is not one caption and one array of overlay values for each image. Throws ValueError
/// if there are no images or columns, for a width outside [1, 4096], an image value that is NaN, an overlay value
/// outside [0, 1], or a negative number of lines.
std::string picture_grid_svg(const PictureGrid& grid);

/// The confusion matrix (classes, classes) from labels and predictions (N): entry (i, j) counts the samples of class i
/// that were predicted as class j. Throws ShapeError unless both are lists of the same length, and ValueError for a
/// number that is no class, or unless 1 <= classes <= 32768.
Index confusion_matrix(const Index& labels, const Index& guesses, std::int64_t classes);

/// A confusion matrix as a heat map (SVG). Each row shows the fractions of a class that were predicted as each class.
/// Throws ShapeError unless it is (C, C) for C names, and ValueError if there are no classes.
std::string confusion_svg(const std::string& title, const Index& confusion, const std::vector<std::string>& classes);

}  // namespace xgrad::kit
