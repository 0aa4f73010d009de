// Unpacking and checking text before anything is made of it.
#include <xgrad/kit/files/text_file.h>

#include <algorithm>
#include <string_view>

#include <xgrad/core/files/file.h>
#include <xgrad/kit/files/packed.h>
#include <xgrad/kit/program/error.h>
#include <xgrad/kit/unicode/unicode.h>

namespace xgrad::kit {
namespace {

using Path = std::filesystem::path;

/// The bytes of a file, unpacked. Packing makes text three or four times shorter; a file that unpacks to a hundred
/// times its size was made to fill memories.
std::string unpacked(const Path& path) {
  constexpr const char* op = "read_text";
  constexpr std::int64_t always = 16 << 20, times = 100;
  PackedFile file(path);
  if (!file.packed() && file.most_bytes() > machine_memory()) {
    fail<LimitError>(op, path.string(), ": no memory for ", file.most_bytes(), " bytes");
  }
  const std::int64_t most = std::max(always, times * file.packed_bytes());
  std::string bytes;
  for (std::string piece(1 << 16, '\0'); const std::size_t count = file.read(piece);) {
    bytes.append(piece, 0, count);
    if (file.packed() && std::ssize(bytes) > most) {
      fail<LimitError>(op, path.string(), ": ", file.packed_bytes(), " bytes packed by gzip become more than ", most);
    }
  }
  return bytes;
}

}  // namespace

std::string load_text(const Path& path) {
  std::string text = unpacked(path);
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
