// Philox (see random.h), many words at a time.
#ifdef __AVX512F__
#include <immintrin.h>
#endif

#include <algorithm>
#include <array>

#include "../random.h"

namespace xgrad {

std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> x, std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53} * x[0];
    const std::uint64_t b = std::uint64_t{0xCD9E8D57} * x[2];
    x = {static_cast<std::uint32_t>(b >> 32) ^ x[1] ^ key[0], static_cast<std::uint32_t>(b),
         static_cast<std::uint32_t>(a >> 32) ^ x[3] ^ key[1], static_cast<std::uint32_t>(a)};
    key = {key[0] + 0x9E3779B9, key[1] + 0xBB67AE85};
  }
  return x;
}

std::array<std::uint32_t, 4> random_words(const RandomKey& key, std::uint64_t i) {
  return philox({static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(i >> 32),
                 static_cast<std::uint32_t>(key.draw), static_cast<std::uint32_t>(key.draw >> 32)},
                {static_cast<std::uint32_t>(key.seed), static_cast<std::uint32_t>(key.seed >> 32)});
}

namespace {

// The words made at a time: those of 16 counters.
constexpr std::uint64_t batch = 64;

// Words batch i ... batch (i + 1) - 1 of a draw.
void random_batch(const RandomKey& key, std::uint64_t i, std::uint32_t* words) {
#ifdef __AVX512F__
  // philox() on the 64-bit lanes of registers. Only the lower half of a lane is the word; the multiplication ignores
  // the upper one. Left to themselves, compilers use the slow 64-bit multiplication.
  constexpr int registers = 2;
  __m512i x[4][registers];
  for (int j = 0; j < registers; ++j) {
    const __m512i counter = _mm512_add_epi64(_mm512_set1_epi64(static_cast<long long>(i * 16) + 8 * j),
                                             _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0));
    x[0][j] = counter;
    x[1][j] = _mm512_srli_epi64(counter, 32);
    x[2][j] = _mm512_set1_epi64(static_cast<long long>(key.draw));
    x[3][j] = _mm512_set1_epi64(static_cast<long long>(key.draw >> 32));
  }
  auto key0 = static_cast<std::uint32_t>(key.seed), key1 = static_cast<std::uint32_t>(key.seed >> 32);
  for (int round = 0; round < 10; ++round) {
    for (int j = 0; j < registers; ++j) {
      const __m512i a = _mm512_mul_epu32(x[0][j], _mm512_set1_epi64(0xD2511F53));
      const __m512i b = _mm512_mul_epu32(x[2][j], _mm512_set1_epi64(0xCD9E8D57));
      x[0][j] = _mm512_xor_si512(_mm512_xor_si512(_mm512_srli_epi64(b, 32), x[1][j]), _mm512_set1_epi64(key0));
      x[2][j] = _mm512_xor_si512(_mm512_xor_si512(_mm512_srli_epi64(a, 32), x[3][j]), _mm512_set1_epi64(key1));
      x[1][j] = b;
      x[3][j] = a;
    }
    key0 += 0x9E3779B9;
    key1 += 0xBB67AE85;
  }
  const __m512i lower = _mm512_set1_epi64(0xFFFFFFFF);
  for (int j = 0; j < registers; ++j) {
    const __m512i first = _mm512_or_si512(_mm512_and_si512(x[0][j], lower), _mm512_slli_epi64(x[1][j], 32));
    const __m512i second = _mm512_or_si512(_mm512_and_si512(x[2][j], lower), _mm512_slli_epi64(x[3][j], 32));
    const __m512i front = _mm512_set_epi64(11, 3, 10, 2, 9, 1, 8, 0),
                  back = _mm512_set_epi64(15, 7, 14, 6, 13, 5, 12, 4);
    _mm512_storeu_si512(words + 32 * j, _mm512_permutex2var_epi64(first, front, second));
    _mm512_storeu_si512(words + 32 * j + 16, _mm512_permutex2var_epi64(first, back, second));
  }
#else
  for (std::uint64_t j = 0; j < batch / 4; ++j) {
    const auto four = random_words(key, i * (batch / 4) + j);
    std::copy(four.begin(), four.end(), words + 4 * j);
  }
#endif
}

}  // namespace

void random_words(const RandomKey& key, std::uint64_t first, std::span<std::uint32_t> words) {
  while (!words.empty()) {
    const std::uint64_t skipped = first % batch, count = std::min<std::uint64_t>(batch - skipped, words.size());
    if (count == batch) {
      random_batch(key, first / batch, words.data());
    } else {
      std::array<std::uint32_t, batch> all;
      random_batch(key, first / batch, all.data());
      std::copy_n(all.data() + skipped, count, words.data());
    }
    first += count;  // wraps around after the very last word
    words = words.subspan(count);
  }
}

}  // namespace xgrad
