#!/usr/bin/env bash
# A training of two ranks, of which one is killed at a random moment, a hundred times: each time the job ends within 10 s, and
# goes on from a checkpoint that is whole.
#   tests/mpi/killed.sh [TIMES]
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
source "$root/cmake/build.sh"
"$root/cmake/setup" packages_mpi.txt
build grouped translate
program=$(build_dir grouped)/bin/translate
sandbox=$(mktemp -d)
trap 'rm -rf "$sandbox"' EXIT
cd "$sandbox"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_btl_vader_single_copy_mechanism=none  # containers may forbid it

# The processes that a process of mpirun has started, a line each.
ranks_of() { xargs -n 1 <"/proc/$1/task/$1/children"; }

times=${1:-100} after=0 slowest=0
for ((i = 1; i <= times; ++i)); do
  mpirun --oversubscribe --bind-to none -n 2 "$program" --mpi --pairs 100 --held-out 2 --epochs 1000000 --resume --out killed \
    >out 2>err </dev/null &
  job=$!
  sleep "$(awk -v seed="$RANDOM" 'BEGIN { srand(seed); print 0.5 + 2.5 * rand() }')"
  mapfile -t ranks < <(ranks_of $job)
  [ ${#ranks[@]} -eq 0 ] || kill -9 "${ranks[RANDOM % ${#ranks[@]}]}"
  begin=$(date +%s%N)
  wait $job 2>/dev/null && { echo "kill $i: the job ended well"; cat out err; exit 1; }
  milliseconds=$((($(date +%s%N) - begin) / 1000000))
  [ $milliseconds -lt 10000 ] || { echo "kill $i: the job ended after $milliseconds ms"; exit 1; }
  [ $milliseconds -le $slowest ] || slowest=$milliseconds
  now=$(sed -nE 's/^going on after step ([0-9]+),.*/\1/p' err)
  [ "${now:-$after}" -ge "$after" ] || { echo "kill $i: went on after step $now, was at $after"; exit 1; }
  after=${now:-$after}
  ! grep -q '^rank\|^error' err || { echo "kill $i:"; cat err; exit 1; }
done
mpirun --oversubscribe --bind-to none -n 2 "$program" --mpi --pairs 100 --held-out 2 --epochs 1 --resume --out killed >out 2>err </dev/null
grep -q '^going on after step' err
echo "$times kills, the slowest end after $slowest ms, the last checkpoint of step $after or later"
