#!/usr/bin/env bash
# docs/moved.md names headers that are there, and docs/tools/moved.py writes them into a program of 0.1.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
sandbox=$(mktemp -d)
trap 'rm -rf "$sandbox"' EXIT

sed -nE 's/^\| `([^`]+)` \| `([^`]+)` \|$/\1 \2/p' "$root/docs/moved.md" >"$sandbox/table"
[ "$(wc -l <"$sandbox/table")" -gt 200 ]
while read -r old new; do
  [ -e "$root/cmake/include/xgrad/$new" ] || { echo "moved.md: $new is not there"; exit 1; }
  [ ! -e "$root/cmake/include/xgrad/$old" ] || { echo "moved.md: $old is still there"; exit 1; }
done <"$sandbox/table"

printf '#include <xgrad/ops/softmax.h>  // kept\r\n#  include "xgrad/core/tensor.h"\n#include <xgrad/ops/ops.h>\n#include <xgrad/ops/axis.h>\n' >"$sandbox/old.cpp"
printf '#include <xgrad/ops/layers/softmax.h>  // kept\r\n#  include "xgrad/core/graph/tensor.h"\n#include <xgrad/ops/ops.h>\n#include <xgrad/ops/axis.h>\n' >"$sandbox/new.cpp"
said=$("$root/docs/tools/moved.py" "$sandbox/old.cpp")
cmp "$sandbox/old.cpp" "$sandbox/new.cpp"
[ "$said" = "$sandbox/old.cpp: <xgrad/ops/axis.h> is no longer installed
$sandbox/old.cpp" ] || { echo "moved.py said: $said"; exit 1; }
