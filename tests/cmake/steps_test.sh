#!/usr/bin/env bash
# The ten programs of docs/learn/steps compile without a warning, find themselves right, print what their page shows, and
# the lines that it quotes are theirs.
source "$(dirname "${BASH_SOURCE[0]}")/../support/script.sh"
cd "$root/docs/learn/steps"

# Compiled as one, in a third of the time: each in a namespace of its own, behind what it includes. With -Og compiling and running
# together take the least time.
{
  sed -n '/^#include </p' [0-9]*_*.cpp | sort -u
  for program in [0-9]*_*.cpp; do
    sed -n '/^#include "/p' "$program"
    printf 'namespace step_%s {\n#include "%s"\n}\n' "${program%%_*}" "$program"
  done
  printf 'int (*const steps[])() = {'
  for program in [0-9]*_*.cpp; do printf 'step_%s::main, ' "${program%%_*}"; done
  printf '};\nint main(int, char** step) { return steps[std::stoi(step[1]) - 1](); }\n'
} >"$sandbox/steps.cpp"
"${CXX:-c++}" -std=c++20 -Og -Wall -Wextra -Wpedantic -Werror -I. "$sandbox/steps.cpp" -o "$sandbox/steps"

wrong=0
for program in [0-9]*_*.cpp; do
  step=$((10#${program%%_*}))
  # The chapter from its heading to the next; in it, the first block without a language is the output.
  awk -v "step=$step" '/^## / { inside = $2 == step "." } inside' README.md >"$sandbox/chapter"
  awk '/^```/ { if (!open && $0 == "```") shown = 1; else if (shown) exit; open = !open; next } shown' \
    "$sandbox/chapter" >"$sandbox/shown"
  [ -s "$sandbox/shown" ] || { echo "README.md: no output under step $step"; wrong=1; }
  while IFS= read -r line; do
    grep -qxF -- "$line" ./*.h "$program" || { echo "README.md: step $step has no line '$line'"; wrong=1; }
  done < <(sed -n '/^```cpp$/,/^```$/{/^```/d; p}' "$sandbox/chapter")

  "$sandbox/steps" "$step" >"$sandbox/output" || { echo "$program finds itself wrong:"; cat "$sandbox/output"; wrong=1; }
  diff "$sandbox/shown" "$sandbox/output" || { echo "$program prints something else than README.md shows"; wrong=1; }
  for file in "$program" ./*.h; do
    [ "$(wc -l <"$file")" -le 120 ] || { echo "$file has more than 120 lines"; wrong=1; }
  done
done
exit $wrong
