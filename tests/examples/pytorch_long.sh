#!/usr/bin/env bash
# The programs that stand beside PyTorch's (docs/guide/from_pytorch.md): their lines are those of the table and not many more than
# PyTorch's; those that take less than 20 s run, and their figures are PyTorch's. Where python3 has torch and matplotlib,
# PyTorch's programs run, too.
source "$(dirname "${BASH_SOURCE[0]}")/sandbox.sh"
count() { python3 -B "$root/tests/examples/count_lines.py" "$@"; }

count
quick=$(count --quick)
export XGRAD_THREADS=1 OMP_NUM_THREADS=1
pytorch=false
if python3 -c 'import torch, matplotlib' 2>/dev/null; then pytorch=true; else echo "python3 has no torch: xgrad alone"; fi

# compare PICTURE NAME COMMAND...: runs it, and holds its figure against the table; it leaves the picture, if one is named.
compare() {
  local picture=$1 name=$2
  shift 2
  timeout 300 "$@" >log 2>errors </dev/null || { cat log errors; echo "fails: $*"; exit 1; }
  count --compare "$name" <log
  [ -z "$picture" ] || [ -s "$picture" ] || { echo "no $picture: $*"; exit 1; }
}
for name in $quick; do
  picture=$name.svg
  if grep -q 'kit/program/cli\.h' "$root/examples/$name/main.cpp"; then picture=; fi
  echo "== $name"
  compare "$picture" "$name" "$examples/$name"
  if $pytorch; then compare "$name.png" "$name" python3 "$root/examples/$name/pytorch.py"; fi
done
