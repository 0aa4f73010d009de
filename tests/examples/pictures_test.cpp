// Pictures as PNG and in figures, and confusion matrices.
#include <doctest/doctest.h>

#include <zlib.h>

#include <array>
#include <cmath>
#include <cstdlib>

#include <xgrad/kit/draw/pictures.h>
#include <xgrad/kit/draw/png.h>

#include "support.h"

using namespace xgrad::kit;
using xgrad::Array;
using xgrad::Index;
using xgrad::Real;
using xgrad::Shape;
using xgrad::ShapeError;
using xgrad::ValueError;
using xgrad::kit::testing::count_of;
using xgrad::kit::testing::hostile;
using xgrad::kit::testing::xml_error;

namespace {

std::uint32_t four(std::string_view bytes) {
  std::uint32_t number = 0;
  for (const char byte : bytes.substr(0, 4)) number = number << 8 | static_cast<unsigned char>(byte);
  return number;
}

/// The prediction of PNG's filters for a byte from those to its left, above and left above it (ISO/IEC 15948, 9.2).
int foretold(int filter, int left, int above, int corner) {
  const int paeth = left + above - corner;
  const int from_left = std::abs(paeth - left), from_above = std::abs(paeth - above);
  const int from_corner = std::abs(paeth - corner);
  const int nearest = from_left <= from_above && from_left <= from_corner ? left
                      : from_above <= from_corner                         ? above
                                                                          : corner;
  return std::array{0, left, above, (left + above) / 2, nearest}.at(static_cast<std::size_t>(filter));
}

/// The pixels of a PNG file.
struct Decoded {
  std::uint32_t width = 0, height = 0;
  int colour = 0;
  std::vector<int> values;
};

/// Reads a file back, every checksum with it.
Decoded decoded(std::string_view file) {
  REQUIRE(file.starts_with("\x89PNG\r\n\x1A\n"));
  file.remove_prefix(8);
  Decoded result;
  std::string packed;
  std::string_view kind;
  while (!file.empty()) {
    const std::size_t length = four(file);
    REQUIRE(file.size() >= length + 12);
    kind = file.substr(4, 4);
    const std::string_view data = file.substr(8, length);
    const auto* checked = reinterpret_cast<const Bytef*>(file.data() + 4);
    CHECK(four(file.substr(8 + length)) == crc32(0, checked, static_cast<uInt>(length + 4)));
    if (kind == "IHDR") {
      REQUIRE(length == 13);
      result.width = four(data);
      result.height = four(data.substr(4));
      CHECK(data[8] == 8);
      result.colour = data[9];
      CHECK(data.substr(10) == std::string_view("\0\0\0", 3));
    }
    if (kind == "IDAT") packed += data;
    file.remove_prefix(length + 12);
  }
  CHECK(kind == "IEND");
  const std::size_t channels = result.colour == 6 ? 4 : result.colour == 2 ? 3 : 1, row = result.width * channels;
  std::string rows((1 + row) * result.height, '\0');
  uLongf size = rows.size();
  REQUIRE(uncompress(reinterpret_cast<Bytef*>(rows.data()), &size, reinterpret_cast<const Bytef*>(packed.data()),
                     packed.size()) == Z_OK);
  REQUIRE(size == rows.size());
  const auto value = [&](std::size_t y, std::size_t x) { return result.values[y * row + x]; };
  for (std::size_t y = 0; y < result.height; ++y) {
    const std::string_view bytes = std::string_view(rows).substr(y * (1 + row), 1 + row);
    for (std::size_t x = 0; x < row; ++x) {
      const int left = x >= channels ? value(y, x - channels) : 0, above = y > 0 ? value(y - 1, x) : 0;
      const int corner = x >= channels && y > 0 ? value(y - 1, x - channels) : 0;
      const int byte = static_cast<unsigned char>(bytes[1 + x]);
      result.values.push_back((byte + foretold(bytes[0], left, above, corner)) % 256);
    }
  }
  return result;
}

}  // namespace

