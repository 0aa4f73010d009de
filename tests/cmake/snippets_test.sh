#!/usr/bin/env bash
# Every snippet of the pages and of the comments in headers compiles (tests/snippets/extract.py says what counts as one).
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
sandbox=$(mktemp -d)
trap 'rm -rf "$sandbox"' EXIT

"$root/tests/snippets/extract.py" >"$sandbox/snippets.cpp"
"${CXX:-c++}" -std=c++20 -fsyntax-only -Wno-return-type -I"$root/cmake/include" -I"$root/tests/snippets" "$sandbox/snippets.cpp"
