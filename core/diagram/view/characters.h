// Text from outside, made fit for pictures: what can be shown, escaped for XML, and how wide it will be.
#pragma once

#include <string>
#include <string_view>

#include "../../base/config.h"

namespace xgrad::detail {

/// The text as characters that can be shown: control bytes become \n or \x07, what is no UTF-8 becomes U+FFFD, and
/// what is too long to be read is cut.
std::string printable(std::string_view text);

/// The same for the inside of an XML element or attribute.
std::string xml_escaped(std::string_view text);

enum class FontWeight { regular, bold };

/// The width in pixels that printable text needs at a font size: for each letter the widest of the sans-serif fonts
/// that readers may have, since a picture does not know theirs.
double text_width(std::string_view text, double size, FontWeight weight);

}  // namespace xgrad::detail