TEST_CASE("a grey picture and one in colour as PNG") {
  const Decoded grey = decoded(png(Array({1, 2, 3}, {0, 0.2f, 0.4f, 0.6f, 1, 2})));
  CHECK(grey.width == 3);
  CHECK(grey.height == 2);
  CHECK(grey.colour == 0);
  CHECK(grey.values == std::vector<int>{0, 51, 102, 153, 255, 255});
  const Decoded coloured = decoded(png(Array({3, 1, 2}, {0, 1, 0.2f, 0.4f, -1, 0.6f})));
  CHECK(coloured.colour == 2);
  CHECK(coloured.values == std::vector<int>{0, 51, 0, 255, 102, 153});
  const Decoded translucent = decoded(png(Array({4, 1, 1}, {1, 0.2f, 0, 0.4f})));
  CHECK(translucent.colour == 6);
  CHECK(translucent.values == std::vector<int>{255, 51, 0, 102});
}

TEST_CASE("what is no picture is refused") {
  CHECK_THROWS_WITH_AS(
      png(Array(Shape{2, 2, 2}, 0)),
      "png: needs a picture (1, H, W), (3, H, W) or (4, H, W) with sides from 1 to 16384, got [2, 2, 2]", ShapeError);
  CHECK_THROWS_AS(png(Array(Shape{2, 2}, 0)), ShapeError);
  CHECK_THROWS_AS(png(Array(Shape{1, 0, 2}, 0)), ShapeError);
  CHECK_THROWS_WITH_AS(png(Array({1, 1, 1}, {std::nanf("")})), "png: a value is not a number", ValueError);
}

TEST_CASE("an address holds the file in base 64") {
  const Array image({1, 1, 1}, {0.5f});
  const std::string address = png_address(image), file = png(image);
  const std::string_view start = "data:image/png;base64,";
  REQUIRE(address.starts_with(start));
  const std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  unsigned bits = 0, count = 0;
  for (const char c : address.substr(start.size())) {
    if (c == '=') break;
    bits = bits << 6 | static_cast<unsigned>(digits.find(c));
    if ((count += 6) >= 8) bytes += static_cast<char>(bits >> (count -= 8) & 0xFF);
  }
  CHECK(bytes == file);
  CHECK((address.size() - start.size()) % 4 == 0);
}

TEST_CASE("a grid shows every picture with its caption") {
  const testing::CommaLocale commas;
  PictureGrid grid{.title = "Mistakes & more",
                   .images = Array(Shape{3, 1, 4, 4}, 0.5f),
                   .captions = {"cat", "<dog>", "a caption that is much too long for the picture"},
                   .columns = 2};
  const std::string svg = picture_grid_svg(grid);
  CHECK(xml_error(svg).empty());
  CHECK(count_of("data:image/png;base64,", svg) == 3);
  CHECK(count_of(">Mistakes &amp; more</text>", svg) == 1);
  CHECK(count_of(">cat</text>", svg) == 1);
  CHECK(count_of(">&lt;dog&gt;</text>", svg) == 1);
  CHECK(count_of("…", svg) == 0);  // in several lines
  CHECK(count_of("picture</text>", svg) == 1);
  CHECK(count_of("<title>a caption that is much too long for the picture</title>", svg) == 1);
  CHECK(count_of("<image x=\"24\"", svg) == 2);  // two rows
  grid.captions = {};
  CHECK(count_of("<text", picture_grid_svg(grid)) == 1);

  grid.captions = {"one"};
  CHECK_THROWS_WITH_AS(picture_grid_svg(grid), "picture_grid_svg: 1 captions for pictures [3, 1, 4, 4]", ShapeError);
  grid.captions = {};
  grid.columns = 0;
  CHECK_THROWS_WITH_AS(picture_grid_svg(grid), "picture_grid_svg: no pictures, or no columns", ValueError);
  grid.columns = 2;
  grid.width = 0;
  CHECK_THROWS_WITH_AS(picture_grid_svg(grid), "picture_grid_svg: width must be in [1, 4096], got 0", ValueError);
  CHECK_THROWS_AS(picture_grid_svg({.images = Array(Shape{0, 1, 4, 4})}), ValueError);
  CHECK_THROWS_WITH_AS(picture_grid_svg({.images = Array(Shape{4, 4}, 0)}),
                       "picture_grid_svg: needs pictures (N, C, H, W), got [4, 4]", ShapeError);
  CHECK_THROWS_AS(picture_grid_svg({.images = Array(Shape{1, 2, 4, 4}, 0)}), ShapeError);
}

