// Pictures in files: PNG through libpng, JPEG through libjpeg.
#pragma once

#include <filesystem>

#include <xgrad/core/array/array.h>

namespace xgrad::kit {

/// The picture in a PNG or JPEG file, by its content and not by its name: (3, H, W) in [0, 1]; of a grey picture all
/// three channels are its light. Read are PNG files of every kind (grey, coloured, palette, interlaced, 1 to 16 bits)
/// and JPEG files in grey and YCbCr or RGB; transparency, colour profiles and the orientation of a camera are ignored,
/// as with PIL's convert. Throws IoError if the file cannot be read; FormatError, with the path, for anything else than
/// such a file, for a shortened one, for a damaged one (but a JPEG file has no checksums: damage that leaves a whole
/// picture of other pixels is not seen), for CMYK, for sides above 2^15, and for a PNG file that declares more than its
/// bytes can hold.
Array read_image(const std::filesystem::path& path);

}  // namespace xgrad::kit
