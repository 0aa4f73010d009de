// The functions that exist once for every level of the processor (levels.cmake): the name that callers know is a jump to the
// best one that this processor can run. XGRAD_LEVEL=base, v3 or v4 in the environment asks for at most that level.
#include <cstdlib>
#include <cstring>

struct XgradEntry {
  void* chosen;       // at first that of level 0, so that a call before choose() is right as well
  void* compiled[3];  // base, v3, v4
};
// The linker puts them around the section.
extern "C" [[gnu::visibility("hidden")]] XgradEntry __start_xgrad_levels[], __stop_xgrad_levels[];

namespace {

// x86-64-v3 and x86-64-v4, as far as compilers agree on the names of their parts.
int highest_level() {
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !__builtin_cpu_supports("bmi") ||
      !__builtin_cpu_supports("bmi2"))
    return 0;
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                 __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                 __builtin_cpu_supports("avx512vl")
             ? 2
             : 1;
}

// Before any constructor of a program's own.
[[gnu::constructor(101)]] void choose() {
  int level = highest_level();
  if (const char* most = std::getenv("XGRAD_LEVEL")) {
    if (std::strcmp(most, "base") == 0) level = 0;
    if (std::strcmp(most, "v3") == 0 && level > 1) level = 1;
  }
  for (XgradEntry* entry = __start_xgrad_levels; entry != __stop_xgrad_levels; ++entry) {
    entry->chosen = entry->compiled[level];
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
