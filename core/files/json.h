// JSON from untrusted files. Not installed, so that users of the library need no JSON library.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <string>
#include <string_view>

#include "../base/config.h"

namespace xgrad {

/// The greatest depth of nested brackets: more than any honest file has, and few enough for a recursive function to
/// walk through the document.
inline constexpr int max_json_depth = 64;

/// The document in a file. Its errors begin with `op`.
///
/// Throws LimitError for a file of more than `max_bytes`; FormatError for one that is not JSON in UTF-8, whose brackets
/// are nested deeper than max_json_depth, which gives a key of an object twice or has a number beyond those of double;
/// IoError.
nlohmann::json read_json(const std::string& path, std::string_view op, std::int64_t max_bytes);

/// A value as errors show it: at most about 100 bytes, all of them printable ASCII.
std::string shown(const nlohmann::json& value);

}  // namespace xgrad
