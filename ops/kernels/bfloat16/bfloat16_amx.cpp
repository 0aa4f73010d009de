// Multiplying by AMX (Intel 64 and IA-32 Architectures Software Developer's Manual, volume 1, chapter "Programming with
// Intel AMX"). The requirements of Linux are in its Documentation/arch/x86/xstate.rst: tiles are 8 KiB of state, which
// a process may use once it has asked for permission.
#include "bfloat16.h"

#if defined(__AVX512F__) && defined(__x86_64__) && defined(__linux__) && !defined(XGRAD_F64)
#include <cpuid.h>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bfloat16_tiles.h"

#define XGRAD_AMX [[gnu::target("amx-tile,amx-bf16")]]

namespace xgrad {
namespace {

// Bits of XCR0 and CPUID, and the arguments of arch_prctl.
constexpr unsigned tile_state = 0b11 << 17, has_bf16 = 1 << 22, has_tiles = 1 << 24, has_xgetbv = 1 << 27;
constexpr int tile_data = 18, ask_permission = 0x1023;  // XFEATURE_XTILEDATA, ARCH_REQ_XCOMP_PERM

[[gnu::target("xsave")]] bool system_saves_tiles() { return (_xgetbv(0) & tile_state) == tile_state; }

// Why tiles cannot be used; empty if the processor has AMX for bfloat16, with tiles of the size that is used here, and
// the system lets this process have them.
std::string_view without_tiles() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(d & has_bf16) || !(d & has_tiles))
    return "the processor has no AMX";
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & has_xgetbv) || !system_saves_tiles()) {
    return "the operating system does not save the tiles of AMX";
  }
  // Palette 1: total bytes, bytes of a tile and of a row; the number of tiles and of their rows.
  if (!__get_cpuid_count(0x1d, 1, &a, &b, &c, &d) || a >> 16 < 1024 || (b & 0xffff) < 64 || b >> 16 < 8 ||
      (c & 0xffff) < 16) {
    return "the tiles of this AMX are too small";
  }
  if (syscall(SYS_arch_prctl, ask_permission, tile_data) != 0) return "the operating system refuses the tiles of AMX";
  return {};
}

// The operand of ldtilecfg: eight tiles of 16 rows of 64 bytes.
struct alignas(64) TileConfig {
  std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
  std::uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};
static_assert(sizeof(TileConfig) == 64);

XGRAD_AMX void start() {
  static constexpr TileConfig config;
  _tile_loadconfig(&config);
}
XGRAD_AMX void end() { _tile_release(); }

// The tile's number is part of the instruction, and with some compilers of its text: it must be a literal.
struct AmxTiles {
  template <int tile>
  XGRAD_AMX static void zero() {
    if constexpr (tile == 0) _tile_zero(0);
    if constexpr (tile == 1) _tile_zero(1);
    if constexpr (tile == 2) _tile_zero(2);
    if constexpr (tile == 3) _tile_zero(3);
  }
  template <int tile>
  XGRAD_AMX static void load(const void* from, std::int64_t stride) {
    if constexpr (tile == 0) _tile_loadd(0, from, stride);
    if constexpr (tile == 1) _tile_loadd(1, from, stride);
    if constexpr (tile == 2) _tile_loadd(2, from, stride);
    if constexpr (tile == 3) _tile_loadd(3, from, stride);
    if constexpr (tile == 4) _tile_loadd(4, from, stride);
    if constexpr (tile == 5) _tile_loadd(5, from, stride);
    if constexpr (tile == 6) _tile_loadd(6, from, stride);
    if constexpr (tile == 7) _tile_loadd(7, from, stride);
  }
  template <int tile>
  XGRAD_AMX static void store(Real* to, std::int64_t stride) {
    if constexpr (tile == 0) _tile_stored(0, to, stride);
    if constexpr (tile == 1) _tile_stored(1, to, stride);
    if constexpr (tile == 2) _tile_stored(2, to, stride);
    if constexpr (tile == 3) _tile_stored(3, to, stride);
  }
  template <int sum, int left, int right>
  XGRAD_AMX static void multiply() {
    if constexpr (sum == 0) _tile_dpbf16ps(0, 4, 6);
    if constexpr (sum == 1) _tile_dpbf16ps(1, 4, 7);
    if constexpr (sum == 2) _tile_dpbf16ps(2, 5, 6);
    if constexpr (sum == 3) _tile_dpbf16ps(3, 5, 7);
    static_assert(left == 4 + sum / 2 && right == 6 + sum % 2);
  }
};

XGRAD_AMX void multiply_on_tiles(const detail::BfloatBlock& block) {
  asm volatile("" ::: "memory");  // some compilers do not know that loading a tile reads memory
  multiply_by_tiles<AmxTiles>(block);
}

}  // namespace

detail::BfloatFound detail::amx_unit() {
  static const std::string_view missing = without_tiles();
  const BfloatFound packs = avx512_bf16_unit();
  if (!missing.empty() || !packs.unit) return {nullptr, missing.empty() ? packs.missing : missing};
  static const BfloatUnit unit{
      {"AMX", 3, rounds, bfloat_gemm}, 1 << 19, 1 << 21, start, end, packs.unit->pack, multiply_on_tiles};
  return {&unit};
}

}  // namespace xgrad

#else

namespace xgrad {
detail::BfloatFound detail::amx_unit() { return {nullptr, "the kernels were not compiled for AMX"}; }
}  // namespace xgrad

#endif
