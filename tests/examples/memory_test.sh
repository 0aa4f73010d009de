#!/usr/bin/env bash
# Examples for which there is no memory, from any moment on after main has begun, end with one line `error: ...` and 1, and
# with no signal. (Files that may not grow: cli_test.cpp.)
source "$(dirname "${BASH_SOURCE[0]}")/sandbox.sh"

# From the request with the number $REFUSED_FROM on, counted in main, `new` gets nothing.
cat >refuse.cpp <<'END_OF_FILE'
#include <dlfcn.h>
#include <cstdlib>
#include <new>

namespace {
long first = 0, asked = 0;
int (*true_main)(int, char**, char**) = nullptr;

int counted_main(int argc, char** argv, char** environment) {
  first = std::atol(std::getenv("REFUSED_FROM"));
  return true_main(argc, argv, environment);
}
}  // namespace

extern "C" int __libc_start_main(int (*main)(int, char**, char**), int argc, char** argv, void (*init)(), void (*fini)(),
                                 void (*rtld_fini)(), void* stack_end) {
  true_main = main;
  const auto next = reinterpret_cast<decltype(&__libc_start_main)>(dlsym(RTLD_NEXT, "__libc_start_main"));
  return next(counted_main, argc, argv, init, fini, rtld_fini, stack_end);
}

void* operator new(std::size_t size) {
  if (first > 0 && __atomic_add_fetch(&asked, 1, __ATOMIC_RELAXED) >= first) throw std::bad_alloc();
  if (void* room = std::malloc(size)) return room;
  throw std::bad_alloc();
}
void* operator new[](std::size_t size) { return operator new(size); }
END_OF_FILE
"${CXX:-g++}" -std=c++20 -O1 -shared -fPIC refuse.cpp -o refuse.so -ldl

echo "examples without memory from some moment on"
for name in gpt two_heads; do
  ended=0
  for ((from = 1; from < 40000; from += from < 40 ? 1 : from / 8)); do
    status=0
    REFUSED_FROM=$from LD_PRELOAD=$sandbox/refuse.so timeout 300 "$examples/$name" --threads 1 --out o --wrong >out 2>err </dev/null ||
      status=$?
    if [ "$status" -eq 2 ]; then ended=1; break; fi  # it came to the end: the option is unknown
    [ "$status" -eq 1 ] && [ "$(cat err)" = "error: not enough memory" ] || complain "$name, from $from on: status $status"
  done
  [ "$ended" -eq 1 ] || complain "$name never had enough memory"
done
