#!/usr/bin/env bash
# One to four ranks: they come to the sums of one, and end together when one of them ends badly. Then a rank of a training is
# killed at a random moment, TIMES times (100): each time the job ends within 10 s, and goes on from a checkpoint that is whole.
#   tests/mpi/ranks.sh [TIMES]
source "$(dirname "${BASH_SOURCE[0]}")/mpirun.sh"

for count in 1 2 3 4; do
  echo "$count ranks"
  ranks $count "$bin/xgrad_tests_mpi" --no-colors || complain "failed with $count ranks"
  grep -q 'test cases: *3 .* 0 failed' out || complain "no test ran"
done

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

echo "ranks that are killed"
times=${1:-100} after=0 slowest=0
for ((i = 1; i <= times; ++i)); do
  mpirun --oversubscribe --bind-to none -n 2 "${small[@]}" --steps 1000000 --report-every 20 --resume --out killed \
    >out 2>err </dev/null &
  job=$!
  sleep "$(awk -v seed="$RANDOM" 'BEGIN { srand(seed); print 0.5 + 2.5 * rand() }')"
  ranks=()
  for ((j = 0; j < 1200 && ${#ranks[@]} == 0; ++j)); do  # a slow machine has not started them yet
    mapfile -t ranks < <(ranks_of $job)
    [ ${#ranks[@]} -gt 0 ] || sleep 0.05
  done
  [ ${#ranks[@]} -gt 0 ] || complain "kill $i: there are no ranks"
  kill -9 "${ranks[RANDOM % ${#ranks[@]}]}"
  begin=$(date +%s%N)
  wait $job 2>/dev/null && complain "kill $i: the job ended well"
  milliseconds=$((($(date +%s%N) - begin) / 1000000))
  [ $milliseconds -lt 10000 ] || complain "kill $i: the job ended after $milliseconds ms"
  [ $milliseconds -le $slowest ] || slowest=$milliseconds
  now=$(sed -nE 's/^going on after step ([0-9]+),.*/\1/p' err)
  [ "${now:-$after}" -ge "$after" ] || complain "kill $i: went on after step $now, was at $after"
  after=${now:-$after}
  ! grep -q '^rank\|^error' err || complain "kill $i"
done
ranks 2 "${small[@]}" --steps 1 --resume --out killed || complain "the last checkpoint is not whole"
grep -q '^going on after step' err || complain "no checkpoint was left"
echo "$times kills, the slowest end after $slowest ms, the last checkpoint of step $after or later"
