#!/usr/bin/env bash
# The pages have the figures that the examples print, of those examples that take a second, and every page was read beside
# its pictures as they are now. Before that, what docs/tools/figures.py finds: in a tree whose example only pretends.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
sandbox=$(mktemp -d)
trap 'rm -rf "$sandbox"' EXIT
figures=$root/docs/tools/figures.py page=$sandbox/docs/page.md
mkdir -p "$sandbox"/{bin,docs,examples}
printf '| `toy` | pretends | 1 s |\n| `slow` | pretends | 9 s |\n' >"$sandbox/examples/README.md"
cat >"$sandbox/bin/toy" <<'END_OF_FILE'
#!/usr/bin/env bash
seed=1 out=
while [ $# -gt 0 ]; do
  case $1 in
    --seed) seed=$2 ;;
    --out) [ -z "$out" ] || exit 2; out=$2 ;;
  esac
  shift
done
loss=(- 0.305 0.309 0.301) steps=(- 75 108 204)
echo "the first line"
echo "loss 0.305, of seed ${loss[$seed]}, in 12 ms, to out/toy"
echo "         error   steps   seconds"
echo "narrow   0.0305       7       0.1"
echo "wide     ${loss[$seed]}       8       0.2"
echo "samples"
echo "  word $seed"
echo "result loss=${loss[$seed]} share=0.9201 steps=${steps[$seed]}"
END_OF_FILE
chmod +x "$sandbox/bin/toy"
cp "$sandbox/bin/toy" "$sandbox/bin/slow"

run() { XGRAD_FIGURES_ROOT=$sandbox XGRAD_BUILD_DIR=$sandbox "$figures" "$@" >"$sandbox/out" 2>&1; }
pretend() { printf '%s\n' "$@" >"$page"; }
passes() { run quick || { echo "should pass:"; cat "$page" "$sandbox/out"; exit 1; }; }
fails() { # SENTENCE
  if run quick; then echo "should fail:"; cat "$page"; exit 1; fi
  grep -qF -- "$1" "$sandbox/out" || { echo "no '$1' in:"; cat "$sandbox/out"; exit 1; }
}
toy='    $ examples/run toy'

echo "an excerpt: the last of three digits may be one off, times and paths anything"
pretend "$toy" '    loss 0.306, of seed 0.304, in 3.4 s, to ../other'
passes
pretend "$toy --out docs/toy" '    the first line'
passes
pretend "$toy" '    loss 0.307, of seed 0.305, in 12 ms, to out/toy'
fails 'docs/page.md:2: loss 0.307'
pretend "$toy" '    error 0.305, of seed 0.305, in 12 ms, to out/toy'
fails '(no such line: error 0.305'
pretend "$toy" '    the first line' '    the second line'
fails 'docs/page.md:3: the second line'
pretend "$toy" '    loss 0.305, of seed 0.305, in 12 ms, to out/toy' '    the first line'
fails '(no such line: the first line)'

echo "a range: the first seed lies in it, or the median of all"
pretend '<!-- seeds 1-3 -->' "$toy" '    loss 0.305, of seed 0.303 (0.301 to 0.309), in 12 ms, to out/toy'
passes
pretend '<!-- seeds 2,1,3 -->' "$toy" '    loss 0.305, of seed 0.305 (0.304 to 0.306), in 12 ms, to out/toy'
passes
pretend '<!-- seeds 1-3 -->' "$toy" '    loss 0.305, of seed 0.307 (0.306 to 0.309), in 12 ms, to out/toy'
fails 'of seed 0.307 (0.306 to 0.309)'

echo "a table: rows and columns by name, or names of the result"
pretend '<!-- examples/run toy -->' '| | steps | error |' '|---|---|---|' '| *narrow* | 7 | $0.0305$ |' '| wide | 8 | 0.305 |'
passes
pretend '<!-- examples/run toy -->' '| | steps | error |' '|---|---|---|' '| narrow | 8 | 0.0305 |'
fails '| narrow | 8 | 0.0305 |'
pretend '<!-- examples/run toy {row}; seeds 1-3 -->' '| | loss |' '|---|---|' '| all | 0.305 (0.301 to 0.309) |'
passes

echo "sentences, and what a model wrote"
pretend '<!-- examples/run toy -->' 'Right for <!-- share -->92.0 %, at a loss of <!-- loss -->0.3.'
passes
pretend '<!-- examples/run toy -->' 'Right for <!-- share -->91.8 %.'
fails '91.8 %'
pretend '<!-- any words -->' "$toy" '    samples' '      others'
passes
pretend '<!-- any words -->' "$toy" '    samples' '      others' '      too many'
fails 'docs/page.md:5: too many'
pretend '<!-- any words -->' "$toy" '    the first line' '    others'
passes

echo "an example that takes longer is left to tests/long, one without its data to who has it"
pretend '    $ examples/run slow' '    the second line'
passes
if run long; then echo "passes in spite of its figures"; exit 1; fi
pretend "$toy --data none.tsv" '    the second line'
passes
grep -qF 'docs/page.md:2 is not compared: none.tsv is not here' "$sandbox/out"

echo "rewritten: what has changed, and only that"
pretend '<!-- seeds 1-3 -->' "$toy" '    loss 0.306, of seed 0.4, in 99 ms, to out/old' '' '<!-- examples/run toy; seeds 1-3 -->' \
  'Right for <!-- share -->90.0 % after <!-- steps -->7.' '' '<!-- examples/run toy; seeds 1-3 -->' '| | error |' '|---|---|' '| wide | 0.4 |' '' \
  '<!-- any words -->' "$toy" '    samples' '      others'
run rewrite
[ "$(sed -n '3p;6p;11p;16p' "$page")" = '    loss 0.305, of seed 0.305 (0.301 to 0.309), in 99 ms, to out/old
Right for <!-- share -->92.0 % after <!-- steps -->108 (75 to 204).
| wide | 0.305 (0.301 to 0.309) |
      word 1' ] || { cat "$page" "$sandbox/out"; exit 1; }
passes

echo "pictures whose texts have changed"
echo '<svg><text x="1">loss <tspan>0.3</tspan></text></svg>' >"$sandbox/docs/loss.svg"
echo '![loss](loss.svg)' >"$page"
run looked
sed -i 's/x="1"/x="2"/' "$sandbox/docs/loss.svg"
run pictures
sed -i 's/0\.3/0.4/' "$sandbox/docs/loss.svg"
if run pictures; then echo "finds no other text"; exit 1; fi
grep -qF 'docs/loss.svg has another text than when docs/page.md was read beside it' "$sandbox/out"

echo "the pages"
cd "$root"
"$figures" pictures
XGRAD_BUILD_DIR=${XGRAD_BUILD_DIR:-$root/build/grouped} XGRAD_THREADS=1 "$figures" quick
