// Both libraries leave a file that they cannot read by longjmp, which runs no destructors: what is between setjmp and
// the calls that may jump has no objects of classes of its own, and what has to be freed belongs to the caller.
#include <xgrad/kit/files/image_file.h>

#include <cstddef>
#include <cstdio>

#include <jerror.h>
#include <jpeglib.h>
#include <png.h>

#include <algorithm>
#include <csetjmp>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include <xgrad/core/base/error.h>
#include <xgrad/core/files/file.h>

namespace xgrad::kit {
namespace {

constexpr std::int64_t longest = 1 << 15;

/// Pixels as a file has them: (height, width, channels), 1 or 3 channels, of one byte or, most significant byte first,
/// of two.
struct Pixels {
  std::int64_t height = 0, width = 0, channels = 0, bytes = 1;
  std::vector<std::uint8_t> values = {};

  std::int64_t row() const { return width * channels * bytes; }
};

/// The last message of a library.
struct Message {
  char text[JMSG_LENGTH_MAX] = "";

  /// As much of it as there is room for.
  void set(std::string_view all) { text[all.copy(text, sizeof text - 1)] = 0; }
};

class PngReader {
 public:
  explicit PngReader(std::string_view file) : unread_(file) {
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, give_up, [](png_structp, png_const_charp) {});
    if (png_ != nullptr) info_ = png_create_info_struct(png_);
    if (info_ == nullptr) {
      png_destroy_read_struct(&png_, nullptr, nullptr);
      throw std::bad_alloc();
    }
  }
  ~PngReader() { png_destroy_read_struct(&png_, &info_, nullptr); }
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;

  const char* message() const { return message_.text; }

  /// Reads the file. False if it cannot. `allocate` makes room for the pixels, before they are read.
  template <class Allocate>
  bool read(Pixels& pixels, const Allocate& allocate) {
    if (setjmp(png_jmpbuf(png_))) return false;
    png_set_read_fn(png_, this, next_bytes);
    png_set_user_limits(png_, longest, longest);
    png_read_info(png_, info_);
    png_set_palette_to_rgb(png_);
    png_set_expand_gray_1_2_4_to_8(png_);
    png_set_strip_alpha(png_);
    const int passes = png_set_interlace_handling(png_);
    png_read_update_info(png_, info_);
    pixels.height = png_get_image_height(png_, info_);
    pixels.width = png_get_image_width(png_, info_);
    pixels.channels = png_get_channels(png_, info_);
    pixels.bytes = png_get_bit_depth(png_, info_) / 8;
    allocate();
    for (int pass = 0; pass < passes; ++pass) {
      for (std::int64_t y = 0; y < pixels.height; ++y) {
        png_read_row(png_, pixels.values.data() + y * pixels.row(), nullptr);
      }
    }
    png_read_end(png_, nullptr);
    return true;
  }

 private:
  [[noreturn]] static void give_up(png_structp png, png_const_charp text) {
    auto* reader = static_cast<PngReader*>(png_get_error_ptr(png));
    reader->message_.set(text);
    png_longjmp(png, 1);
  }
  static void next_bytes(png_structp png, png_bytep to, std::size_t count) {
    auto* reader = static_cast<PngReader*>(png_get_io_ptr(png));
    if (reader->unread_.size() < count) png_error(png, "the file ends early");
    std::memcpy(to, reader->unread_.data(), count);
    reader->unread_.remove_prefix(count);
  }

  std::string_view unread_;
  Message message_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
};

class JpegReader {
 public:
  explicit JpegReader(std::string_view file) : file_(file) {
    jpeg_.err = jpeg_std_error(&errors_);
    jpeg_.client_data = this;
    errors_.error_exit = give_up;
    errors_.emit_message = warn;
    errors_.output_message = [](j_common_ptr) {};
  }
  ~JpegReader() { jpeg_destroy_decompress(&jpeg_); }
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;

  const char* message() const { return message_.text; }

