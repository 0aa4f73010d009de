// Untrusted text, made fit for pictures: escaped for XML, and measured.
#pragma once

#include <string>
#include <string_view>

#include "../../base/text.h"

namespace xgrad::detail {

/// As printable (base/text.h), for the content of an XML element or attribute.
std::string xml_escaped(std::string_view text);

enum class FontWeight { regular, bold };

/// The width in pixels that printable text needs at a font size: for each letter the widest of the sans-serif fonts
/// that readers may have, since a picture does not know their font.
double text_width(std::string_view text, double size, FontWeight weight);

}  // namespace xgrad::detail
