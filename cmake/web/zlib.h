// In place of zlib's header where programs are compiled for browsers: the one function of it that the library calls.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

using Bytef = unsigned char;

inline unsigned long crc32_z(unsigned long sum, const Bytef* bytes, std::size_t count) {
  static constexpr auto table = [] {
    std::array<std::uint32_t, 256> remainders{};
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
      std::uint32_t rest = byte;
      for (int bit = 0; bit < 8; ++bit) rest = rest >> 1 ^ (rest & 1 ? 0xedb88320u : 0u);
      remainders[byte] = rest;
    }
    return remainders;
  }();
  std::uint32_t rest = ~static_cast<std::uint32_t>(sum);
  for (std::size_t i = 0; i < count; ++i) rest = table[(rest ^ bytes[i]) & 255] ^ rest >> 8;
  return static_cast<std::uint32_t>(~rest);
}
