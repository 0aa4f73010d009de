// Image files: reading PNG with libpng and JPEG with libjpeg.
#pragma once

#include <filesystem>

#include <xgrad/core/array/array.h>

namespace xgrad::kit {

/// The image in a PNG or JPEG file, (3, H, W) in [0, 1]. The content of the file determines its type, not its name. The
/// three channels of a grey image are equal. PNG files may be of all kinds (grey, colour, palette, interlaced, 1 to 16
/// bits), JPEG files grey, YCbCr or RGB. Transparency, colour profiles and the orientation of a camera are ignored, as
/// in PIL's convert.
/// Throws IoError if the file cannot be read. Throws FormatError, which names the path, for other, truncated or damaged
/// files, for CMYK and for sides above 2^15. Also throws FormatError for a PNG file that declares more than its bytes
/// can hold. JPEG has no checksums: damage that leaves a complete image with wrong pixels is not detected.
Array read_image(const std::filesystem::path& path);

}  // namespace xgrad::kit
