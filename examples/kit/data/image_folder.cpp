// The order of files is that of their folders by path, and in each of these by name.
#include <xgrad/kit/data/image_folder.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include <xgrad/core/base/error.h>
#include <xgrad/kit/data/dataset.h>

namespace xgrad::kit {
namespace {

namespace fs = std::filesystem;

bool is_picture(const fs::path& path) {
  std::string ending = path.extension().string();
  std::ranges::transform(ending, ending.begin(), [](unsigned char c) { return std::tolower(c); });
  return ending == ".png" || ending == ".jpg" || ending == ".jpeg";
}

std::vector<std::string> folders_in(const fs::path& root) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(root)) {
    if (entry.is_directory()) names.push_back(entry.path().filename().string());
  }
  std::ranges::sort(names);
  return names;
}

std::vector<fs::path> pictures_in(const fs::path& folder) {
  std::vector<std::pair<std::string, std::string>> found;  // folder, name
  for (const auto& entry : fs::recursive_directory_iterator(folder, fs::directory_options::follow_directory_symlink)) {
    const fs::path& path = entry.path();
    if (is_picture(path) && !entry.is_directory())
      found.emplace_back(path.parent_path().string(), path.filename().string());
  }
  std::ranges::sort(found);
  std::vector<fs::path> paths;
  for (const auto& [parent, name] : found) paths.push_back(fs::path(parent) / name);
  return paths;
}

}  // namespace

ImageFolder::ImageFolder(const fs::path& root, Transform transform) : transform_(std::move(transform)) {
  constexpr const char* op = "image_folder";
  std::vector<std::int64_t> labels;
  try {
    classes_ = folders_in(root);
    if (classes_.empty()) fail<FormatError>(op, root.string(), ": has no folder in it, which would be a class");
    for (const std::string& name : classes_) {
      const std::vector<fs::path> pictures = pictures_in(root / name);
      if (pictures.empty()) fail<FormatError>(op, (root / name).string(), ": has no .png, .jpg or .jpeg in it");
      labels.insert(labels.end(), pictures.size(), &name - classes_.data());
      paths_.insert(paths_.end(), pictures.begin(), pictures.end());
    }
  } catch (const fs::filesystem_error& error) {
    throw IoError(str("cannot read ", error.path1().string(), ": ", error.code().message()));
  }
  labels_ = Index(labels);
}

fs::path ImageFolder::path(std::int64_t i) const {
  detail::check_sample("image_folder", i, size());
  return paths_[static_cast<std::size_t>(i)];
}

LabelledImage ImageFolder::get(std::int64_t i) const {
  Array image = read_image(path(i));
  return {transform_ ? transform_(image) : std::move(image), labels_.data()[i]};
}

}  // namespace xgrad::kit
