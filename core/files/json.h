// JSON from untrusted files. Not installed, so that users of the library need no JSON library.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <string>
#include <string_view>

#include "../base/config.h"

namespace xgrad {

/// The document in a file. Errors begin with `op`. Throws LimitError for a file of more than `max_bytes`; FormatError
/// for a file that is not JSON in UTF-8, has brackets nested deeper than 64, repeats a key of an object, or
/// has a number beyond the range of double; IoError.
nlohmann::json read_json(const std::string& path, std::string_view op, std::int64_t max_bytes);

/// A value as errors show it: at most about 100 bytes, all of them printable ASCII.
std::string shown(const nlohmann::json& value);

}  // namespace xgrad
