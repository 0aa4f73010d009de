#!/usr/bin/env bash
# Every example as somebody meets it who is new here: lists and help, wrong options, bad data, outputs that cannot be
# written. Errors are one line `error: ...` and a status, nothing hangs, and nothing half-written is left.
source "$(dirname "${BASH_SOURCE[0]}")/sandbox.sh"

names=$(cd "$root/examples" && echo */main.cpp)
names=${names//\/main.cpp/}

echo "the list has every example, with a line and a duration, and no others"
"$root/examples/run" --help >out 2>err || complain "no list"
for name in $names; do
  grep -qE "^  $name +[0-9]+ (s|min) +[^ ]" out || complain "$name is not in the list"
done
[ "$(grep -c '^  ' out)" -eq "$(wc -w <<<"$names")" ] || complain "the list has something else"
for wrong in nosuch kit ../kit ''; do
  status=0
  "$root/examples/run" "$wrong" >out 2>err || status=$?
  [ "$status" -eq 2 ] || complain "examples/run '$wrong' gave status $status"
  grep -qF "${wrong:-no name}" < <(head -n 1 err) || complain "examples/run '$wrong' does not name it"
done

echo "every example has help, and refuses what it does not know"
for name in $names; do
  if [ -f "$root/examples/$name/main.cpp" ] && ! grep -q 'kit/program/cli\.h' "$root/examples/$name/main.cpp"; then
    "$root/examples/run" "$name" --help >out 2>err || complain "$name has no help"
    grep -qE "^  $name +[0-9]+ (s|min) +[^ ]" out && [ "$(wc -l <out)" -eq 1 ] || complain "$name has no line of help"
    status=0
    "$root/examples/run" "$name" --nosuch >out 2>err || status=$?
    [ "$status" -eq 2 ] && grep -qxF "error: $name takes no arguments" err || complain "$name --nosuch gave status $status"
    continue
  fi
  "$examples/$name" --help >out 2>err || complain "$name --help fails"
  [ "$(sed -n 2p out)" = "Usage: $name [OPTIONS]" ] || grep -q "^Usage: $name \[OPTIONS\]" out || complain "$name --help"
  grep -q '^[A-Z].*\.$' < <(head -n 1 out) || complain "$name --help has no line that says what it is"
  refuses 2 --nosuch "$examples/$name" --nosuch
  refuses 1 "cannot write to folder /proc/self: " "$examples/$name" --out /proc/self
  touch taken
  refuses 1 "cannot make folder taken: Not a directory" "$examples/$name" --out taken
  if ! grep -q -- --seed out; then "$examples/$name" --help >out; fi
  if grep -q -- --seed out; then refuses 2 'found "-1"' "$examples/$name" --seed -1; fi
  if grep -q -- --epochs out; then
    refuses 2 'found "abc"' "$examples/$name" --epochs abc
    refuses 2 'found "100000000000000000000"' "$examples/$name" --epochs 100000000000000000000
  fi
done

echo "bad data is refused with its reason"
: >empty
printf 'Go.\tVa !\n\xC9t\xE9\tx\n' >latin1
mkfifo pipe
for name in translate annotated_transformer decoding non_autoregressive seq2seq_rnn; do
  refuses 1 "empty:1: no sentence pair" "$examples/$name" --out o --data empty
  refuses 1 "latin1:2: " "$examples/$name" --out o --data latin1
  refuses 1 "cannot read pipe: not a regular file" "$examples/$name" --out o --data pipe
  refuses 1 "cannot open none: No such file or directory" "$examples/$name" --out o --data none
done
printf 'same same same\nsame same\n' >monotonous
refuses 1 "empty:1: " "$examples/word_vectors" --out o --text empty
refuses 1 "latin1:2: " "$examples/word_vectors" --out o --text latin1
refuses 1 "cannot read pipe: not a regular file" "$examples/word_vectors" --out o --text pipe
refuses 1 "monotonous:1: " "$examples/word_vectors" --out o --text monotonous
refuses 2 "6 is no multiple of 4" "$examples/word_vectors" --out o --dim 6
head -c 500 "$root/examples/data/pride_and_prejudice.txt" >short
for text in empty short; do refuses 1 "a window has 65 characters" "$examples/gpt" --out o --data "$text"; done
refuses 1 "latin1:2: " "$examples/gpt" --out o --data latin1
refuses 1 "cannot open none: No such file or directory" "$examples/gpt" --out o --data none
refuses 1 "dim 128 does not divide by 3 heads" "$examples/gpt" --out o --heads 3
refuses 1 "the character 'é' is not among" "$examples/gpt" --out o --prompt é
refuses 1 "the prompt is empty" "$examples/gpt" --out o --prompt ""
refuses 1 "empty has 0 words" "$examples/bert" --out o --data empty
refuses 1 "latin1:2: " "$examples/bert" --out o --data latin1
refuses 1 "one _ expected in \"_ or _\"" "$examples/bert" --out o --fill "_ or _"
refuses 1 "o/config.json: cannot be opened" "$examples/gpt" --out o --weights o
[ -z "$(ls -A o)" ] || complain "something was left: $(ls -A o)"

echo "standard streams that are closed or full"
refuses 1 "standard output" bash -c "exec >&-; exec $examples/two_heads --out closed"
[ "$(cd closed && echo *)" = "matrices.svg pronoun.svg vectors.svg" ] || complain "found $(ls closed)"
if [ -e /dev/full ]; then refuses 1 "standard output" bash -c "$examples/two_heads --out full >/dev/full"; fi
"$examples/translate" --pairs 8 --held-out 1 --epochs 2 --out quiet >out 2>&- || complain "translate fails without standard error"
[ "$(wc -l <quiet/log.csv)" -eq 3 ] || complain "something else is in log.csv: $(cat quiet/log.csv)"
status=0
"$examples/translate" --pairs 8 --held-out 1 --epochs 2 --out quiet >&- 2>err || status=$?
[ "$status" -eq 1 ] || complain "a lost result gave status $status"
[ "$(wc -l <quiet/log.csv)" -eq 3 ] || complain "something else is in log.csv: $(cat quiet/log.csv)"

echo "a seed gives the same files and results, with one thread and with three"
seconds=1${XGRAD_THOROUGH:+-5}
compared=0
for name in $names; do
  grep -qE "^\| \`$name\` \|.*\| [$seconds] s \|$" "$root/examples/README.md" && [ -x "$examples/$name" ] || continue
  "$examples/$name" --help >out 2>err && grep -q -- --seed out || continue
  for threads in 1 3; do
    "$examples/$name" --seed 7 --threads $threads --out same >result_$threads 2>err </dev/null || complain "$name fails"
    mv same same_$threads
  done
  # But for the line that says how many threads there are.
  diff <(tail -n +2 result_1) <(tail -n +2 result_3) && diff -r same_1 same_3 || complain "$name is another with three threads"
  rm -r same_1 same_3
  compared=$((compared + 1))
done
[ "$compared" -gt 0 ] || complain "no example was compared"
