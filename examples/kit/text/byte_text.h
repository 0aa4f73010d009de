// How files of byte-level BPE write bytes: each as a character that can be seen. Private.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <xgrad/core/base/error.h>

namespace xgrad::kit {

/// The characters of GPT-2's files for bytes: ! to ~, U+00A1 to U+00AC and U+00AE to U+00FF stand for themselves; the
/// other bytes are, in their order, U+0100 and up. The result is UTF-8: a space is "Ġ".
std::string byte_text(std::string_view bytes);

/// The bytes for which such a text stands; nothing if a character of it stands for none.
std::optional<std::string> bytes_of_text(std::string_view text);

}  // namespace xgrad::kit
