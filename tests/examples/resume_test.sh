#!/usr/bin/env bash
# The translation example, killed in the middle and resumed, ends in the same checkpoint as if it had run through; another
# run's checkpoint is refused; what is ignored is said.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
translate=${XGRAD_BUILD_DIR:-$root/build/grouped}/bin/translate
sandbox=$(mktemp -d)
trap 'rm -rf "$sandbox"' EXIT
cd "$sandbox"

complain() {
  echo "$*"
  cat out err
  exit 1
}
run() { # FOLDER ARGUMENTS...
  local folder=$1
  shift
  timeout 300 "$translate" --pairs 100 --held-out 2 --threads 1 --out "$folder" "$@" >out 2>err </dev/null
}
rows() { if [ -e "$1/loss.csv" ]; then wc -l <"$1/loss.csv"; else echo 0; fi; }

echo "kill -9 loses at most the epochs since the last checkpoint"
"$translate" --pairs 100 --held-out 2 --threads 1 --out killed --checkpoint-every 3 --epochs 1000000 >out 2>err </dev/null &
pid=$!
for ((i = 0; i < 600 && $(rows killed) < 9; ++i)); do sleep 0.05; done
kill -9 $pid
{ wait $pid || true; } 2>/dev/null
done=$(($(rows killed) - 1))
[ "$done" -ge 7 ] || complain "only $done epochs"
last=$((done + 2))
run killed --resume --epochs $last || complain "resuming failed"
after=$(sed -nE 's/^going on after epoch ([0-9]+) of .*/\1/p' out)
[ "$after" -gt 0 ] && [ $((after % 3)) -eq 0 ] && [ "$after" -ge $((done - 3)) ] || complain "went on after '$after' of $done"
run through --epochs $last || complain "running through failed"
cmp killed/checkpoint.safetensors through/checkpoint.safetensors
diff <(cut -d, -f1,2 killed/loss.csv) <(cut -d, -f1,2 through/loss.csv)
[ -z "$(find killed -name '*.tmp')" ] || complain "left behind: $(ls -A killed)"

echo "another run's checkpoint is refused, and nothing has changed"
cp -r through before
if run through --resume --cross-attention all; then complain "another model was accepted"; fi
grep -q '^error: .*cross-attention: found last, expected all$' err || complain "no reason"
sed 's/je suis/tu es/; s/!/./' "$root/examples/translate/data/en-fr.tsv" >other.tsv
if run through --resume --data other.tsv; then complain "other data were accepted"; fi
grep -q '^error: .*pairs: found ' err || complain "no reason"
diff -r through before

echo "what is ignored is said, and what counts is applied"
run through --resume --epochs $last --seed 9 --lr 0.001 || complain "resuming failed"
grep -qx -- '--seed 9 is ignored: the checkpoint has its own' out || complain "--seed is ignored without a word"
grep -qx -- '--lr 0.001 is the learning rate from here on' out || complain "--lr is ignored without a word"
run through --resume --epochs $((last + 1)) || complain "resuming failed"
grep -q 'learning rate 0.001$' out || complain "the learning rate is lost"

echo "what is in the checkpoint's way is found before training"
mkdir -p taken/checkpoint.safetensors
if run taken --epochs 1000000; then complain "a folder was overwritten"; fi
grep -q '^error: .*is not a regular file' err || complain "no reason"
[ ! -e taken/loss.csv ] || complain "training began"

echo "the GPT, interrupted in the middle and resumed, ends as if it had run through"
gpt=${XGRAD_BUILD_DIR:-$root/build/grouped}/bin/gpt
small=(--heads 2 --layers 1 --context 8 --batch 2 --length 5 --steps 6000 --report-every 700 --threads 1)
"$gpt" "${small[@]}" --dim 8 --out stopped >out 2>err </dev/null &
pid=$!
for ((i = 0; i < 600; ++i)); do
  if grep -q 'training [1-9]' err; then break; fi
  sleep 0.05
done
kill -TERM $pid
status=0
wait $pid || status=$?
[ "$status" -eq 143 ] || complain "status $status"
timeout 300 "$gpt" "${small[@]}" --dim 8 --out stopped --resume >out 2>err </dev/null || complain "resuming failed"
grep -q '^going on after step [1-9]' out || complain "started anew"
timeout 300 "$gpt" "${small[@]}" --dim 8 --out straight >out 2>err </dev/null || complain "running through failed"
for file in checkpoint.safetensors loss.csv loss.svg; do cmp stopped/$file straight/$file; done
[ "$(wc -l <straight/loss.csv)" -eq 10 ] || complain "not every report has its row"
timeout 300 "$gpt" "${small[@]}" --dim 8 --out stopped --resume >out 2>err </dev/null || complain "resuming the end failed"
cmp stopped/loss.csv straight/loss.csv
if timeout 300 "$gpt" "${small[@]}" --dim 16 --out straight --resume >out 2>err; then complain "another model was accepted"; fi
grep -q '^error: .*is of another run: .*width 8.*expected .*width 16' err || complain "no reason"
