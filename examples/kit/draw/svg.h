// A sheet of SVG that drawings are put on: shapes, text, escaping, how wide a text will be, and the colours of all
// pictures.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <xgrad/core/base/error.h>

namespace xgrad::kit {

/// Text for the inside of an element or of an attribute: & < > " ' escaped, invalid UTF-8 and characters that XML does
/// not allow replaced by U+FFFD.
std::string xml_escaped(std::string_view text);

/// The width in pixels that a text needs at a font size: in the widest of the fonts that readers may have.
double text_width(std::string_view text, double font_size);

/// The same for a bold text.
double bold_width(std::string_view text, double font_size);

/// The width of the widest text; 0 without texts.
double widest(const std::vector<std::string>& texts, double font_size);

/// The text itself, or its beginning with an ellipsis if it is wider than so many pixels.
std::string fit_width(std::string_view text, double font_size, double width);

/// The whole text in lines of that width: broken between words, and within a word that is wider than a line.
std::vector<std::string> wrap_width(std::string_view text, double font_size, double width, bool bold = false);

/// From the base line of one line of a text to that of the next.
constexpr double line_height(double font_size) { return 1.3 * font_size; }

/// How much room lines of text take.
inline double lines_height(const std::vector<std::string>& lines, double font_size) {
  return static_cast<double>(lines.size()) * line_height(font_size);
}

/// How much room Svg::heading takes: nothing without a text.
double heading_height(std::string_view text, double font_size, double width);

/// A colour as 0xRRGGBB, on white and on dark ground.
struct Ink {
  std::uint32_t light = 0, dark = 0;
  bool operator==(const Ink&) const = default;
};

/// Of the sheet.
inline constexpr Ink ground_ink{0xffffff, 0x0d1117};
/// Of titles, labels and all text that says nothing else.
inline constexpr Ink text_ink{0x1f2933, 0xe6edf3};
/// Of axes, ticks and captions.
inline constexpr Ink quiet_ink{0x52606d, 0x9aa7b4};
/// Of lines behind a drawing.
inline constexpr Ink grid_ink{0xe4e7eb, 0x2a323c};
/// Of lines around a drawing.
inline constexpr Ink frame_ink{0xcbd2d9, 0x47525e};

/// Colours of things that belong together, after Okabe and Ito's, which colour-blind readers can tell apart; those that
/// stand out least at the end.
inline constexpr std::array<Ink, 7> series_inks = {{{0x0072b2, 0x3d9be0},
                                                    {0xd55e00, 0xf07d2b},
                                                    {0x009e73, 0x2fc49a},
                                                    {0xcc79a7, 0xe29ac4},
                                                    {0x4b5563, 0xaab4c0},
                                                    {0xe69f00, 0xf2b733},
                                                    {0x56b4e9, 0x9bd4f7}}};

/// The colour at a place from 0, the first of the stops, to 1, the last of them.
Ink mixed(double place, std::span<const Ink> stops);

/// Name and value of an attribute; numbers are given two decimals, as pixels need no more. An ink is the value of fill
/// or stroke, of an element without a class of its own.
struct Attribute {
  std::string_view name;
  std::string value = {};
  std::optional<Ink> ink = {};

  Attribute(std::string_view key, double number);
  Attribute(std::string_view key, std::string_view text) : name(key), value(text) {}
  Attribute(std::string_view key, Ink colour) : name(key), ink(colour) {}
};

/// The attributes of one element, in order.
using Attributes = std::initializer_list<Attribute>;

/// An SVG document of a fixed size on ground of its own, white, and dark where the reader prefers that (CSS:
/// prefers-color-scheme), so that it is legible on every page. An element has its light colour as attribute and a class
/// for the dark one: programs that know no CSS show the light picture. A class is named after its colours, so documents
/// that stand in one page do not disturb each other.
///
/// Threads: one at a time.
class Svg {
 public:
  /// Size in pixels; `title` is for screen readers.
  Svg(double width, double height, std::string_view title);

  /// The usual shapes, with a title that appears under the pointer.
  void line(double x1, double y1, double x2, double y2, Attributes attributes, std::string_view hover = {});
  void rect(double x, double y, double width, double height, Attributes attributes, std::string_view hover = {});
  void circle(double x, double y, double radius, Attributes attributes, std::string_view hover = {});
  void path(std::string_view d, Attributes attributes, std::string_view hover = {});

  /// A picture stretched over a rectangle, its pixels as squares with sharp edges; `address` as from png_address().
  void image(double x, double y, double width, double height, std::string_view address, std::string_view hover = {});

  /// A text that begins at x, or has its middle or end there with text-anchor middle or end; y is its base line.
  void text(double x, double y, std::string_view text, Attributes attributes = {});

  /// Lines of text, the first base line at y.
  void lines(double x, double y, const std::vector<std::string>& lines, double font_size, Attributes attributes = {});

  /// A bold text whose first base line is at y, in as many lines as the width asks for.
  void heading(double x, double y, std::string_view text, double font_size, double width);

  /// A group, whose attributes hold for everything up to the matching `close`.
  void open(std::string_view name, Attributes attributes);
  void close(std::string_view name);

  /// Rules of CSS, for classes of groups: motion, for example.
  void style(std::string_view css);

  /// The document.
  std::string str() const;

 private:
  void tag(std::string_view name, Attributes attributes, std::string_view end);
  void element(std::string_view name, Attributes place, Attributes attributes, std::string_view hover);
  void text_element(Attributes place, Attributes attributes, std::string_view text);
  void write(Attributes attributes);

  std::string head_, body_;
  std::set<std::string> dark_rules_;  // of the classes in use
};

/// The margin and the title of a picture, the same in all of them. What it shows begins at top().
class Sheet {
 public:
  static constexpr double margin = 20, title_size = 16;

  /// For content of a width; a long title makes the sheet wider, up to 640 pixels, and then goes on in further lines.
  Sheet(std::string title, double content_width);

  double width() const { return width_; }
  double inner() const { return width_ - 2 * margin; }
  double top() const { return margin + title_height_; }
  /// The document with its title, for content of a height.
  Svg svg(double content_height) const;

 private:
  std::string title_;
  double width_, title_height_;
};

/// Writes a picture into a file: .svg as it is; .pdf and .png, at twice its size, are converted by `rsvg-convert`.
/// Throws ValueError for another extension, IoError if the file cannot be written or the program is missing.
void save(const std::filesystem::path& path, std::string_view picture);

}  // namespace xgrad::kit
