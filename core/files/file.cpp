// Files by way of the operating system's own calls, because the standard streams can neither sync nor lock.
#include "file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <limits>
#include <new>
#include <system_error>
#include <utility>

#include "../base/assert.h"
#include "../base/error.h"

namespace xgrad {
namespace {

[[noreturn]] void fail_io(std::string_view op, std::string_view path, std::string_view what) {
  const int error = errno;
  fail<IoError>(op, path, ": ", what, ": ", std::generic_category().message(error));
}

/// Repeats a call while signals interrupt it.
template <class Call>
auto uninterrupted(Call call) {
  for (;;) {
    if (const auto result = call(); result != -1 || errno != EINTR) return result;
  }
}

/// The path, which must not hold a NUL byte.
std::string checked_path(std::string path, std::string_view op) {
  if (const std::size_t nul = path.find('\0'); nul != path.npos) {
    fail<ValueError>(op, "a path holds a NUL byte: ", std::string_view(path).substr(0, nul), "\\0...");
  }
  return path;
}

/// A file descriptor that is closed at the end of its life.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }

  int get() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }
  int release() { return std::exchange(number_, -1); }

 private:
  int number_;
};

/// The file `.target.tmp` next to the target, which becomes the target when it is complete. The writers of one target
/// take turns by a lock, which the system drops with its process. So a file that a dead process left behind is written
/// over.
class TemporaryFile {
 public:
  TemporaryFile(int folder, const std::string& target) : folder_(folder), name_(str(".", target, ".tmp")) {
    constexpr int flags = O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    do {
      file_ = Descriptor(openat(folder_, name_.c_str(), flags, 0666));
      if (!file_) return;
      uninterrupted([&] { return flock(file_.get(), LOCK_EX); });  // does nothing on a file system without locks
    } while (!is_named());
    exists_ = true;
  }
  ~TemporaryFile() {
    if (exists_) unlinkat(folder_, name_.c_str(), 0);
  }

  /// Makes the file empty, with the access rights of the old one if there is one. False if that or its creation failed.
  bool begin(const struct stat* old) {
    return exists_ && uninterrupted([&] { return ftruncate(file_.get(), 0); }) == 0 &&
           (!old || fchmod(file_.get(), old->st_mode & 0777) == 0);
  }
  bool write(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t written = uninterrupted([&] { return ::write(file_.get(), bytes.data(), bytes.size()); });
      if (written < 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
  }
  bool sync() {
    return uninterrupted([&] { return fsync(file_.get()); }) == 0;
  }
  bool rename_to(const std::string& target) {
    exists_ = renameat(folder_, name_.c_str(), folder_, target.c_str()) != 0;
    return !exists_;
  }

 private:
  /// Whether the name is still that of the locked file: the writer before may have renamed or removed it.
  bool is_named() const {
    struct stat mine, named;
    return fstat(file_.get(), &mine) == 0 && fstatat(folder_, name_.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 &&
           mine.st_dev == named.st_dev && mine.st_ino == named.st_ino;
  }

  int folder_;
  std::string name_;
  Descriptor file_;
  bool exists_ = false;
};

}  // namespace

std::int64_t machine_memory() {
  const std::int64_t pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGE_SIZE);
  return pages > 0 && bytes > 0 ? pages * bytes : std::numeric_limits<std::int64_t>::max();
}

InputFile::InputFile(std::string path, std::string_view op) : path_(checked_path(std::move(path), op)), op_(op) {
  // Opening a pipe would otherwise wait for a writer.
  Descriptor file(uninterrupted([&] { return open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK); }));
  if (!file) fail_io(op_, path_, "cannot be opened");
  struct stat status;
  if (fstat(file.get(), &status) != 0) fail_io(op_, path_, "cannot be examined");
  if (!S_ISREG(status.st_mode)) fail<IoError>(op_, path_, ": is not a regular file");
  size_ = status.st_size;
  descriptor_ = file.release();
}

InputFile::~InputFile() { ::close(descriptor_); }

std::string InputFile::read(std::int64_t begin, std::int64_t count) const {
  XGRAD_ASSERT(begin >= 0 && count >= 0);
  std::string bytes;
  try {
    // Beyond max_size(), which counts where sizes have 32 bits, resize throws std::length_error.
    if (count > machine_memory() || std::cmp_greater(count, bytes.max_size())) throw std::bad_alloc();
    bytes.resize(static_cast<std::size_t>(count));
  } catch (const std::bad_alloc&) {
    fail<LimitError>(op_, path_, ": no memory for ", count, " bytes");
  }
  for (std::int64_t done = 0; done < count;) {
    const ssize_t got = uninterrupted(
        [&] { return pread(descriptor_, bytes.data() + done, static_cast<std::size_t>(count - done), begin + done); });
    if (got < 0) fail_io(op_, path_, "cannot be read");
    if (got == 0) {
      fail<IoError>(op_, path_, ": ends at byte ", begin + done, ", needs ", size_,
                    ": it became shorter while being read");
    }
    done += got;
  }
  return bytes;
}

std::string read_file(const std::string& path) {
  const InputFile file(path);
  return file.read(0, file.size());
}

void write_file_atomically(const std::string& path, std::span<const std::string_view> pieces, std::string_view op) {
  checked_path(path, op);
  const std::size_t slash = path.rfind('/');
  const std::string folder_name = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const std::string name = path.substr(slash + 1);  // npos + 1 is 0
  if (name.empty()) fail<IoError>(op, path, ": names no file");

  const Descriptor folder(open(folder_name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder) fail_io(op, path, "its folder cannot be opened");
  struct stat old;
  const bool exists = fstatat(folder.get(), name.c_str(), &old, AT_SYMLINK_NOFOLLOW) == 0;
  if (exists && !S_ISREG(old.st_mode)) {
    fail<IoError>(op, path, ": exists and is not a regular file", S_ISLNK(old.st_mode) ? " but a symbolic link" : "");
  }

  TemporaryFile file(folder.get(), name);
  if (!file.begin(exists ? &old : nullptr)) fail_io(op, path, "cannot be created");
  for (const std::string_view piece : pieces) {
    if (!file.write(piece)) fail_io(op, path, "cannot be written");
  }
  if (!file.sync()) fail_io(op, path, "cannot be synced");
  if (!file.rename_to(name)) fail_io(op, path, "cannot be renamed into place");
  // The new file is in place; its name is safe once the folder is on the disk. Not every file system can sync folders.
  if (uninterrupted([&] { return fsync(folder.get()); }) != 0 && errno != EINVAL) {
    fail_io(op, path, "is written, but its folder cannot be synced");
  }
}

void write_file_atomically(const std::string& path, std::string_view content, std::string_view op) {
  write_file_atomically(path, {&content, 1}, op);
}

}  // namespace xgrad
