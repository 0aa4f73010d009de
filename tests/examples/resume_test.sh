#!/usr/bin/env bash
# The translation example, killed in the middle and resumed, ends in the same checkpoint as if it had run through, and so
# does the GPT that is interrupted; another run's checkpoint is refused.
source "$(dirname "${BASH_SOURCE[0]}")/sandbox.sh"
run() { # FOLDER ARGUMENTS...
  local folder=$1
  shift
  timeout 300 "$examples/translate" --pairs 100 --held-out 2 --threads 1 --out "$folder" "$@" >out 2>err </dev/null
}

echo "kill -9 loses no more than what was done since the last checkpoint"
"$examples/translate" --pairs 100 --held-out 2 --threads 1 --out killed --epochs 1000000 >out 2>err </dev/null &
pid=$!
for ((i = 0; i < 1200; ++i)); do
  if [ -e killed/best.safetensors ]; then break; fi  # written with the second checkpoint
  sleep 0.05
done
sleep 0.3
kill -9 $pid
{ wait $pid || true; } 2>/dev/null
done=$(($(wc -l <killed/log.csv) - 1))
[ "$done" -ge 3 ] || complain "only $done epochs"
last=$((done + 2))
run killed --resume --epochs $last || complain "resuming failed"
after=$(sed -nE 's/^going on after step [0-9]+, in epoch ([0-9]+)$/\1/p' err)
[ "$after" -gt 1 ] && [ "$after" -le $((done + 1)) ] || complain "went on in '$after' of $done"
run through --epochs $last || complain "running through failed"
for file in checkpoint.safetensors best.safetensors log.csv curves.svg; do cmp killed/$file through/$file; done
[ -z "$(find killed -name '*.tmp')" ] || complain "left behind: $(ls -A killed)"

echo "another run's checkpoint is refused, and nothing has changed"
cp -r through before
refused() { # REASON ARGUMENTS...
  local reason=$1
  shift
  if run through --resume "$@"; then complain "accepted: $*"; fi
  grep -q "^error: .*is of another run: $reason" err || complain "no reason: $*"
}
refused 'cross-attention: found last, expected all$' --cross-attention all
refused 'learning rate: found 0.005, expected 0.001$' --lr 0.001
sed 's/je suis/tu es/; s/!/./' "$root/examples/translate/data/en-fr.tsv" >other.tsv
refused 'pairs: found ' --data other.tsv
if run through --resume --seed 9; then complain "another seed was accepted"; fi
grep -q '^error: .*seed 1; this one has .*seed 9$' err || complain "no reason"
diff -r through before

echo "the GPT, interrupted in the middle and resumed, ends as if it had run through"
small=(--dim 8 --layers 1 --context 8 --batch 2 --length 5 --steps 6000 --report-every 700 --threads 1)
"$examples/gpt" "${small[@]}" --heads 2 --out stopped >out 2>err </dev/null &
pid=$!
for ((i = 0; i < 1200; ++i)); do
  if grep -q '^step 700 ' err; then break; fi
  sleep 0.05
done
kill -TERM $pid
status=0
wait $pid || status=$?
[ "$status" -eq 143 ] || complain "status $status"
grep -q '^stopped after step [1-9][0-9]*, to be resumed from stopped$' out || complain "nothing is said"
timeout 300 "$examples/gpt" "${small[@]}" --heads 2 --out stopped --resume >out 2>err </dev/null || complain "resuming failed"
grep -q '^going on after step [1-9]' err || complain "started anew"
timeout 300 "$examples/gpt" "${small[@]}" --heads 2 --out straight >out 2>err </dev/null || complain "running through failed"
for file in checkpoint.safetensors best.safetensors log.csv curves.svg; do cmp stopped/$file straight/$file; done
[ "$(wc -l <straight/log.csv)" -eq 10 ] || complain "not every report has its row"
timeout 300 "$examples/gpt" "${small[@]}" --heads 2 --out stopped --resume >out 2>err </dev/null || complain "resuming the end failed"
cmp stopped/log.csv straight/log.csv
if timeout 300 "$examples/gpt" "${small[@]}" --heads 4 --out straight --resume >out 2>err; then complain "another model was accepted"; fi
grep -q '^error: .*is of another run: heads: found 2, expected 4$' err || complain "no reason"
