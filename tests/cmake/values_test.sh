#!/usr/bin/env bash
# What the pages on tensors and gradients say behind // of their snippets is what these give.
source "$(dirname "${BASH_SOURCE[0]}")/../support/script.sh"

"$root/tests/snippets/extract.py" --values docs/guide/tensors.md docs/guide/gradients.md >"$sandbox/values.cpp"
libraries=$(sed -nE 's/^Libs: -L\S+ -lxgrad (.*)/\1/p' "$built/xgrad.pc")
# shellcheck disable=SC2086
"${CXX:-$(command -v clang++ || echo c++)}" -std=c++20 -w -I"$root/cmake/include" "$sandbox/values.cpp" "$built/libxgrad.a" $libraries -o "$sandbox/values"
"$sandbox/values"
