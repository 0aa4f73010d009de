#!/usr/bin/env bash
# Several ranks: they come to the sums of one, with .parts to its bits, and end together when one of them ends badly.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
source "$root/cmake/build.sh"
"$root/cmake/setup" packages_mpi.txt
[ -n "${XGRAD_BUILD_DIR:-}" ] || { build grouped xgrad_tests_mpi translate gpt cnn && XGRAD_BUILD_DIR=$(build_dir grouped); }
bin=$XGRAD_BUILD_DIR/bin
sandbox=$(mktemp -d)
trap 'rm -rf "$sandbox"' EXIT
cd "$sandbox"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_btl_vader_single_copy_mechanism=none  # containers may forbid it

complain() {
  echo "$*"
  tail -n 40 out err
  exit 1
}
ranks() { # COUNT PROGRAM ARGUMENT...
  timeout 120 mpirun --oversubscribe --bind-to none -n "$@" >out 2>err </dev/null
}
# The processes that a process of mpirun has started, a line each.
ranks_of() { xargs -n 1 <"/proc/$1/task/$1/children"; }

for count in 1 2 3 4; do
  echo "$count ranks"
  ranks $count "$bin/xgrad_tests_mpi" --no-colors || complain "failed with $count ranks"
  grep -q 'test cases: *1[0-9] .* 0 failed' out || complain "no test ran"
done

echo "equal bits"
XGRAD_THREADS=1 ranks 1 "$bin/xgrad_tests_mpi" --bits || complain "failed"
mv out expected
[ "$(wc -l <expected)" -eq 6 ] || complain "$(cat expected)"
for count in 2 4; do
  for threads in 1 3; do
    XGRAD_THREADS=$threads ranks $count "$bin/xgrad_tests_mpi" --bits || complain "failed"
    cmp out expected || complain "$count ranks of $threads threads have other bits"
  done
done
sed -E 's/^([0-9]+ samples: [0-9a-f]+).*/\1/' expected | sort | uniq -c | awk '$1 != 2 { exit 1 }' ||
  complain "the state in shares has other bits: $(cat expected)"

echo "one that throws ends all"
status=0
ranks 2 "$bin/xgrad_tests_mpi" --fail 1 || status=$?
[ $status -eq 1 ] || complain "status $status"
grep -qx 'rank 1: test: thrown on purpose' err || complain "not said"

echo "one that returns ends all"
status=0
ranks 2 "$bin/xgrad_tests_mpi" --return 1 || status=$?
[ $status -ne 0 ] && [ $status -ne 124 ] || complain "status $status"

echo "one that is killed ends all"
mpirun --oversubscribe --bind-to none -n 2 "$bin/xgrad_tests_mpi" --sleep >out 2>err </dev/null &
job=$!
for ((i = 0; i < 600; ++i)); do
  if grep -q waiting out; then break; fi
  sleep 0.05
done
kill -9 "$(ranks_of $job | tail -n 1)"
for ((i = 0; i < 200; ++i)); do
  if ! kill -0 $job 2>/dev/null; then break; fi
  sleep 0.05
done
! kill -0 $job 2>/dev/null || complain "still there after 10 s"

echo "without mpirun it is a world of one"
"$bin/xgrad_tests_mpi" --no-colors >out 2>err </dev/null || complain "failed alone"

echo "an example"
ranks 2 "$bin/translate" --mpi --pairs 100 --held-out 2 --epochs 2 --out together || complain "translate fails"
[ "$(grep -c '^result ' out)" -eq 1 ] || complain "both ranks print"
[ "$(wc -l <together/log.csv)" -eq 3 ] || complain "$(cat together/log.csv)"
ranks 2 "$bin/translate" --mpi --pairs 100 --held-out 2 --epochs 4 --resume --out together || complain "resuming fails"
ranks 2 "$bin/translate" --mpi --pairs 100 --held-out 2 --epochs 4 --out through || complain "running through fails"
cmp together/log.csv through/log.csv || complain "resumed, it learns another way"

echo "a signal to one of them ends all behind the same step"
mpirun --oversubscribe --bind-to none -n 2 "$bin/translate" --mpi --pairs 100 --held-out 2 --epochs 100000 --out signalled \
  >out 2>err </dev/null &
job=$!
for ((i = 0; i < 600; ++i)); do
  if [ -e signalled/best.safetensors ]; then break; fi
  sleep 0.05
done
kill -TERM "$(ranks_of $job | tail -n 1)"
status=0
wait $job || status=$?
[ $status -eq 143 ] || complain "status $status"
step=$(sed -nE 's/^stopped after step ([0-9]+), to be resumed from signalled$/\1/p' out)
ranks 2 "$bin/translate" --mpi --pairs 100 --held-out 2 --epochs 1 --resume --out signalled || complain "resuming fails"
grep -q "^going on after step ${step:-none}," err || complain "did not go on after step $step"

echo "other examples"
ranks 2 "$bin/gpt" --mpi --steps 3 --report-every 2 --length 5 --dim 16 --layers 1 --out gpt || complain "gpt fails"
grep -q '^result steps=3 ' out || complain "gpt prints no result"
ranks 2 "$bin/cnn" --mpi --epochs 1 --batch 1000 --out cnn || complain "cnn fails"
grep -q '^result loss=' out || complain "cnn prints no result"
status=0
ranks 2 "$bin/translate" --mpi --pairs 100 --batch 0 || status=$?
[ $status -eq 2 ] && grep -q 'error: --batch' err || complain "status $status"  # the first that ends may end the other
