// ImageFolder: a directory of images with one subdirectory for each class: root/cat/1.png, root/dog/a.jpg.
//
//     const kit::ImageFolder data("pets", kit::compose({kit::resize_shorter(40), kit::center_crop(32)}));
//     kit::DataLoader loader{data, {.batch_size = 50, .shuffle = true, .num_workers = 4}};
//     for (const auto& [images, labels] : loader) train(images, labels);  // (50, 3, 32, 32), (50)
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <xgrad/core/array/array.h>
#include <xgrad/kit/data/transforms.h>
#include <xgrad/kit/files/image_file.h>

namespace xgrad::kit {

/// An image (3, H, W) in [0, 1] and the number of its class.
struct LabelledImage {
  Array image;
  std::int64_t label;
};

/// The images of a directory as a data set. Its subdirectories are the classes, numbered from 0 in the order of their
/// names. The images of a class are all files below its directory that end in .png, .jpg or .jpeg, in upper or lower
/// case, in the order of torchvision's ImageFolder. A file is read when its sample is requested; in a DataLoader, a
/// worker reads it.
///
/// Threads: several threads may read one object if they may call the transform.
class ImageFolder {
 public:
  /// `transform` is applied to each image. Throws IoError if the directory cannot be read; FormatError, which names the
  /// path, for a directory without subdirectories and for a class without images.
  explicit ImageFolder(const std::filesystem::path& root, Transform transform = {});

  std::int64_t size() const { return labels_.size(); }
  /// The names of the classes, in the order of the labels.
  const std::vector<std::string>& classes() const& { return classes_; }
  std::vector<std::string> classes() && { return std::move(classes_); }
  /// The class of each image, (N).
  Index labels() const { return labels_; }
  /// The file of image i. Throws ValueError if there is no such image.
  std::filesystem::path path(std::int64_t i) const;
  /// Image i. Throws what path(), read_image() and the transform throw.
  LabelledImage get(std::int64_t i) const;

 private:
  std::vector<std::string> classes_;
  std::vector<std::filesystem::path> paths_;
  Index labels_;
  Transform transform_;
};

}  // namespace xgrad::kit
