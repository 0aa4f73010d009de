// Files by way of the operating system's own calls, because the standard streams can neither sync nor create
// exclusively.
#include "file.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <limits>
#include <memory>
#include <new>
#include <random>
#include <system_error>
#include <utility>

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
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() { close(); }

  int get() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }
  int release() { return std::exchange(number_, -1); }
  bool close() { return number_ < 0 || ::close(std::exchange(number_, -1)) == 0 || errno == EINTR; }

 private:
  int number_;
};

/// The file that becomes the target when it is complete. It is locked while it lives, which distinguishes it from those
/// that dead processes left behind: the system drops the locks of a process that dies.
class TemporaryFile {
 public:
  TemporaryFile(int folder, const std::string& target, mode_t mode) : folder_(folder), prefix_("." + target + ".") {
    std::random_device random;
    do {
      const std::uint64_t number = std::uint64_t{random()} << 32 | random();
      name_ = cat(prefix_, number, suffix);
      file_ = Descriptor(openat(folder_, name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
      exists_ = static_cast<bool>(file_);
      if (!exists_ && errno != EEXIST) return;
    } while (!exists_ || taken_for_dead());
    lock_ = Descriptor(fcntl(file_.get(), F_DUPFD_CLOEXEC, 0));  // the lock outlives close(): it is held until renamed
  }
  ~TemporaryFile() {
    if (exists_) unlinkat(folder_, name_.c_str(), 0);
  }

  explicit operator bool() const { return static_cast<bool>(lock_); }

  bool write(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t written = uninterrupted([&] { return ::write(file_.get(), bytes.data(), bytes.size()); });
      if (written < 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
  }
  bool sync_and_close() {
    return uninterrupted([&] { return fsync(file_.get()); }) == 0 && file_.close();
  }
  bool rename_to(const std::string& target) {
    if (renameat(folder_, name_.c_str(), folder_, target.c_str()) != 0) return false;
    exists_ = false;
    return true;
  }

  /// Removes the temporary files of this target that no process has locked.
  void remove_dead_siblings() const {
    const int entries = openat(folder_, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (entries < 0) return;
    const std::unique_ptr<DIR, int (*)(DIR*)> listing(fdopendir(entries), closedir);
    while (const dirent* entry = listing ? readdir(listing.get()) : nullptr) {
      if (!is_sibling(entry->d_name)) continue;
      const Descriptor file(openat(folder_, entry->d_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
      if (file && flock(file.get(), LOCK_EX | LOCK_NB) == 0) unlinkat(folder_, entry->d_name, 0);
    }
  }

 private:
  static constexpr std::string_view suffix = ".tmp";

  /// Locks the new file; true if another process that tidies up was faster. (None is on a file system without locks.)
  bool taken_for_dead() const {
    struct stat status;
    return (flock(file_.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) ||
           (fstat(file_.get(), &status) == 0 && status.st_nlink == 0);
  }
  bool is_sibling(std::string_view name) const {
    if (!name.starts_with(prefix_) || !name.ends_with(suffix)) return false;
    name.remove_prefix(prefix_.size());
    const std::size_t digits = name.find_first_not_of("0123456789");
    return digits > 0 && digits + suffix.size() == name.size();
  }

  int folder_;
  std::string prefix_;
  std::string name_;
  Descriptor file_;
  Descriptor lock_;
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
  std::string bytes;
  try {
    if (count > machine_memory()) throw std::bad_alloc();
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

  TemporaryFile file(folder.get(), name, exists ? old.st_mode & 0777 : 0666);
  if (!file) fail_io(op, path, "cannot be created");
  for (const std::string_view piece : pieces) {
    if (!file.write(piece)) fail_io(op, path, "cannot be written");
  }
  if (!file.sync_and_close()) fail_io(op, path, "cannot be synced");
  if (!file.rename_to(name)) fail_io(op, path, "cannot be renamed into place");
  // The new file is in place; its name is safe once the folder is on the disk. Not every file system can sync folders.
  if (fsync(folder.get()) != 0 && errno != EINVAL) fail_io(op, path, "is written, but its folder cannot be synced");
  file.remove_dead_siblings();
}

void write_file_atomically(const std::string& path, std::string_view content) {
  write_file_atomically(path, {&content, 1});
}

}  // namespace xgrad
