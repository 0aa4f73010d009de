// Labelled pictures: the files of MNIST and Fashion-MNIST, folders of classes, and batches for training.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <xgrad/core/array/array.h>

namespace xgrad::kit {

/// Pictures with their labels.
struct ImageBatch {
  Array images;  ///< (B, C, H, W) in [0, 1]
  Index labels;  ///< (B)
};

/// Labelled pictures of one size. Their bytes are kept as they are and shared by copies; a batch becomes numbers when
/// it is asked for.
///
/// Threads: many may read from one object.
class ImageSet {
 public:
  /// Pictures (N, C, H, W), row after row from 0 for none to 255 for full light, labels (N), and the name of each
  /// class. Throws ShapeError for another shape and for sizes that do not fit together, LimitError for sizes whose
  /// product overflows, ValueError for a negative size and a label that is no class.
  ImageSet(const Shape& shape, std::vector<std::uint8_t> pixels, Index labels, std::vector<std::string> classes);

  std::int64_t size() const { return shape_[0]; }
  /// (N, C, H, W).
  Shape shape() const { return shape_; }
  Index labels() const { return labels_; }
  /// The names of the classes, in the order of the labels.
  const std::vector<std::string>& classes() const& { return classes_; }
  std::vector<std::string> classes() && { return std::move(classes_); }
  /// The bytes of picture i, (C, H, W). Throws ValueError if it is not there.
  std::span<const std::uint8_t> pixels(std::int64_t i) const;

  /// The pictures with these numbers, rows (B), each byte divided by 255. Throws ShapeError for another shape,
  /// ValueError for one that is not there.
  ImageBatch batch(const Index& rows) const;
  /// All pictures at once.
  ImageBatch all() const;

 private:
  const std::uint8_t* begin_of(std::int64_t i) const;

  Shape shape_;
  std::int64_t bytes_ = 0;  // of a picture
  std::shared_ptr<const std::vector<std::uint8_t>> pixels_;
  Index labels_;
  std::vector<std::string> classes_;
};

/// The classes of Fashion-MNIST (Xiao, Rasul, Vollgraf: "Fashion-MNIST: a novel image dataset for benchmarking", 2017),
/// in the order of the labels.
inline constexpr std::array<const char*, 10> fashion_mnist_classes{
    "T-shirt", "trouser", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag", "ankle boot"};
/// Reads a pair of IDX files, as MNIST has them: pictures of unsigned bytes (N, H, W) and labels (N), plain or packed
/// by gzip. Without names, the classes are 0 to the greatest label. Throws IoError; FormatError for a wrong magic
/// number, sizes that the file cannot hold, missing or trailing bytes, another number of labels, a label that is no
/// class, and a file that is named .gz without being packed. No memory is allocated for sizes that the file cannot
/// hold.
ImageSet read_idx(const std::filesystem::path& images, const std::filesystem::path& labels,
                  std::vector<std::string> classes = {});

/// Pictures to learn from, and pictures to judge by.
struct ImageData {
  ImageSet train;
  ImageSet test;
};

/// Reads the files of a folder: train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-images-idx3-ubyte and
/// t10k-labels-idx1-ubyte, each perhaps with .gz; if the folder's own name has the word "fashion" in it, the classes
/// are named so. A folder without them is one of classes (ImageFolder): the middle of each picture, 32 x 32, and of
/// each class every fifth picture to judge by. Throws as the readers do; FormatError if the two sets differ in the size
/// of the pictures or the number of classes, and for classes of fewer than five pictures each.
ImageData read_image_folder(const std::filesystem::path& folder);

}  // namespace xgrad::kit