  template <class Allocate>
  bool read(Pixels& pixels, const Allocate& allocate) {
    if (setjmp(jump_)) return false;
    jpeg_create_decompress(&jpeg_);
    jpeg_mem_src(&jpeg_, reinterpret_cast<const unsigned char*>(file_.data()), file_.size());
    jpeg_read_header(&jpeg_, TRUE);
    if (jpeg_.jpeg_color_space == JCS_CMYK || jpeg_.jpeg_color_space == JCS_YCCK) refuse("CMYK");
    if (std::max<std::int64_t>(jpeg_.image_height, jpeg_.image_width) > longest) refuse("a side is above 2^15");
    jpeg_.out_color_space = jpeg_.num_components == 1 ? JCS_GRAYSCALE : JCS_RGB;
    pixels.height = jpeg_.image_height;
    pixels.width = jpeg_.image_width;
    pixels.channels = jpeg_.num_components == 1 ? 1 : 3;
    allocate();
    reads_pixels_ = true;
    jpeg_start_decompress(&jpeg_);
    while (jpeg_.output_scanline < jpeg_.output_height) {
      JSAMPROW row = pixels.values.data() + jpeg_.output_scanline * pixels.row();
      jpeg_read_scanlines(&jpeg_, &row, 1);
    }
    jpeg_finish_decompress(&jpeg_);
    return true;
  }

 private:
  [[noreturn]] void refuse(const char* text) {
    message_.set(text);
    std::longjmp(jump_, 1);
  }
  [[noreturn]] static void give_up(j_common_ptr jpeg) {
    auto* reader = static_cast<JpegReader*>(jpeg->client_data);
    jpeg->err->format_message(jpeg, reader->message_.text);
    std::longjmp(reader->jump_, 1);
  }
  /// The library would go on in grey where data are missing. Bytes that are too many do no harm between two parts of a
  /// header, but are what damaged pixels leave over.
  static void warn(j_common_ptr jpeg, int level) {
    const bool reads_pixels = static_cast<JpegReader*>(jpeg->client_data)->reads_pixels_;
    if (level < 0 && (reads_pixels || jpeg->err->msg_code != JWRN_EXTRANEOUS_DATA)) give_up(jpeg);
  }

  std::string_view file_;
  Message message_;
  bool reads_pixels_ = false;
  std::jmp_buf jump_;
  jpeg_error_mgr errors_;
  jpeg_decompress_struct jpeg_{};
};

template <class Reader>
Pixels pixels_of(const std::filesystem::path& path, std::string_view file, const char* kind, std::int64_t most) {
  const auto refuse = [&](const auto&... why) {
    fail<FormatError>("read_image", path.string(), ": bad ", kind, ": ", why...);
  };
  Pixels pixels;
  Reader reader(file);
  const auto allocate = [&] {
    if (pixels.height > most / pixels.row()) {
      refuse("declares ", pixels.width, " x ", pixels.height, " pixels, more than ", file.size(), " bytes can hold");
    }
    pixels.values.resize(static_cast<std::size_t>(pixels.height * pixels.row()));
  };
  if (!reader.read(pixels, allocate)) refuse(reader.message());
  return pixels;
}

/// (3, H, W) in [0, 1].
template <class Value>
Array numbers_of(const Pixels& pixels, const Value& value) {
  const std::int64_t C = pixels.channels, plane = pixels.height * pixels.width;
  Array image(Shape{3, pixels.height, pixels.width});
  Real* out = image.mutable_data();
  for (std::int64_t i = 0; i < plane; ++i) {
    for (std::int64_t c = 0; c < 3; ++c) out[c * plane + i] = value(C * i + (C == 3 ? c : 0));
  }
  return image;
}

}  // namespace

Array read_image(const std::filesystem::path& path) {
  const std::string file = read_file(path.string());
  const auto begins = [&](std::string_view mark) { return file.starts_with(mark); };
  Pixels pixels;
  if (begins("\x89PNG\r\n\x1a\n")) {
    // Deflate makes of a byte 1032 at the most, and of a pixel there is a bit or more, which becomes three bytes.
    pixels = pixels_of<PngReader>(path, file, "PNG", 24 * 1032 * std::ssize(file));
  } else if (begins("\xff\xd8\xff")) {
    // A block of 64 pixels has a bit or more.
    pixels = pixels_of<JpegReader>(path, file, "JPEG", 3 * 512 * std::ssize(file));
  } else {
    fail<FormatError>("read_image", path.string(), ": neither PNG nor JPEG");
  }
  const std::uint8_t* values = pixels.values.data();
  if (pixels.bytes == 1) {
    return numbers_of(pixels, [&](std::int64_t i) { return static_cast<Real>(values[i]) / 255; });
  }
  return numbers_of(pixels,
                    [&](std::int64_t i) { return static_cast<Real>(values[2 * i] << 8 | values[2 * i + 1]) / 65535; });
}

}  // namespace xgrad::kit
