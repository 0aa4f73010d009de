#!/usr/bin/env bash
# Every snippet of the pages and of the comments in headers compiles (tests/snippets/extract.py says what counts as one),
# and nothing that they use of the headers has a warning under -Wshadow -Wconversion, which many projects ask for.
source "$(dirname "${BASH_SOURCE[0]}")/../support/script.sh"

"$root/tests/snippets/extract.py" >"$sandbox/snippets.cpp"
# By clang where there is one, which takes two thirds of the time; tests/long has the compiler of the library.
compiler=${CXX:-c++}
[ -n "${XGRAD_THOROUGH:-}" ] || compiler=$(command -v clang++ || echo "$compiler")
"$compiler" -std=c++20 -fsyntax-only -Wno-return-type -Wshadow -Wconversion -Wno-sign-conversion -I"$root/cmake/include" -I"$root/tests/snippets" \
  "$sandbox/snippets.cpp" 2>"$sandbox/log" || { cat "$sandbox/log"; exit 1; }
if grep -E '/(cmake/include/xgrad|examples/kit)/[^:]*:[0-9:]+ warning:' "$sandbox/log"; then exit 1; fi
