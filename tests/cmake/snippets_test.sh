#!/usr/bin/env bash
# Every snippet of the pages and of the comments in headers compiles (tests/snippets/extract.py says what counts as one),
# and nothing that they use of the headers has a warning under -Wshadow -Wconversion, which many projects ask for. A statement that
# throws away the only thing that its call was for has one.
source "$(dirname "${BASH_SOURCE[0]}")/../support/script.sh"
discarded=$root/tests/snippets/discarded.h

"$root/tests/snippets/extract.py" >"$sandbox/snippets.cpp"
# By clang where there is one, which takes two thirds of the time; tests/long has the compiler of the library.
compiler=${CXX:-c++}
[ -n "${XGRAD_THOROUGH:-}" ] || compiler=$(command -v clang++ || echo "$compiler")
"$compiler" -std=c++20 -fsyntax-only -Wno-return-type -Wshadow -Wconversion -Wno-sign-conversion -I"$root/cmake/include" -I"$root/tests/snippets" \
  -include "$discarded" "$sandbox/snippets.cpp" 2>"$sandbox/log" || { cat "$sandbox/log"; exit 1; }
if grep -E '/(cmake/include/xgrad|examples/kit)/[^:]*:[0-9:]+ warning:' "$sandbox/log"; then exit 1; fi

sed -nE 's/^.*discarded\.h:([0-9]+):.*warning: .*/\1/p' "$sandbox/log" | sort -nu >"$sandbox/warned"
awk '/ to here$/ { exit } inside { print NR } / from here$/ { inside = 1 }' "$discarded" >"$sandbox/expected"
diff "$sandbox/expected" "$sandbox/warned" || { echo "$discarded: $compiler warns of other lines than those between the remarks"; exit 1; }
