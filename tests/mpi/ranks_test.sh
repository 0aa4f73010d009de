#!/usr/bin/env bash
# Two ranks come to the sums of one, and the example trains as one process does and resumes. More is in ranks.sh.
source "$(dirname "${BASH_SOURCE[0]}")/mpirun.sh"

echo "two ranks"
ranks 2 "$bin/xgrad_tests_mpi" --no-colors || complain "failed with two ranks"
grep -q 'test cases: *3 .* 0 failed' out || complain "no test ran"

echo "one that returns before the others ends all, and is named"
for last in 0 1; do
  status=0
  ranks 2 "$bin/xgrad_tests_mpi" --leave $last || status=$?
  [ $status -eq 1 ] || complain "status $status"
  grep -q "^rank $((1 - last)): rank $last has returned after [0-9]* exchanges" err || complain "not said"
done

echo "without mpirun it is a world of one"
"$bin/xgrad_tests_mpi" --no-colors >out 2>err </dev/null || complain "failed alone"

echo "the example"
ranks 2 "${small[@]}" --steps 3 --report-every 2 --out together || complain "data_parallel fails"
[ "$(grep -c '^result ranks=2 steps=3 ' out)" -eq 1 ] || complain "both ranks print, or none"
[ "$(wc -l <together/log.csv)" -eq 3 ] || complain "$(cat together/log.csv)"
ranks 2 "${small[@]}" --steps 6 --report-every 2 --resume --out together || complain "resuming fails"
grep -q '^going on after step 3,' err || complain "began anew"
ranks 2 "${small[@]}" --steps 6 --report-every 2 --out through || complain "running through fails"
cmp together/best.safetensors through/best.safetensors || complain "resumed, it learns another way"
"${small[@]}" --steps 6 --report-every 2 --out alone >out 2>err || complain "it fails alone"
paste -d, through/log.csv alone/log.csv |
  awk -F, 'NR > 1 && ($3 - $8) ^ 2 + ($5 - $10) ^ 2 > 1e-8 { differs = 1 } END { exit differs || NR != 4 }' ||
  complain "alone, it learns another way: $(cat through/log.csv alone/log.csv)"
status=0
ranks 2 "${small[@]}" --batch 0 || status=$?
[ $status -eq 2 ] && grep -q 'error: --batch' err || complain "status $status"  # the first that ends may end the other
