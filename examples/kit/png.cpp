// PNG (ISO/IEC 15948) is a signature and four kinds of chunks, of which one is packed by zlib.
#include <xgrad/kit/png.h>

#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>

#include <xgrad/core/error.h>

namespace xgrad::kit {
namespace {

std::string big_endian(std::uint64_t number) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(number >> shift & 0xFF);
  return bytes;
}

/// Length, kind and data of a chunk, and the checksum of the last two.
std::string chunk(std::string_view kind, std::string_view data) {
  const std::string body = std::string(kind) + std::string(data);
  const auto* bytes = reinterpret_cast<const Bytef*>(body.data());
  return big_endian(data.size()) + body + big_endian(crc32(0, bytes, static_cast<uInt>(body.size())));
}

std::string packed(std::string_view data) {
  uLongf size = compressBound(static_cast<uLong>(data.size()));
  std::string result(size, '\0');
  const auto* from = reinterpret_cast<const Bytef*>(data.data());
  if (compress(reinterpret_cast<Bytef*>(result.data()), &size, from, static_cast<uLong>(data.size())) != Z_OK) {
    fail<LimitError>("png", "no memory to pack ", data.size(), " bytes");
  }
  result.resize(size);
  return result;
}

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
  const bool fits = image.rank() == 3 && (image.dim(0) == 1 || image.dim(0) == 3) && image.size() > 0;
  if (!fits || image.dim(1) > longest || image.dim(2) > longest) {
    fail<ShapeError>("png", "needs a picture (1, H, W) or (3, H, W) with sides from 1 to ", longest, ", got ",
                     image.shape());
  }
  const std::int64_t C = image.dim(0), H = image.dim(1), W = image.dim(2);
  std::string rows;
  for (std::int64_t y = 0; y < H; ++y) {
    rows += '\0';  // no filter
    for (std::int64_t x = 0; x < W; ++x) {
      for (std::int64_t c = 0; c < C; ++c) {
        const Real value = image.data()[(c * H + y) * W + x];
        if (std::isnan(value)) fail<ValueError>("png", "a value is not a number");
        rows += static_cast<char>(std::lround(std::clamp<Real>(value, 0, 1) * 255));
      }
    }
  }
  const std::string header = big_endian(static_cast<std::uint64_t>(W)) + big_endian(static_cast<std::uint64_t>(H)) +
                             std::string{8, C == 1 ? '\0' : '\2', 0, 0, 0};
  return "\x89PNG\r\n\x1A\n" + chunk("IHDR", header) + chunk("IDAT", packed(rows)) + chunk("IEND", "");
}

std::string png_address(const Array& image) { return "data:image/png;base64," + base64(png(image)); }

}  // namespace xgrad::kit
