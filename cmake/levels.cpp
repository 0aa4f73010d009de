// The functions that exist once for every level of the processor (levels.cmake): the name that callers know is a jump to the
// best one that this processor can run. XGRAD_LEVEL=base, v3 or v4 in the environment asks for at most that level.
#include <cpuid.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

struct XgradEntry {
  void* chosen;       // at first that of level 0, so that a call before choose() is right as well
  void* compiled[3];  // base, v3, v4
};
// The linker puts them around the section.
extern "C" [[gnu::visibility("hidden")]] XgradEntry __start_xgrad_levels[], __stop_xgrad_levels[];

inline bool xgrad_level_is_refused = false;  // by one of the libraries' copies of this file, which is enough

namespace {

// The parts of x86-64-v3 for which compilers have no common names. Without LZCNT its code is that of BSR, which finds
// another number.
bool has_rest_of_v3() {
  unsigned a, b, c, d;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_MOVBE) || !(c & bit_F16C)) return false;
  return __get_cpuid(0x80000001, &a, &b, &c, &d) && (c & bit_LZCNT);
}

int highest_level() {
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !__builtin_cpu_supports("bmi") ||
      !__builtin_cpu_supports("bmi2") || !has_rest_of_v3())
    return 0;
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                 __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                 __builtin_cpu_supports("avx512vl")
             ? 2
             : 1;
}

// The level that the environment allows at most. Nobody could catch an exception of it, before main.
int allowed_level() {
  const char* const asked = std::getenv("XGRAD_LEVEL");
  if (!asked || !*asked || std::strcmp(asked, "v4") == 0) return 2;
  if (std::strcmp(asked, "v3") == 0) return 1;
  if (std::strcmp(asked, "base") == 0) return 0;
  if (!xgrad_level_is_refused)
    std::fprintf(stderr, "xgrad: XGRAD_LEVEL is base, v3 or v4, and not '%s', which is ignored\n", asked);
  xgrad_level_is_refused = true;
  return 2;
}

// Before any constructor of a program's own.
[[gnu::constructor(101)]] void choose() {
  const int highest = highest_level(), allowed = allowed_level();
  for (XgradEntry* entry = __start_xgrad_levels; entry != __stop_xgrad_levels; ++entry) {
    entry->chosen = entry->compiled[highest < allowed ? highest : allowed];
  }
}

}  // namespace

#define ENTRY(name)                                             \
  asm(".pushsection xgrad_levels, \"aw\"\n"                     \
      "0: .quad " #name ".base, " #name ".base, " #name ".v3, " #name ".v4\n" \
      ".popsection\n"                                           \
      ".pushsection .text\n"                                    \
      ".globl " #name "\n"                                      \
      ".type " #name ", @function\n" #name ": jmp *0b(%rip)\n"  \
      ".size " #name ", . - " #name "\n"                        \
      ".popsection");
#include XGRAD_ENTRIES
