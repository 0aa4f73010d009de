// Utilities for tests of the kit: files and what is said of them, a hostile locale, a strict reader of XML and of SVG.
#pragma once

#include <png.h>
#include <zlib.h>

#include <initializer_list>
#include <ostream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "support/check.h"
#include "support/files.h"

namespace xgrad::kit::testing {

using xgrad::testing::CommaLocale;
using xgrad::testing::read_text;
using xgrad::testing::TemporaryFolder;
using xgrad::testing::write_text;

/// Writes a text as gzip does.
inline std::filesystem::path write_gzip(const std::filesystem::path& path, std::string_view text) {
  const gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
  gzclose(file);
  return path;
}

/// A number in 32 bits, most significant byte first.
inline std::string big_endian(std::uint32_t number) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(number >> shift & 0xFF);
  return bytes;
}

/// While it lives, a stream writes to `text`.
struct Redirected {
  std::ostringstream text;

  explicit Redirected(std::ostream& stream) : stream_(stream), earlier_(stream.rdbuf(text.rdbuf())) {}
  ~Redirected() { stream_.rdbuf(earlier_); }

 private:
  std::ostream& stream_;
  std::streambuf* earlier_;
};

/// The message of the E that `f` throws, without the folder in it; "accepted" if it throws none.
template <class E, class F>
std::string refusal(const TemporaryFolder& folder, const F& f) {
  try {
    f();
  } catch (const E& error) {
    std::string message = error.what();
    const std::string path = folder.path().string() + "/";
    for (std::size_t at = message.find(path); at != message.npos; at = message.find(path))
      message.erase(at, path.size());
    return message;
  }
  return "accepted";
}

/// Why a text is not well-formed XML (of the simple kind: elements, attributes in double quotes, escaped text), or "".
inline std::string xml_error(std::string_view text) {
  std::vector<std::string> open;
  bool rooted = false;
  const auto entities_fine = [](std::string_view part) {
    for (std::size_t at = part.find('&'); at != part.npos; at = part.find('&', at + 1)) {
      const std::string_view name = part.substr(at + 1, part.find(';', at) - at - 1);
      if (name != "amp" && name != "lt" && name != "gt" && name != "quot" && name != "#39") return false;
    }
    return part.find('<') == part.npos;
  };
  while (!text.empty()) {
    const std::size_t tag = text.find('<');
    const std::string_view content = text.substr(0, tag);
    if (!entities_fine(content)) return "bad text: " + std::string(content);
    if (tag == text.npos) break;
    if (open.empty() && rooted) return "more than one root";
    const std::size_t end = text.find('>', tag);
    if (end == text.npos) return "unclosed tag";
    std::string_view inside = text.substr(tag + 1, end - tag - 1);
    text.remove_prefix(end + 1);
    if (inside.starts_with('/')) {
      if (open.empty() || open.back() != inside.substr(1)) return "stray end: " + std::string(inside);
      open.pop_back();
      continue;
    }
    const bool empty = inside.ends_with('/');
    if (empty) inside.remove_suffix(1);
    const std::string_view name = inside.substr(0, inside.find(' '));
    inside.remove_prefix(name.size());
    while (!inside.empty()) {
      const std::size_t quote = inside.find("=\""), close = inside.find('"', quote + 2);
      if (!inside.starts_with(' ') || quote == inside.npos || close == inside.npos)
        return "bad attributes of a " + std::string(name);
      if (!entities_fine(inside.substr(quote + 2, close - quote - 2))) return "bad attribute value";
      inside.remove_prefix(close + 1);
    }
    if (!empty) open.emplace_back(name);
    rooted = true;
  }
  return open.empty() && rooted ? "" : "unclosed element";
}

/// A PNG file as libpng reads it, in the file's own format.
struct DecodedPng {
  png_image image{};
  std::vector<png_byte> values;

  explicit DecodedPng(const std::string& file) {
    image.version = PNG_IMAGE_VERSION;
    REQUIRE(png_image_begin_read_from_memory(&image, file.data(), file.size()) != 0);
    values.resize(PNG_IMAGE_SIZE(image));
    REQUIRE(png_image_finish_read(&image, nullptr, values.data(), 0, nullptr) != 0);
  }
};

/// Markup, a control character and bytes that are no UTF-8, as a text that a picture shows.
inline const std::string hostile{"</text><script>alert(\"'&#0;\")</script>]]>--\0\x1b\xff\n", 47};

/// How often a part occurs in a text.
inline std::size_t count_of(std::string_view part, std::string_view text) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

/// Checks that a picture is well-formed and that each of these parts occurs `count` times in it.
inline void check_svg(const std::string& svg, std::size_t count = 0,
                      std::initializer_list<std::string_view> parts = {}) {
  CHECK(xml_error(svg) == "");
  for (const std::string_view part : parts) CHECK_MESSAGE(count_of(part, svg) == count, part, " in ", svg);
}
/// The same of texts that stand on the sheet.
inline void check_labels(const std::string& svg, std::size_t count, std::initializer_list<std::string_view> texts) {
  for (const std::string_view text : texts) CHECK_MESSAGE(count_of(str(">", text, "</text>"), svg) == count, text);
}

/// The values of an attribute of all elements of a kind, in order.
inline std::vector<double> attributes(const std::string& svg, const std::string& element, const std::string& name) {
  const std::string before = " " + name + "=\"";
  std::vector<double> values;
  for (std::size_t at = svg.find("<" + element); at != svg.npos; at = svg.find("<" + element, at + 1)) {
    values.push_back(std::stod(svg.substr(svg.find(before, at) + before.size(), 20)));
  }
  return values;
}

}  // namespace xgrad::kit::testing
