#!/usr/bin/env bash
# The program of docs/guide/training.md compiles, learns, and resumes to the same bytes.
source "$(dirname "${BASH_SOURCE[0]}")/../support/script.sh"
build=${XGRAD_BUILD_DIR:?the folder of the build}
cd "$sandbox"

sed -n '/^```cpp$/,/^```$/{/^```/d; p}' "$root/docs/guide/training.md" >training.cpp
libraries=$(sed -nE 's/^Libs: -L\S+ -lxgrad (.*)/\1/p' "$build/xgrad.pc")
# shellcheck disable=SC2086
"${CXX:-$(command -v clang++ || echo c++)}" -std=c++20 -O1 -Wall -Wextra -I"$root/cmake/include" training.cpp "$build/libxgrad.a" $libraries -o training

./training whole.safetensors 12 >whole.log
./training parts.safetensors 5 >parts.log
./training parts.safetensors 12 >>parts.log
grep -q '^resumed after epoch 5$' parts.log
cmp whole.safetensors parts.safetensors
awk -F= '/^result accuracy=/ { found = $2 } END { exit !(found > 0.9) }' whole.log || { tail -n 3 whole.log; exit 1; }
