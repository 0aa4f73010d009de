// A hash of bytes, the same on every machine: for the attributes of a checkpoint and the comparison of ranks.
#pragma once

#include <cstdint>
#include <string_view>

#include <xgrad/core/base/error.h>

namespace xgrad::kit {

/// A number that tells texts apart: FNV-1a in 64 bits. Given the fingerprint of the text before, that of both.
inline std::uint64_t fingerprint(std::string_view text, std::uint64_t before = 0xcbf29ce484222325) {
  for (const char c : text) before = (before ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return before;
}

}  // namespace xgrad::kit
