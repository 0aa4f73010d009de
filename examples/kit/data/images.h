// Labelled images: the files of MNIST and Fashion-MNIST, directories of classes, and batches for training.
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

/// Images with their labels.
struct ImageBatch {
  Array images;  ///< (B, C, H, W) in [0, 1]
  Index labels;  ///< (B)
};

/// Labelled images of one size. Copies share their bytes. The bytes are converted to numbers when a batch is requested.
///
/// Threads: several threads may read one object.
class ImageSet {
 public:
  /// Images (N, C, H, W) with values from 0 (black) to 255 (white), labels (N), and the name of each class. Throws
  /// ShapeError for another shape or sizes that do not match, and LimitError for sizes whose product overflows. Throws
  /// ValueError for a negative size or a label that is no class.
  ImageSet(const Shape& shape, std::vector<std::uint8_t> pixels, Index labels, std::vector<std::string> classes);

  std::int64_t size() const { return shape_[0]; }
  /// (N, C, H, W).
  Shape shape() const { return shape_; }
  Index labels() const { return labels_; }
  /// The names of the classes, in the order of the labels.
  const std::vector<std::string>& classes() const& { return classes_; }
  std::vector<std::string> classes() && { return std::move(classes_); }
  /// The bytes of image i, (C, H, W). Throws ValueError if there is no such image.
  std::span<const std::uint8_t> pixels(std::int64_t i) const;

  /// The images with these numbers, rows (B); each byte is divided by 255. Throws ShapeError for another shape, and
  /// ValueError if there is no such image.
  ImageBatch batch(const Index& rows) const;
  /// All images as one batch.
  ImageBatch all() const;

 private:
  Shape shape_;
  std::int64_t bytes_ = 0;  // of one image
  std::shared_ptr<const std::vector<std::uint8_t>> pixels_;
  Index labels_;
  std::vector<std::string> classes_;
};

/// The classes of Fashion-MNIST (Xiao, Rasul, Vollgraf: "Fashion-MNIST: a novel image dataset for benchmarking", 2017),
/// in the order of the labels.
inline constexpr std::array<const char*, 10> fashion_mnist_classes{
    "T-shirt", "trouser", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag", "ankle boot"};
/// Reads a pair of IDX files in the format of MNIST: images of unsigned bytes (N, H, W) and labels (N), with or without
/// gzip. By default the classes are named 0 to the largest label. No memory is allocated for sizes that the file cannot
/// hold.
/// Throws IoError. Throws FormatError for a wrong magic number, sizes that the file cannot hold, missing or trailing
/// bytes, another number of labels, a label that is no class, and a file named .gz that is not compressed.
ImageSet read_idx(const std::filesystem::path& images, const std::filesystem::path& labels,
                  std::vector<std::string> classes = {});

/// Images for training and images for testing.
struct ImageData {
  ImageSet train;
  ImageSet test;
};

/// Reads the files of MNIST in a directory: train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-images-idx3-ubyte
/// and t10k-labels-idx1-ubyte, each with or without .gz. If the name of the directory contains "fashion", the classes
/// get the names of Fashion-MNIST. A directory without these files is read as an ImageFolder: the centre of each image,
/// 32 x 32, with every fifth image of a class in the test set. Throws what the readers throw. Throws FormatError if the
/// two sets differ in the size of the images or the number of classes, and if all classes have fewer than five images.
ImageData read_image_folder(const std::filesystem::path& folder);

}  // namespace xgrad::kit
