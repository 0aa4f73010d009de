#!/usr/bin/env bash
# tests/long runs the steps that it is asked for, says how each ended, and fails when one does: in a tree whose tests/run and
# examples only pretend.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
sandbox=$(mktemp -d)
trap 'rm -rf "$sandbox"' EXIT

mkdir -p "$sandbox"/{cmake,docs/tools,examples,tests/mpi}
cp "$root/tests/long" "$sandbox/tests/long"
printf '#!/bin/bash\n[ "$1" = packages_long.txt ]\n' >"$sandbox/cmake/setup"
cat >"$sandbox/tests/run" <<'END_OF_FILE'
#!/bin/bash
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
echo "${XGRAD_LEVEL:+$XGRAD_LEVEL }$*" >>"$root/called"
echo "what was said"
if [[ "$*" == *$(cat "$root/breaks")* ]]; then echo "3 passed, 1 failed"; exit 1; fi
echo "4 passed, 0 failed"
END_OF_FILE
cat >"$sandbox/examples/run" <<'END_OF_FILE'
#!/bin/bash
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
echo "$*" >>"$root/called"
echo "epoch 1: accuracy 99 %"
cat "$root/result.$1" 2>/dev/null || cat "$root/result"
END_OF_FILE
cat >"$sandbox/docs/tools/run" <<'END_OF_FILE'
#!/bin/bash
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
echo "$*" >>"$root/called"
echo "7 places with figures, 0 lines differ"
END_OF_FILE
cat >"$sandbox/tests/mpi/ranks.sh" <<'END_OF_FILE'
#!/bin/bash
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
echo "ranks" >>"$root/called"
echo "100 kills"
END_OF_FILE
chmod +x "$sandbox"/tests/mpi/ranks.sh "$sandbox"/docs/tools/run "$sandbox"/cmake/setup "$sandbox"/tests/run "$sandbox"/examples/run

long() { # STATUS ARGUMENTS...
  local status=0 expected=$1
  shift
  : >"$sandbox/called"
  (cd / && "$sandbox/tests/long" "$@") >"$sandbox/out" 2>&1 </dev/null || status=$?
  [ "$status" -eq "$expected" ] || { echo "expected status $expected, got $status and:"; cat "$sandbox/out"; exit 1; }
}
row() { grep -qE "^$1 +\| $2 +\| +[0-9]+$" "$sandbox/out" || { echo "no row $1, $2:"; cat "$sandbox/out"; exit 1; }; }
calls() { [ "$(wc -l <"$sandbox/called")" -eq "$1" ] || { echo "expected $1 calls:"; cat "$sandbox/called"; exit 1; }; }

echo "everything passes"
echo nothing >"$sandbox/breaks"
echo "result loss=0.3 accuracy=0.915 bleu1=1.000 bleu2=0.658 out=x" >"$sandbox/result"
long 0
levels=$((1 + $(grep -qw avx2 /proc/cpuinfo && echo 1 || echo 0) + $(grep -qw avx512f /proc/cpuinfo && echo 1 || echo 0)))
calls $((24 + levels))
grep -qx -- "--asan-base --only xgrad_tests_random --only xgrad_tests_random_f32" "$sandbox/called"
grep -qE "^random +\| no finding at levels base" "$sandbox/out"
row ranks "100 kills"
row figures "7 places with figures, 0 lines differ"
grep -qx -- "figures --compare" "$sandbox/called"
for level in v4 v3 base; do grep -qx -- "$level --portable --only xgrad_tests_f32" "$sandbox/called"; done
for step in asan-double asan-float allocation tsan-double tsan-float clang portable; do row $step "4 passed, 0 failed"; done
row cnn "accuracy 0.915, least 0.915"
row vit "accuracy 0.915, least 0.88"
row swin "accuracy 0.915, least 0.88"
row annotated "mean loss 0.3 in 0.3 to 0.3, 0 of 5 seeds without 1 to 1 perfect sentences"
grep -qx -- "annotated_transformer --threads 1 --seed 5 --out .*" "$sandbox/called"
grep -q -- "^vit --fashion-mnist --out " "$sandbox/called"

echo "some steps, with a filter"
long 0 --filter "of two words" clang asan-float
calls 2
row clang "4 passed, 0 failed"
grep -qx -- "--clang-strict --filter of two words" "$sandbox/called"
grep -qx -- "--asan --only xgrad_tests_f32 --only xgrad_tests_in_float --filter of two words" "$sandbox/called"

echo "a step fails, and the ones after it run"
echo "--tsan --only xgrad_tests_f32" >"$sandbox/breaks"
long 1
calls $((24 + levels))
row tsan-float "FAILED: 3 passed, 1 failed"
row clang "4 passed, 0 failed"
grep -qx "what was said" "$sandbox/build/long/tsan-float.log"

echo "examples that learn too little, or say nothing"
echo "result loss=0.3 accuracy=0.9149 out=x" >"$sandbox/result"
long 1 cnn swin
row cnn "FAILED: accuracy 0.9149, least 0.915"
row swin "accuracy 0.9149, least 0.88"
: >"$sandbox/result"
long 1 vit
row vit "FAILED: accuracy , least 0.88"

echo "a transformer that learns less than the library's, or another number of sentences, or says nothing"
echo "result loss=0.31 bleu1=1.000 bleu2=0.658" >"$sandbox/result.annotated_transformer"
echo "result loss=0.3 bleu1=1.000 bleu2=0.658" >"$sandbox/result"
long 1 annotated
row annotated "FAILED: mean loss 0.31 in 0.3 to 0.3, 0 of 5 seeds without 1 to 1 perfect sentences"
echo "result loss=0.3 bleu1=1.000 bleu2=1.000" >"$sandbox/result.annotated_transformer"
long 1 annotated
row annotated "FAILED: mean loss 0.3 in 0.3 to 0.3, 5 of 5 seeds without 1 to 1 perfect sentences"
: >"$sandbox/result.annotated_transformer"
long 1 annotated
row annotated "FAILED: mean loss 0 in 0.3 to 0.3, 0 of 0 seeds without 1 to 1 perfect sentences"

echo "no such step"
long 2 asan
calls 0
grep -q "tests/long" "$sandbox/out"
