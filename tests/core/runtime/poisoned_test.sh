#!/usr/bin/env bash
# A program with AddressSanitizer that uses a released block of the pool is stopped, though the library is compiled without.
source "$(dirname "${BASH_SOURCE[0]}")/../../support/script.sh"

cat >"$sandbox/program.cpp" <<'END_OF_FILE'
#include <xgrad/core/runtime/memory.h>

#include <cstring>

int main(int count, char** words) {
  const bool released = count > 1 && std::strcmp(words[1], "released") == 0;
  const bool beyond = count > 1 && std::strcmp(words[1], "beyond") == 0;
  for (const std::size_t bytes : {48, 5000, 1 << 20}) {
    for (int again = 0; again < 3; ++again) {
      auto* block = static_cast<volatile unsigned char*>(xgrad::pool_allocate(bytes));
      block[0] = block[bytes - 1] = 1;
      if (again == 2 && beyond) block[bytes] = 1;
      xgrad::pool_release(const_cast<unsigned char*>(block), bytes);
      if (released && again == 2 && block[bytes / 2] > 1) return 1;
    }
  }
  xgrad::detail::pool_trim();
  return 0;
}
END_OF_FILE
g++ -std=c++20 -O1 -fsanitize=address -I"$root/cmake/include" "$sandbox/program.cpp" "$built"/libxgrad_basic.a -o "$sandbox/program"
"$sandbox/program"
for fault in released beyond; do
  if "$sandbox/program" "$fault" 2>"$sandbox/said"; then echo "no error: $fault"; exit 1; fi
  grep -q "AddressSanitizer: use-after-poison" "$sandbox/said" || { cat "$sandbox/said"; exit 1; }
done
