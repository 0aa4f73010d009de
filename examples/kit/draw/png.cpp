// Arrays as PNG files, which libpng writes.
#include <xgrad/kit/draw/png.h>

#include <png.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <vector>

#include <xgrad/core/base/error.h>
#include <xgrad/ops/shape/shape.h>

namespace xgrad::kit {
namespace {

std::string base64(std::string_view bytes) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (; !bytes.empty(); bytes.remove_prefix(std::min<std::size_t>(bytes.size(), 3))) {
    std::uint32_t three = 0;
    for (std::size_t i = 0; i < 3; ++i)
      three = three << 8 | (i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0);
    for (std::size_t i = 0; i < 4; ++i) text += i <= bytes.size() ? digits[three >> (18 - 6 * i) & 63] : '=';
  }
  return text;
}

}  // namespace

std::string png(const Array& image) {
  constexpr std::int64_t longest = 1 << 14;
  const bool fits =
      image.rank() == 3 && (image.dim(0) == 1 || image.dim(0) == 3 || image.dim(0) == 4) && image.size() > 0;
  if (!fits || image.dim(1) > longest || image.dim(2) > longest) {
    fail<ShapeError>("png", "needs a picture (1, H, W), (3, H, W) or (4, H, W) with sides from 1 to ", longest,
                     ", got ", image.shape());
  }
  const std::int64_t C = image.dim(0), H = image.dim(1), W = image.dim(2);
  std::vector<png_byte> bytes;  // (H, W, C)
  for (const Real value : permute(image, {1, 2, 0})) {
    if (std::isnan(value)) fail<ValueError>("png", "a value is not a number");
    bytes.push_back(static_cast<png_byte>(std::lround(std::clamp<Real>(value, 0, 1) * 255)));
  }
  png_image description{};
  description.version = PNG_IMAGE_VERSION;
  description.width = static_cast<png_uint_32>(W);
  description.height = static_cast<png_uint_32>(H);
  description.format = C == 1 ? PNG_FORMAT_GRAY : C == 3 ? PNG_FORMAT_RGB : PNG_FORMAT_RGBA;
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(description);
  std::string file(size, '\0');
  if (!png_image_write_to_memory(&description, file.data(), &size, 0, bytes.data(), 0, nullptr)) {
    fail<LimitError>("png", description.message);
  }
  file.resize(size);
  return file;
}

std::string png_address(const Array& image) { return "data:image/png;base64," + base64(png(image)); }

Array coloured(std::span<const std::uint32_t> colours, std::int64_t height, double opacity) {
  Array image(Shape{4, height, std::ssize(colours) / height}, static_cast<Real>(opacity));
  for (std::size_t i = 0; i < 3 * colours.size(); ++i) {
    const std::uint32_t colour = colours[i % colours.size()], channel = colour >> (16 - 8 * (i / colours.size())) & 255;
    image.mutable_data()[i] = static_cast<Real>(channel) / 255;
  }
  return image;
}

}  // namespace xgrad::kit
