// Pictures in files against PIL's pixels (tests/fixtures/make_data_fixtures.py), damaged ones, folders of them, and
// drawn ones.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

#include <xgrad/core/files/safetensors.h>
#include <xgrad/kit/data/data_loader.h>
#include <xgrad/kit/data/image_folder.h>
#include <xgrad/kit/data/images.h>
#include <xgrad/kit/data/shapes.h>
#include <xgrad/kit/draw/png.h>
#include <xgrad/ops/ops.h>

#include "support.h"
#include "support/fixtures.h"

namespace xgrad::kit::testing {
namespace {

namespace fs = std::filesystem;
using xgrad::testing::fixture_path;
using Path = fs::path;

/// The largest difference between a picture (C, H, W) and PIL's bytes, (H, W) or (H, W, C), in steps of 1 / full.
double steps_apart(const Array& image, const Array& expected, double full) {
  const std::int64_t C = expected.rank() == 3 ? expected.dim(2) : 1, plane = expected.size() / C;
  REQUIRE(image.shape() == Shape{C, expected.dim(0), expected.dim(1)});
  double most = 0;
  for (std::int64_t i = 0; i < expected.size(); ++i) {
    most = std::max(most, std::abs(full * image.data()[i % C * plane + i / C] - expected.data()[i]));
  }
  return most;
}

std::string why_not(const Path& path) {
  static const TemporaryFolder none;  // which no message has
  const std::string message = refusal<FormatError>(none, [&] { read_image(path); });
  const std::string begin = "read_image: " + path.string() + ": ";
  return message.starts_with(begin) ? message.substr(begin.size()) : message;
}

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
  const ImageSet set(Shape{2, 1, 2, 3}, {0, 51, 102, 153, 204, 255, 255, 0, 0, 0, 0, 0}, Index({2}, {1, 0}),
                     {"a", "b"});
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
  CHECK_THROWS_WITH_AS(set.pixels(-1), "ImageSet: picture -1 is not in [0, 2)", ValueError);
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
  CHECK(read(liar) == str("read_idx: liar.gz: declares bytes of shape [4000, 1000, 1000], but at most ",
                          static_cast<std::int64_t>(fs::file_size(liar)) * 1032 - 16, " bytes follow the header"));
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
    write_text(folder / "t10k-images-idx3-ubyte.gz", "an old one, beside the file that counts");
    CHECK(equal(read_image_folder(folder.path()).test.all().images, data.train.all().images));
    const std::vector<std::pair<std::string, const char*>> others{{idx(0x803, {3, 4, 4}, some_bytes(48)), "[3, 1, 4, 4]"},
                                                                 {idx(0x803, {3, 2, 3}, some_bytes(18)), "[3, 1, 2, 3]"}};
    for (const auto& [images, shape] : others) {
      write_text(folder / "t10k-images-idx3-ubyte", images);
      CHECK_REFUSED(FormatError, read_image_folder(folder.path()), "read_image_folder", folder.path().string(),
                    str("pictures [3, 1, 2, 4] of 3 classes to learn from, but ", shape, " of 3 to judge by"));
    }
    write_text(folder / "t10k-images-idx3-ubyte", three_pictures);
    write_text(folder / "t10k-labels-idx1-ubyte", idx(0x801, {3}, std::string("\1\0\1", 3)));
    CHECK_REFUSED(FormatError, read_image_folder(folder.path()), "read_image_folder", folder.path().string(),
                  "pictures [3, 1, 2, 4] of 3 classes to learn from, but [3, 1, 2, 4] of 2 to judge by");
  }
  SUBCASE("Fashion-MNIST") {
    const Path fashion = folder / "fashion-mnist";
    fs::create_directory(fashion);
    for (const char* part : {"train", "t10k"}) {
      write_text(fashion / (std::string(part) + "-images-idx3-ubyte"), three_pictures);
      write_text(fashion / (std::string(part) + "-labels-idx1-ubyte"), three_labels);
    }
    const auto first_class = [](const Path& path) { return read_image_folder(path).train.classes().front(); };
    CHECK(read_image_folder(fashion).train.classes()[9] == "ankle boot");
    CHECK(first_class(fashion / "") == "T-shirt");
    fs::rename(fashion, folder / "digits");
    fs::create_directory(fashion);
    fs::rename(folder / "digits", fashion / "digits");
    CHECK(first_class(fashion / "digits") == "0");  // the word in another folder's name
  }
  SUBCASE("folders of classes") {
    for (const char* name : {"cat", "dog"}) fs::create_directory(folder / name);
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
  for (const double noise : {std::nan(""), -0.1}) CHECK_THROWS_AS(draw_shapes({}, {.noise = noise}), ValueError);
  CHECK_THROWS_AS(draw_shapes({}, {.count = 100'000'001}), ValueError);
  CHECK_THROWS_AS(draw_shapes({}, {.size = 1025}), ValueError);
  CHECK(draw_shapes({}, {.count = 0, .size = 1024, .noise = 1}).size() == 0);
}

TEST_CASE("pictures of every kind are read as PIL reads them") {
  const StateFile expected = load_safetensors(fixture_path("pictures_in_files.safetensors"));
  int compared = 0;
  for (const auto& [entry, array] : expected.arrays) {
    const std::string name = entry;
    CAPTURE(name);
    const std::string file = name.substr(0, name.find('/')), kind = name.substr(name.find('/') + 1);
    const Array& pixels = std::get<Array>(array);
    const Path path = fixture_path("pictures/" + file);
    const bool deep = file.find("16") != std::string::npos;
    const Array image = read_image(path);
    if (pixels.rank() == 2) {
      for (std::int64_t c = 0; c < 3; ++c) CHECK(steps_apart(image[{slice(c, c + 1)}], pixels, 65535) < 0.01);
    } else if (kind == "deep") {
      CHECK(steps_apart(image, pixels, 65535) < 0.01);
    } else {
      // PIL cuts 16 bits off to 8.
      CHECK(steps_apart(image, pixels, deep ? 65535 / 256.0 : 255) < (deep ? 1 : 0.001));
    }
    ++compared;
  }
  CHECK(compared == 16);
}

TEST_CASE("damaged pictures are refused with their path, wherever they are cut off or changed") {
  const TemporaryFolder folder;
  for (const char* name : {"rgb.png", "interlaced.png", "palette.png", "halved.jpg", "progressive.jpg"}) {
    CAPTURE(name);
    const std::string whole = read_text(fixture_path(std::string("pictures/") + name));
    const std::string_view kind = std::string_view(name).ends_with("png") ? "bad PNG: " : "bad JPEG: ";
    // The end mark of a JPEG file says nothing about pixels, but its lack is taken for damage, too.
    for (std::size_t length = 8; length < whole.size(); ++length) {
      const std::string said = why_not(write_text(folder / "cut", whole.substr(0, length)));
      if (!said.starts_with(kind)) FAIL_CHECK(length << " of " << whole.size() << ": " << said);
    }
    // No change makes it crash; in a PNG file all are found, by its checksums. (That of the last chunk, which is empty, is
    // not looked at by libpng 1.6.48.)
    int accepted = 0;
    for (std::size_t at = 8; at < whole.size(); ++at) {
      std::string changed = whole;
      changed[at] = static_cast<char>(changed[at] ^ 0x55);
      const std::string said = why_not(write_text(folder / "changed", changed));
      accepted += said == "accepted" && at + 4 < whole.size() ? 1 : 0;
      CHECK((said == "accepted" || said.starts_with("bad ") || said == "neither PNG nor JPEG"));
    }
    if (kind == "bad PNG: ") CHECK(accepted == 0);
  }
  CHECK(why_not(write_text(folder / "text", "hello")) == "neither PNG nor JPEG");
  CHECK(why_not(write_text(folder / "none", "")) == "neither PNG nor JPEG");
  CHECK(why_not(fixture_path("pictures/cmyk.jpg")) == "bad JPEG: CMYK");
  CHECK_THROWS_AS(read_image(folder / "missing.png"), IoError);
}

TEST_CASE("bytes that the pixels of a JPEG file leave over are damage, those between the parts of its header are not") {
  const TemporaryFolder folder;
  for (const char* name : {"halved.jpg", "full.jpg", "grey.jpg", "progressive.jpg"}) {
    CAPTURE(name);
    const std::string whole = read_text(fixture_path(std::string("pictures/") + name)), more(20, '!');
    const auto with_more = [&](std::size_t at) {
      std::string changed = whole;
      return why_not(write_text(folder / "changed.jpg", changed.insert(at, more)));
    };
    CHECK(with_more(whole.find("\xff\xdb")) == "accepted");
    CHECK(with_more(whole.rfind("\xff\xd9")).starts_with("bad JPEG: Corrupt JPEG data: "));
  }
}

TEST_CASE("a small file that declares a huge picture is refused before there is room for it") {
  const TemporaryFolder folder;
  std::string picture = read_text(fixture_path("pictures/halved.jpg"));
  const std::size_t frame = picture.find("\xff\xc0");
  REQUIRE(frame != std::string::npos);
  picture.replace(frame + 5, 4, std::string("\x7f\xff\x7f\xff", 4));
  CHECK(why_not(write_text(folder / "a.jpg", picture)) ==
        "bad JPEG: declares 32767 x 32767 pixels, more than " + std::to_string(picture.size()) + " bytes can hold");
  picture.replace(frame + 5, 4, std::string("\xf0\xff\x00\x10", 4));
  CHECK(why_not(write_text(folder / "b.jpg", picture)) == "bad JPEG: a side is above 2^15");
  picture.replace(frame + 5, 4, std::string("\x80\x00\x80\x00", 4));
  CHECK(why_not(write_text(folder / "b.jpg", picture)).starts_with("bad JPEG: declares 32768 x 32768 pixels"));
  // A header of PNG with its checksum: so wide and so high in 16 bits a colour.
  const auto said_of = [&](std::uint32_t width, std::uint32_t height) {
    const std::string header = "IHDR" + big_endian(width) + big_endian(height) + std::string("\x10\x02\x00\x00\x00", 5);
    const uLong checksum = crc32(0, reinterpret_cast<const Bytef*>(header.data()), static_cast<uInt>(header.size()));
    std::string png = read_text(fixture_path("pictures/rgb16.png"));
    png.replace(12, 21, header + big_endian(static_cast<std::uint32_t>(checksum)));
    return why_not(write_text(folder / "c.png", png));
  };
  CHECK(said_of(32768, 32768).starts_with("bad PNG: declares 32768 x 32768 pixels, more than"));
  for (const std::uint32_t side : {1u, 32769u}) CHECK(said_of(side, 32770 - side) == "bad PNG: Invalid IHDR data");
}

TEST_CASE("a folder of folders is a data set, in the order of torchvision's") {
  const TemporaryFolder root;
  const std::string picture = read_text(fixture_path("pictures/rgb.png")),
                    jpeg = read_text(fixture_path("pictures/full.jpg"));
  for (const char* name : {"dog", "Zebra", "cat/b", "cat/a"}) fs::create_directories(root / name);
  // sorted(os.walk("cat")) is cat, cat/a, cat/b; names are sorted by their bytes.
  for (const char* name : {"dog/2.PNG", "dog/10.png", "Zebra/x.jpeg", "cat/z.png", "cat/b/1.png", "cat/a/9.jpg"}) {
    write_text(root / name,
               std::string_view(name).find(".p") != std::string_view::npos || name[4] == '2' ? picture : jpeg);
  }
  write_text(root / "dog/readme.txt", "no picture");
  write_text(root / "list.png", "a file beside the classes");
  const Transform small = compose({resize_shorter(8), center_crop(8)});
  const ImageFolder data(root.path(), small);
  CHECK(data.classes() == std::vector<std::string>{"Zebra", "cat", "dog"});
  CHECK(data.size() == 6);
  std::vector<std::string> order;
  for (std::int64_t i = 0; i < 6; ++i) order.push_back(fs::relative(data.path(i), root.path()).string());
  CHECK(order ==
        std::vector<std::string>{"Zebra/x.jpeg", "cat/z.png", "cat/a/9.jpg", "cat/b/1.png", "dog/10.png", "dog/2.PNG"});
  CHECK(equal(data.labels(), index({0, 1, 1, 1, 2, 2})));
  DataLoader loader{data, {.batch_size = 6, .num_workers = 2}};
  for (const auto& [images, labels] : loader) {
    CHECK(images.shape() == Shape{6, 3, 8, 8});
    CHECK(equal(labels, data.labels()));
    CHECK(equal(Tensor(images)[{2}].value(), small(read_image(root / "cat/a/9.jpg"))));
  }
  CHECK(ImageFolder(root.path()).get(4).image.shape() == Shape{3, 9, 13});
  CHECK_REFUSED(ValueError, data.path(6), "image_folder", "sample 6 is not in [0, 6)");

  write_text(root / "dog/10.png", picture.substr(0, 100));
  DataLoader damaged{data, {.num_workers = 1}};
  const auto read_all = [&] {
    for (const auto& batch : damaged) CHECK(std::get<1>(batch).size() == 1);
  };
  CHECK_REFUSED(SampleError, read_all(), "data_loader", "sample 4: read_image: " + (root / "dog/10.png").string(),
                "bad PNG: the file ends early");
  fs::create_directory(root / "empty");
  CHECK_REFUSED(FormatError, ImageFolder(root.path()), "image_folder", (root / "empty").string(),
                "has no .png, .jpg or .jpeg in it");
  CHECK_REFUSED(FormatError, ImageFolder(root / "empty"), "image_folder", (root / "empty").string(),
                "has no folder in it, which would be a class");
  CHECK_THROWS_AS(ImageFolder(root / "nowhere"), IoError);
}

}  // namespace xgrad::kit::testing
