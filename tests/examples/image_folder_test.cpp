// Files of pictures against PIL's pixels (tests/fixtures/make_data_fixtures.py), damaged ones, and folders of them.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include <xgrad/core/files/safetensors.h>
#include <xgrad/kit/data/data_loader.h>
#include <xgrad/kit/data/image_folder.h>
#include <xgrad/kit/draw/png.h>
#include <xgrad/ops/ops.h>

#include "support.h"
#include "support/fixtures.h"

namespace xgrad::kit::testing {
namespace {

namespace fs = std::filesystem;
using xgrad::testing::fixture_path;

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

std::string why_not(const fs::path& path) {
  const TemporaryFolder none;
  const std::string message = refusal<FormatError>(none, [&] { read_image(path); });
  const std::string begin = "read_image: " + path.string() + ": ";
  return message.starts_with(begin) ? message.substr(begin.size()) : message;
}

}  // namespace

TEST_CASE("pictures of every kind are read as PIL reads them") {
  const StateFile expected = load_safetensors(fixture_path("pictures_in_files.safetensors"));
  int compared = 0;
  for (const auto& [entry, array] : expected.arrays) {
    const std::string name = entry;
    CAPTURE(name);
    const std::string file = name.substr(0, name.find('/')), kind = name.substr(name.find('/') + 1);
    const Array& pixels = std::get<Array>(array);
    const fs::path path = fixture_path("pictures/" + file);
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

TEST_CASE("a picture that the kit writes is read again") {
  const TemporaryFolder folder;
  const Array image = Array(Shape{3, 2, 2}, {0, 0.2, 0.4, 0.6, 0.8, 1, 1, 0.8, 0.6, 0.4, 0.2, 0});
  const Array again = read_image(write_text(folder / "picture of any name", png(image)));
  for (int i = 0; i < 12; ++i) CHECK(again.data()[i] == doctest::Approx(image.data()[i]));
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
    // No change makes it crash; in a PNG file all are found, by its checksums.
    int accepted = 0;
    for (std::size_t at = 8; at < whole.size(); ++at) {
      std::string changed = whole;
      changed[at] = static_cast<char>(changed[at] ^ 0x55);
      const std::string said = why_not(write_text(folder / "changed", changed));
      accepted += said == "accepted" ? 1 : 0;
      CHECK((said == "accepted" || said.starts_with("bad ") || said == "neither PNG nor JPEG"));
    }
    if (kind == "bad PNG: ") CHECK(accepted == 0);
  }
  CHECK(why_not(write_text(folder / "text", "hello")) == "neither PNG nor JPEG");
  CHECK(why_not(write_text(folder / "none", "")) == "neither PNG nor JPEG");
  CHECK(why_not(fixture_path("pictures/cmyk.jpg")) == "bad JPEG: CMYK");
  CHECK_THROWS_AS(read_image(folder / "missing.png"), IoError);
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
  // A header of PNG with its checksum: 32768 x 32768 in 16 bits a colour.
  const std::string header = "IHDR" + big_endian(32768) + big_endian(32768) + std::string("\x10\x02\x00\x00\x00", 5);
  std::uint32_t crc = 0xFFFFFFFF;
  for (const char c : header) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320 : 0);
  }
  std::string png = read_text(fixture_path("pictures/rgb16.png"));
  png.replace(12, 21, header + big_endian(~crc));
  CHECK(why_not(write_text(folder / "c.png", png)).find("declares 32768 x 32768 pixels, more than") !=
        std::string::npos);
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