TEST_CASE("what was looked at lies over pictures, with lines and a scale") {
  PictureGrid grid{.images = Array(Shape{2, 1, 4, 4}, 0.5f),
                   .captions = {"cat", "dog"},
                   .overlay = {.shares = Array(Shape{2, 2, 4}, 1), .caption = "share", .lines_caption = "patches"}};
  const std::string svg = picture_grid_svg(grid);
  CHECK(xml_error(svg).empty());
  CHECK(count_of("<image", svg) == 2 * 3);  // the picture, the picture again, and what lies over it
  for (const char* text : {"cat", "dog", "0", "1", "share", "patches"}) {
    CHECK(count_of(">" + std::string(text) + "</text>", svg) == 1);
  }
  CHECK(count_of("<line", svg) == 2 * (1 + 3) + 1);  // between 2 rows and 4 columns, and in the key
  grid.overlay.rows = 4, grid.overlay.columns = 2;
  CHECK(count_of("<line", picture_grid_svg(grid)) == 2 * (3 + 1) + 1);

  for (const Shape& wrong : {Shape{1, 2, 4}, Shape{2, 8}, Shape{2, 1, 2, 4}}) {
    grid.overlay.shares = Array(wrong, 1);
    CHECK_THROWS_AS(picture_grid_svg(grid), ShapeError);
  }
  for (const Real wrong : {Real(-0.1), Real(1.1), Real(NAN)}) {
    grid.overlay.shares = Array(Shape{2, 2, 4}, wrong);
    CHECK_THROWS_AS(picture_grid_svg(grid), ValueError);
  }
  grid.overlay.shares = Array(Shape{2, 2, 4}, 1);
  grid.overlay.rows = -1;
  CHECK_THROWS_AS(picture_grid_svg(grid), ValueError);
}

TEST_CASE("grids and confusion matrices are dark where the reader prefers it, or always") {
  PictureGrid grid{.title = hostile, .images = Array(Shape{1, 1, 2, 2}, 0.5f), .captions = {hostile}};
  const Index counts({1, 1}, {3});
  for (const std::string& either : {picture_grid_svg(grid), confusion_svg(hostile, counts, {hostile})}) {
    CHECK(xml_error(either).empty());
    CHECK(count_of("<script", either) == 0);
    CHECK(count_of("@media (prefers-color-scheme:dark)", either) == 1);
  }
  CHECK(picture_grid_svg(grid) == picture_grid_svg(grid));
}

TEST_CASE("a confusion matrix counts which class was taken for which") {
  const Index labels({5}, {0, 1, 1, 2, 1}), guesses({5}, {0, 1, 0, 2, 1});
  const Index counts = confusion_matrix(labels, guesses, 3);
  CHECK(equal(counts, Index({3, 3}, {1, 0, 0, 1, 2, 0, 0, 0, 1})));
  const std::string svg = confusion_svg("Confusion", counts, {"cat", "dog", "cow"});
  CHECK(xml_error(svg).empty());
  CHECK(count_of("<title>dog → cat  0.333</title>", svg) == 1);
  CHECK(count_of("<title>cow → cow  1.000</title>", svg) == 1);
  CHECK(count_of(">taken for</text>", svg) == 1);
  CHECK(count_of("nan", confusion_svg("", confusion_matrix(labels, guesses, 4), {"a", "b", "c", "never"})) == 0);

  CHECK_THROWS_WITH_AS(confusion_matrix(labels, guesses, 2), "confusion_matrix: class 2 is not in [0, 2)", ValueError);
  CHECK_THROWS_WITH_AS(confusion_matrix(labels, Index({4}, {0, 1, 2, 0}), 3),
                       "confusion_matrix: needs labels and guesses (N), got [5] and [4]", ShapeError);
  CHECK_THROWS_WITH_AS(confusion_matrix(labels, guesses, 0), "confusion_matrix: classes must be in [1, 32768], got 0",
                       ValueError);
  CHECK_THROWS_WITH_AS(confusion_svg("", counts, {"a"}), "confusion_svg: 1 classes need (1, 1), got [3, 3]",
                       ShapeError);
  CHECK_THROWS_AS(confusion_svg("", Index({0, 0}, 0), {}), ValueError);
}
