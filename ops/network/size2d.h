// Sizes along the two axes of an image.
#pragma once

#include <cstdint>

#include "../../core/base/config.h"

namespace xgrad {

/// A size for the rows of an image and one for its columns; a single number stands for both.
struct Size2d {
  Size2d(std::int64_t both) : height(both), width(both) {}
  Size2d(std::int64_t rows, std::int64_t columns) : height(rows), width(columns) {}
  friend bool operator==(const Size2d&, const Size2d&) = default;

  std::int64_t height;
  std::int64_t width;
};

}  // namespace xgrad
