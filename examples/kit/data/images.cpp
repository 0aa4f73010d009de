// Files of pictures are not trusted: the sizes that they declare are checked against the file before memory is
// allocated.
#include <xgrad/kit/data/images.h>

#include <algorithm>
#include <array>
#include <cmath>

#include <xgrad/kit/data/image_folder.h>
#include <xgrad/kit/files/packed.h>
#include <xgrad/ops/creation/create.h>

namespace xgrad::kit {
namespace {

using Path = std::filesystem::path;
using Bytes = std::vector<std::uint8_t>;

/// The next bytes of a file, as many as there are up to `count`.
Bytes take(PackedFile& file, std::int64_t count) {
  Bytes bytes(static_cast<std::size_t>(count));
  bytes.resize(file.read({reinterpret_cast<char*>(bytes.data()), bytes.size()}));
  return bytes;
}

std::uint32_t big_endian(const std::uint8_t* bytes) {
  return std::uint32_t{bytes[0]} << 24 | std::uint32_t{bytes[1]} << 16 | std::uint32_t{bytes[2]} << 8 | bytes[3];
}

std::string hexadecimal(std::uint32_t number) {
  std::string text = "0x";
  for (int shift = 28; shift >= 0; shift -= 4) text += "0123456789abcdef"[number >> shift & 15];
  return text;
}

/// The content of an IDX file.
struct Idx {
  Shape shape;
  Bytes bytes;
};

/// Reads an IDX file of unsigned bytes with so many axes: two zero bytes, the type, the number of axes, the size along
/// each of them in 32 bits, most significant byte first, then the elements.
Idx read_idx_file(const Path& path, int rank) {
  constexpr const char* op = "read_idx";
  PackedFile file(path);
  if (path.extension() == ".gz" && !file.packed()) {
    fail<FormatError>(op, path.string(), ": is named .gz but is not gzip");
  }
  const std::int64_t size_bytes = 4 * rank, header_bytes = 4 + size_bytes;
  const Bytes first = take(file, 4);
  const std::uint32_t magic = 0x800 + static_cast<std::uint32_t>(rank);
  if (first.size() == 4 && big_endian(first.data()) != magic) {
    fail<FormatError>(op, path.string(), ": magic number: expected ", hexadecimal(magic), " (unsigned bytes, ", rank,
                      rank == 1 ? " axis" : " axes", "), found ", hexadecimal(big_endian(first.data())));
  }
  const Bytes header = take(file, size_bytes);
  if (std::ssize(header) < size_bytes) {
    fail<FormatError>(op, path.string(), ": expected a header of ", header_bytes, " bytes, found ",
                      first.size() + header.size());
  }
  std::vector<std::int64_t> sizes;
  for (int axis = 0; axis < rank; ++axis) {
    sizes.push_back(big_endian(header.data() + 4 * axis));
    if (sizes.back() == 0)
      fail<FormatError>(op, path.string(), ": axis ", axis, ": expected a size of 1 or more, found 0");
  }
  const Shape shape{std::span<const std::int64_t>(sizes)};
  const std::int64_t most = file.most_bytes() - header_bytes;
  std::int64_t count = 1;
  for (const std::int64_t size : sizes) {
    if (size > most / count) {
      fail<FormatError>(op, path.string(), ": declares bytes of shape ", shape, ", but at most ", most,
                        " bytes follow the header");
    }
    count *= size;
  }
  Bytes bytes = take(file, count);
  if (std::ssize(bytes) < count) {
    fail<FormatError>(op, path.string(), ": expected ", count, " bytes behind the header, found ", bytes.size());
  }
  if (!take(file, 1).empty()) {
    fail<FormatError>(op, path.string(), ": expected the end behind ", count, " bytes of shape ", shape,
                      ", found more");
  }
  return {shape, std::move(bytes)};
}

/// The pictures of a folder with a folder for each class: the middle of each, 32 x 32.
ImageData read_classes(const Path& folder) {
  constexpr std::int64_t side = 32;
  const ImageFolder pictures(folder, compose({resize_shorter(side), center_crop({side, side})}));
  std::array<Bytes, 2> bytes;  // to learn from, to judge by
  std::array<std::vector<std::int64_t>, 2> labels;
  std::vector<std::int64_t> seen(pictures.classes().size(), 0);
  for (std::int64_t i = 0; i < pictures.size(); ++i) {
    const auto [image, label] = pictures.get(i);
    const std::size_t part = ++seen[static_cast<std::size_t>(label)] % 5 == 0 ? 1 : 0;
    for (const Real light : image) bytes[part].push_back(static_cast<std::uint8_t>(std::lround(255 * light)));
    labels[part].push_back(label);
  }
  if (labels[1].empty()) fail<FormatError>("read_image_folder", folder.string(), ": no class has five pictures");
  const auto set = [&](std::size_t part) {
    return ImageSet(Shape{std::ssize(labels[part]), 3, side, side}, std::move(bytes[part]), Index(labels[part]),
                    pictures.classes());
  };
  return {set(0), set(1)};
}

}  // namespace

ImageSet::ImageSet(const Shape& shape, std::vector<std::uint8_t> pixels, Index labels, std::vector<std::string> classes)
    : shape_(shape), labels_(std::move(labels)), classes_(std::move(classes)) {
  constexpr const char* op = "ImageSet";
  if (shape.rank() != 4) fail<ShapeError>(op, "needs pictures (N, C, H, W), got ", shape);
  bytes_ = Shape{shape[1], shape[2], shape[3]}.numel();
  if (std::cmp_not_equal(pixels.size(), shape.numel())) {
    fail<ShapeError>(op, pixels.size(), " bytes for pictures ", shape);
  }
  if (labels_.shape() != Shape{shape[0]}) fail<ShapeError>(op, "pictures ", shape, " with labels ", labels_.shape());
  for (const std::int64_t label : labels_) {
    if (label < 0 || label >= std::ssize(classes_)) {
      fail<ValueError>(op, "label ", label, " is not in [0, ", classes_.size(), ")");
    }
  }
  pixels_ = std::make_shared<const Bytes>(std::move(pixels));
}

std::span<const std::uint8_t> ImageSet::pixels(std::int64_t i) const {
  if (i < 0 || i >= size()) fail<ValueError>("ImageSet", "picture ", i, " is not in [0, ", size(), ")");
  return {pixels_->data() + i * bytes_, static_cast<std::size_t>(bytes_)};
}

ImageBatch ImageSet::batch(const Index& rows) const {
  if (rows.rank() != 1) fail<ShapeError>("ImageSet", "needs the numbers of pictures (B), got ", rows.shape());
  Array images(Shape{rows.size(), shape_[1], shape_[2], shape_[3]});
  Real* out = images.mutable_data();
  for (const std::int64_t row : rows) {
    const auto scaled = [](std::uint8_t byte) { return static_cast<Real>(byte) / 255; };
    out = std::ranges::transform(pixels(row), out, scaled).out;
  }
  return {std::move(images), labels_[rows]};
}

ImageBatch ImageSet::all() const { return batch(arange(size())); }

ImageSet read_idx(const Path& images, const Path& labels, std::vector<std::string> classes) {
  constexpr const char* op = "read_idx";
  Idx pictures = read_idx_file(images, 3);
  const Idx numbers = read_idx_file(labels, 1);
  if (pictures.shape[0] != numbers.shape[0]) {
    fail<FormatError>(op, images.string(), " has ", pictures.shape[0], " pictures, but ", labels.string(), " has ",
                      numbers.shape[0], " labels");
  }
  if (classes.empty()) {
    for (int label = 0; label <= std::ranges::max(numbers.bytes); ++label) classes.push_back(std::to_string(label));
  }
  for (std::size_t i = 0; i < numbers.bytes.size(); ++i) {
    if (numbers.bytes[i] < classes.size()) continue;
    fail<FormatError>(op, labels.string(), ": label ", i, ": expected a class below ", classes.size(), ", found ",
                      int{numbers.bytes[i]});
  }
  const Shape& shape = pictures.shape;
  return {Shape{shape[0], 1, shape[1], shape[2]}, std::move(pictures.bytes), Index(numbers.shape, numbers.bytes),
          std::move(classes)};
}

ImageData read_image_folder(const Path& folder) {
  const auto perhaps_packed = [&](const char* name) {
    const Path plain = folder / name, packed = folder / str(name, ".gz");
    return std::filesystem::exists(packed) && !std::filesystem::exists(plain) ? packed : plain;
  };
  const auto both = [&](ImageSet train, ImageSet test) -> ImageData {
    const auto same_size = [&](int axis) { return train.shape()[axis] == test.shape()[axis]; };
    if (!same_size(1) || !same_size(2) || !same_size(3) || train.classes() != test.classes()) {
      fail<FormatError>("read_image_folder", folder.string(), ": pictures ", train.shape(), " of ",
                        train.classes().size(), " classes to learn from, but ", test.shape(), " of ",
                        test.classes().size(), " to judge by");
    }
    return {std::move(train), std::move(test)};
  };
  if (std::filesystem::exists(perhaps_packed("train-images-idx3-ubyte"))) {
    const Path whole = (std::filesystem::absolute(folder) / "").lexically_normal();  // also of "." and "a/b/.."
    const bool fashion = whole.parent_path().filename().string().find("fashion") != std::string::npos;
    std::vector<std::string> classes;
    if (fashion) classes.assign(fashion_mnist_classes.begin(), fashion_mnist_classes.end());
    return both(read_idx(perhaps_packed("train-images-idx3-ubyte"), perhaps_packed("train-labels-idx1-ubyte"), classes),
                read_idx(perhaps_packed("t10k-images-idx3-ubyte"), perhaps_packed("t10k-labels-idx1-ubyte"), classes));
  }
  return read_classes(folder);
}

}  // namespace xgrad::kit
