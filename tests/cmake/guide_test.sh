#!/usr/bin/env bash
# What the pages on tensors and gradients say behind // of their snippets is what these give. The program of docs/guide/training.md
# learns, and resumes to the same bytes.
source "$(dirname "${BASH_SOURCE[0]}")/../support/script.sh"

# One program, which takes half of the time of two.
{
  "$root/tests/snippets/extract.py" --values docs/guide/tensors.md docs/guide/gradients.md | sed 's/^int main(/int values(/'
  awk '/^```/ { inside = $0 == "```cpp"; next }
    inside
    inside && /^int main/ { print "if (argc == 1) return values();" }' "$root/docs/guide/training.md"
} >"$sandbox/guide.cpp"
cd "$sandbox"
libraries=$(sed -nE 's/^Libs: -L\S+ -lxgrad (.*)/\1/p' "$built/xgrad.pc")
# shellcheck disable=SC2086
"${CXX:-$(command -v clang++ || echo c++)}" -std=c++20 -w -I"$root/cmake/include" guide.cpp "$built/libxgrad.a" $libraries -o guide

./guide
./guide whole.safetensors 12 >whole.log
./guide parts.safetensors 5 >parts.log
./guide parts.safetensors 12 >>parts.log
grep -q '^resumed after epoch 5$' parts.log
cmp whole.safetensors parts.safetensors
awk -F= '/^result accuracy=/ { found = $2 } END { exit !(found > 0.9) }' whole.log || { tail -n 3 whole.log; exit 1; }
