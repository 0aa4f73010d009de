// A sheet of SVG that drawings are put on: shapes, text, escaping, and how wide a text will be.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include <xgrad/core/error.h>

namespace xgrad::kit {

/// Text for the inside of an element or of an attribute: & < > " ' escaped, invalid UTF-8 and characters that XML does
/// not allow replaced by U+FFFD.
std::string xml_escaped(std::string_view text);

/// The width in pixels that a text needs at a font size: an estimate on the wide side, since the reader's font is
/// unknown.
double text_width(std::string_view text, double font_size);

/// The text itself, or its beginning with an ellipsis if it is wider than so many pixels.
std::string fit_width(std::string_view text, double font_size, double width);

/// Name and value of an attribute; numbers are given two decimals, as pixels need no more.
struct Attribute {
  std::string_view name;
  std::string value;

  Attribute(std::string_view name, double value);
  Attribute(std::string_view name, std::string_view value) : name(name), value(value) {}
};

/// The attributes of one element, in order.
using Attributes = std::initializer_list<Attribute>;

/// An SVG document of a fixed size on white ground, so that it is legible on light and dark pages.
///
/// Threads: one at a time.
class Svg {
 public:
  /// Size in pixels; `title` is what screen readers say.
  Svg(double width, double height, std::string_view title);

  /// An element without content, or with a title that appears under the pointer.
  void shape(std::string_view name, Attributes attributes, std::string_view hover = {});

  /// A text that begins (or with text-anchor middle or end: has its middle or end) at x, y, its base line.
  void text(double x, double y, std::string_view text, Attributes attributes = {});

  /// A group, whose attributes hold for everything up to the matching `close`.
  void open(std::string_view name, Attributes attributes);
  void close(std::string_view name);

  /// The document.
  std::string str() const { return body_ + "</svg>\n"; }

 private:
  void tag(std::string_view name, Attributes attributes, std::string_view end);
  void write(Attributes attributes);

  std::string body_;
};

}  // namespace xgrad::kit
