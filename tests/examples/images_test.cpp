// Files of pictures and drawn pictures.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include <xgrad/kit/data/images.h>
#include <xgrad/kit/data/shapes.h>
#include <xgrad/kit/draw/png.h>

#include "support.h"

namespace xgrad::kit::testing {
namespace {

using Path = std::filesystem::path;

/// An IDX file: its magic number, sizes and elements.
std::string idx(std::uint32_t magic, std::initializer_list<std::uint32_t> sizes, std::string_view elements) {
  std::string bytes = big_endian(magic);
  for (const std::uint32_t size : sizes) bytes += big_endian(size);
  return bytes.append(elements);
}

std::string some_bytes(std::size_t count) {
  std::string bytes(count, '\0');
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<char>(i * 37);
  return bytes;
}

/// Three pictures of 2 x 4 with labels 1, 0, 2.
const std::string three_pictures = idx(0x803, {3, 2, 4}, some_bytes(24));
const std::string three_labels = idx(0x801, {3}, std::string("\1\0\2", 3));

std::string idx_refusal(std::string_view images, std::string_view labels, std::vector<std::string> classes = {}) {
  const TemporaryFolder folder;
  write_text(folder / "images", images);
  write_text(folder / "labels", labels);
  return refusal<FormatError>(folder, [&] { read_idx(folder / "images", folder / "labels", classes); });
}

}  // namespace

TEST_CASE("IDX files are read, plain and packed") {
  const TemporaryFolder folder;
  Path images = write_text(folder / "images", three_pictures), labels = write_text(folder / "labels", three_labels);
  SUBCASE("plain") {}
  SUBCASE("packed") {
    images = write_gzip(folder / "images.gz", three_pictures);
    labels = write_gzip(folder / "labels.gz", three_labels);
  }
  const ImageSet set = read_idx(images, labels);
  CHECK(set.shape() == Shape{3, 1, 2, 4});
  CHECK(set.size() == 3);
  CHECK(equal(set.labels(), Index({3}, {1, 0, 2})));
  CHECK(set.classes() == std::vector<std::string>{"0", "1", "2"});
  CHECK(set.pixels(1)[0] == 8 * 37 % 256);
  CHECK(read_idx(images, labels, {"x", "y", "z", "w"}).classes().size() == 4);
}

TEST_CASE("a batch has the pictures with the numbers asked for, from 0 to 1") {
  const ImageSet set(Shape{2, 1, 2, 3}, {0, 51, 102, 153, 204, 255, 255, 0, 0, 0, 0, 0}, Index({2}, {1, 0}), {"a", "b"});
  const ImageBatch batch = set.batch(Index({3}, {1, 0, 1}));
  CHECK(batch.images.shape() == Shape{3, 1, 2, 3});
  CHECK(equal(batch.labels, Index({3}, {0, 1, 0})));
  for (int i = 0; i < 6; ++i) CHECK(batch.images.data()[6 + i] == doctest::Approx(0.2 * i));
  CHECK(batch.images.data()[0] == 1);
  CHECK(batch.images.data()[12] == 1);
  CHECK(equal(set.all().images, set.batch(Index({2}, {0, 1})).images));
  CHECK(set.batch(Index(Shape{0})).images.shape() == Shape{0, 1, 2, 3});

  CHECK_THROWS_WITH_AS(set.batch(Index({1}, {2})), "ImageSet: picture 2 is not in [0, 2)", ValueError);
  CHECK_THROWS_WITH_AS(set.pixels(2), "ImageSet: picture 2 is not in [0, 2)", ValueError);
  CHECK_REFUSED(ShapeError, set.batch(Index({1, 1}, {0})), "ImageSet", "the numbers of pictures (B), got [1, 1]");
}

TEST_CASE("a set whose parts do not fit together is refused") {
  const auto set = [](const Shape& shape, std::size_t bytes, std::vector<std::int64_t> labels) {
    return ImageSet(shape, std::vector<std::uint8_t>(bytes), Index(labels), {"a", "b"});
  };
  CHECK_THROWS_WITH_AS(set({2, 3}, 6, {0, 1}), "ImageSet: needs pictures (N, C, H, W), got [2, 3]", ShapeError);
  CHECK_THROWS_WITH_AS(set({2, 1, 1, 2}, 5, {0, 1}), "ImageSet: 5 bytes for pictures [2, 1, 1, 2]", ShapeError);
  CHECK_THROWS_WITH_AS(set({2, 1, 1, 2}, 4, {0}), "ImageSet: pictures [2, 1, 1, 2] with labels [1]", ShapeError);
  CHECK_THROWS_WITH_AS(set({2, 1, 1, 2}, 4, {0, 2}), "ImageSet: label 2 is not in [0, 2)", ValueError);
  CHECK_THROWS_AS(set({2, 1, 1, 2}, 4, {0, -1}), ValueError);
  constexpr std::int64_t large = std::int64_t{1} << 62;
  CHECK_THROWS_AS(set({4, large, 1, 1}, 0, {0, 0, 0, 0}), LimitError);
  CHECK_THROWS_AS(set({0, large, 4, 1}, 0, {}), LimitError);
  CHECK_THROWS_AS(set({2, -1, -1, 1}, 2, {0, 0}), ValueError);
}

TEST_CASE("IDX files that are damaged, or declare terabytes, are refused with what was expected and found") {
  CHECK(idx_refusal(three_pictures, three_labels) == "accepted");
  const std::vector<std::pair<std::string, const char*>> of_images{
      {three_labels, "magic number: expected 0x00000803 (unsigned bytes, 3 axes), found 0x00000801"},
      {"", "expected a header of 16 bytes, found 0"},
      {three_pictures.substr(0, 15), "expected a header of 16 bytes, found 15"},
      {idx(0x803, {3, 0, 4}, ""), "axis 1: expected a size of 1 or more, found 0"},
      {three_pictures.substr(0, 39), "declares bytes of shape [3, 2, 4], but at most 23 bytes follow the header"},
      {three_pictures + "x", "expected the end behind 24 bytes of shape [3, 2, 4], found more"},
      {idx(0x803, {0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF}, some_bytes(4080)),
       "declares bytes of shape [4294967295, 4294967295, 4294967295], but at most 4080 bytes follow the header"}};
  for (const auto& [images, why] : of_images) {
    CHECK(idx_refusal(images, three_labels) == std::string("read_idx: images: ") + why);
  }
  CHECK(idx_refusal(three_pictures, idx(0xD01, {3}, "abc")) ==
        "read_idx: labels: magic number: expected 0x00000801 (unsigned bytes, 1 axis), found 0x00000d01");
  CHECK(idx_refusal(three_pictures, idx(0x801, {0xFFFFFFFF}, some_bytes(4000))) ==
        "read_idx: labels: declares bytes of shape [4294967295], but at most 4000 bytes follow the header");
  CHECK(idx_refusal(three_pictures, idx(0x801, {2}, std::string("\1\0", 2))) ==
        "read_idx: images has 3 pictures, but labels has 2 labels");
  CHECK(idx_refusal(three_pictures, three_labels, {"a", "b"}) ==
        "read_idx: labels: label 2: expected a class below 2, found 2");
}

TEST_CASE("packed IDX files that are damaged are refused") {
  const TemporaryFolder folder;
  const Path labels = write_text(folder / "labels", three_labels);
  const auto read = [&](const Path& images) { return refusal<FormatError>(folder, [&] { read_idx(images, labels); }); };
  CHECK(read(write_text(folder / "images.gz", three_pictures)) == "read_idx: images.gz: is named .gz but is not gzip");
  CHECK(read(write_gzip(folder / "short.gz", three_pictures.substr(0, 39))) ==
        "read_idx: short.gz: expected 24 bytes behind the header, found 23");
  CHECK(read(write_gzip(folder / "long.gz", three_pictures + "x")) ==
        "read_idx: long.gz: expected the end behind 24 bytes of shape [3, 2, 4], found more");
  std::string packed = read_text(write_gzip(folder / "whole.gz", idx(0x803, {30, 100, 100}, some_bytes(300'000))));
  CHECK_THROWS_AS(read_idx(write_text(folder / "cut.gz", packed.substr(0, packed.size() / 2)), labels), IoError);
  packed[packed.size() - 6] ^= 1;  // in the checksum
  CHECK_THROWS_AS(read_idx(write_text(folder / "damaged.gz", packed), labels), IoError);
  CHECK_THROWS_AS(read_idx(folder / "none", labels), IoError);
  CHECK_THROWS_AS(read_idx(folder.path(), labels), IoError);
  // 4 KB that declare 4 GB are refused before there is room for them.
  const Path liar = write_gzip(folder / "liar.gz", idx(0x803, {4000, 1000, 1000}, std::string(4'000'000, '\0')));
  CHECK(read(liar) == cat("read_idx: liar.gz: declares bytes of shape [4000, 1000, 1000], but at most ",
                          static_cast<std::int64_t>(std::filesystem::file_size(liar)) * 1032 - 16,
                          " bytes follow the header"));
}

TEST_CASE("a folder is read by the names of the files in it") {
  const TemporaryFolder folder;
  SUBCASE("IDX") {
    write_gzip(folder / "train-images-idx3-ubyte.gz", three_pictures);
    write_gzip(folder / "train-labels-idx1-ubyte.gz", three_labels);
    write_text(folder / "t10k-images-idx3-ubyte", three_pictures);
    write_text(folder / "t10k-labels-idx1-ubyte", three_labels);
    const ImageData data = read_image_folder(folder.path());
    CHECK(data.train.size() == 3);
    CHECK(data.test.classes() == std::vector<std::string>{"0", "1", "2"});
    write_text(folder / "t10k-images-idx3-ubyte", idx(0x803, {3, 4, 2}, some_bytes(24)));
    CHECK_REFUSED(FormatError, read_image_folder(folder.path()), "read_image_folder", folder.path().string(),
                  "pictures [3, 1, 2, 4] of 3 classes to learn from, but [3, 1, 4, 2] of 3 to judge by");
  }
  SUBCASE("Fashion-MNIST") {
    const Path fashion = folder / "fashion-mnist";
    std::filesystem::create_directory(fashion);
    for (const char* part : {"train", "t10k"}) {
      write_text(fashion / (std::string(part) + "-images-idx3-ubyte"), three_pictures);
      write_text(fashion / (std::string(part) + "-labels-idx1-ubyte"), three_labels);
    }
    CHECK(read_image_folder(fashion).train.classes()[9] == "ankle boot");
  }
  SUBCASE("folders of classes") {
    for (const char* name : {"cat", "dog"}) std::filesystem::create_directory(folder / name);
    const auto draw = [&](const std::string& name, double red) {
      Array image(Shape{3, 32, 64}, 0);
      for (std::int64_t x = 16; x < 48; ++x) image.mutable_data()[x] = static_cast<Real>(red);
      write_text(folder / name, png(image));
    };
    for (int i = 1; i <= 4; ++i) draw("cat/" + std::to_string(i) + ".png", 0.2 * i);
    CHECK_REFUSED(FormatError, read_image_folder(folder.path()), "image_folder", (folder / "dog").string(),
                  "has no .png, .jpg or .jpeg in it");
    draw("dog/1.png", 0);
    CHECK_REFUSED(FormatError, read_image_folder(folder.path()), "read_image_folder", folder.path().string(),
                  "no class has five pictures");
    draw("cat/5.png", 1);
    const ImageData data = read_image_folder(folder.path());
    CHECK(data.train.shape() == Shape{5, 3, 32, 32});
    CHECK(data.train.classes() == std::vector<std::string>{"cat", "dog"});
    CHECK(equal(data.train.labels(), Index({5}, {0, 0, 0, 0, 1})));
    CHECK(data.train.pixels(1)[31] == 102);
    CHECK(data.train.pixels(1)[32] == 0);
    CHECK(equal(data.test.labels(), Index({1}, {0})));
    CHECK(data.test.pixels(0)[0] == 255);
  }
}

TEST_CASE("drawn shapes depend on the key and their number, and come in all classes") {
  const ImageSet set = draw_shapes({.seed = 1}, {.count = 400});
  CHECK(set.shape() == Shape{400, 1, 28, 28});
  CHECK(set.classes()[5] == "star");
  for (std::int64_t label = 0; label < 10; ++label) CHECK(std::ranges::count(set.labels(), label) > 15);
  const ImageSet fewer = draw_shapes({.seed = 1}, {.count = 7});
  for (std::int64_t i = 0; i < 7; ++i) CHECK(std::ranges::equal(fewer.pixels(i), set.pixels(i)));
  CHECK_FALSE(equal(draw_shapes({.seed = 2}, {.count = 400}).labels(), set.labels()));
  CHECK_FALSE(equal(draw_shapes({.seed = 1, .draw = 1}, {.count = 400}).labels(), set.labels()));
  CHECK(draw_shapes({.seed = 1}, {.count = 2, .size = 32, .channels = 3}).shape() == Shape{2, 3, 32, 32});
  CHECK(draw_shapes({.seed = 1}, {.count = 0}).size() == 0);
}

TEST_CASE("shapes are bright on a darker ground, and each has the area that it should have") {
  const ImageSet set = draw_shapes({.seed = 3}, {.count = 600, .size = 64, .noise = 0});
  // The area of each shape of radius 1: of the crescent, pi less what its discs of radius 1 and 0.8, 0.5 apart, share.
  constexpr std::array area{3.1416, 2.0106, 2.56, 1.56, 1.2990, 1.1756, 1.75, 1.536, 1.4222, 1.5295};
  // The mean of the square of a radius between 0.22 and 0.42 of the side.
  constexpr double square = (0.42 * 0.42 * 0.42 - 0.22 * 0.22 * 0.22) / (3 * 0.2) * 64 * 64;
  std::array<double, 10> sums{}, counts{};
  for (std::int64_t i = 0; i < set.size(); ++i) {
    const auto pixels = set.pixels(i);
    const auto [ground, light] = std::ranges::minmax(pixels);
    CHECK(ground <= 0.36 * 255);
    CHECK(light >= 0.54 * 255);
    const auto label = static_cast<std::size_t>(set.labels().data()[i]);
    for (const std::uint8_t pixel : pixels) sums[label] += double(pixel - ground) / (light - ground);
    ++counts[label];
  }
  for (std::size_t label = 0; label < 10; ++label) {
    CAPTURE(label);
    CHECK(sums[label] / counts[label] == doctest::Approx(area[label] * square).epsilon(0.15));
  }
}

TEST_CASE("options of drawn shapes outside their range are refused") {
  CHECK_THROWS_WITH_AS(draw_shapes({}, {.count = -1}), "draw_shapes: count must be in [0, 1e8], got -1", ValueError);
  CHECK_THROWS_WITH_AS(draw_shapes({}, {.size = 7}), "draw_shapes: size must be in [8, 1024], got 7", ValueError);
  CHECK_THROWS_WITH_AS(draw_shapes({}, {.channels = 2}), "draw_shapes: channels must be 1 or 3, got 2", ValueError);
  CHECK_THROWS_WITH_AS(draw_shapes({}, {.noise = 2}), "draw_shapes: noise must be in [0, 1], got 2", ValueError);
  CHECK_THROWS_AS(draw_shapes({}, {.noise = std::nan("")}), ValueError);
}

}  // namespace xgrad::kit::testing
