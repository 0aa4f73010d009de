#!/usr/bin/env bash
# A program may hold elementwise kernels of its own (ops/elementwise/fused.h), compiled for another processor than the library:
# what depends on the width of registers is not mixed up by the linker, whatever the order of the objects.
source "$(dirname "${BASH_SOURCE[0]}")/../support/script.sh"
grep -qw avx2 /proc/cpuinfo || { echo "one width of registers only"; exit 0; }

mkdir "$sandbox/xgrad"
for folder in core ops; do ln -s "$root/$folder" "$sandbox/xgrad/$folder"; done
cat >"$sandbox/part.cpp" <<'END_OF_FILE'
#include <xgrad/ops/kernels/registers/rows.h>
// Right only if `padded`, `max_of_row` and the packs are those of this file's registers.
bool PART() {
  constexpr auto width = static_cast<std::int64_t>(xgrad::Pack::width);
  const xgrad::Real row[] = {1, 5, 2, 4, 3, 9, 6, 8, 7};
  return xgrad::padded(1) == width && xgrad::padded(width + 1) == 2 * width && xgrad::max_of_row(row, 9) == 9;
}
END_OF_FILE
echo 'extern "C" const char xgrad_real_is_float = 1; bool narrow(); bool wide(); int main() { return narrow() && wide() ? 0 : 1; }' >"$sandbox/main.cpp"
compile() { "${CXX:-c++}" -std=c++20 -O0 -w -I"$sandbox" "$@"; }
compile -DPART=narrow -c "$sandbox/part.cpp" -o "$sandbox/narrow.o"
compile -DPART=wide -mavx2 -mfma -c "$sandbox/part.cpp" -o "$sandbox/wide.o"
for order in "narrow wide" "wide narrow"; do
  read -r first second <<<"$order"
  compile "$sandbox/main.cpp" "$sandbox/$first.o" "$sandbox/$second.o" -o "$sandbox/program"
  "$sandbox/program" || { echo "$order: mixed up"; exit 1; }
done
