// Arrays as PNG files.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include <xgrad/core/array/array.h>

namespace xgrad::kit {

/// A picture (1, H, W) in grey, (3, H, W) in colour or (4, H, W) in colour and with an opacity as a PNG file of 8 bits
/// a value; values below 0 and above 1 are shown as 0 and 1. Throws ShapeError for another shape, ValueError for a
/// value that is not a number.
std::string png(const Array& image);

/// The same as an address that pages and SVG take for a picture: data:image/png;base64,...
std::string png_address(const Array& image);

/// A picture (4, height, width) of colours 0xRRGGBB, row after row, all of one opacity.
Array coloured(std::span<const std::uint32_t> colours, std::int64_t height, double opacity);

}  // namespace xgrad::kit
