// Unpacking and checking text before anything is made of it.
#include <xgrad/kit/files/text_file.h>

#include <algorithm>
#include <limits>
#include <string_view>

#include <xgrad/core/files/file.h>
#include <xgrad/kit/files/packed.h>
#include <xgrad/kit/program/error.h>
#include <xgrad/kit/unicode/unicode.h>

namespace xgrad::kit {
namespace {

using Path = std::filesystem::path;

/// A text file, plain or gzip, read from the first byte to the last. Packing makes text three or four times shorter;
/// a file that unpacks to a hundred times its size was made to fill memories.
class TextFile : public PackedFile {
 public:
  explicit TextFile(const Path& path) : PackedFile(path) {
    constexpr std::int64_t always = 16 << 20, times = 100;
    if (packed()) most_ = std::max(always, packed_bytes() * times);
  }

  std::size_t read(std::span<char> buffer) {
    const std::size_t count = PackedFile::read(buffer);
    read_ += static_cast<std::int64_t>(count);
    if (read_ > most_) {
      fail<LimitError>("read_text", path().string(), ": ", packed_bytes(), " bytes packed by gzip become more than ",
                       most_);
    }
    return count;
  }

  /// Throws LimitError for a plain file that memory cannot hold.
  void require_memory() const {
    if (!packed() && most_bytes() > machine_memory()) {
      fail<LimitError>("read_text", path().string(), ": no memory for ", most_bytes(), " bytes");
    }
  }

 private:
  std::int64_t most_ = std::numeric_limits<std::int64_t>::max();
  std::int64_t read_ = 0;
};

}  // namespace

std::string load_text(const Path& path) {
  TextFile file(path);
  file.require_memory();
  std::string text;
  for (std::string piece(1 << 16, '\0'); const std::size_t count = file.read(piece);) text.append(piece, 0, count);
  const auto refuse_at = [&](std::size_t at, const char* what) {
    const auto before = std::string_view(text).substr(0, at);
    throw DataError(path, static_cast<std::size_t>(std::ranges::count(before, '\n')) + 1, what);
  };
  if (const std::size_t at = utf8_prefix(text); at < text.size()) refuse_at(at, "bytes that are not UTF-8");
  if (const std::size_t at = text.find('\0'); at != text.npos) refuse_at(at, "a zero byte");
  if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);
  std::size_t written = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\r' || i + 1 == text.size() || text[i + 1] != '\n') text[written++] = text[i];
  }
  text.resize(written);
  return text;
}

std::vector<std::string> read_lines(const Path& path) {
  constexpr std::size_t longest = 1 << 20;
  const std::string text = load_text(path);
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    if (end - begin > longest) throw DataError(path, lines.size(), "longer than 1 MiB: not a text file?");
    begin = end + 1;
  }
  return lines;
}

}  // namespace xgrad::kit
