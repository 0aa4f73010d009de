#!/usr/bin/env bash
# tests/bench/compare takes turns, hands the same environment to everybody and gets medians and ratios right: with engines
# that only pretend.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
sandbox=$(mktemp -d)
trap 'rm -rf "$sandbox"' EXIT

# Prints the next number of its list as time and writes down how it was called.
cat >"$sandbox/engine" <<'END_OF_ENGINE'
#!/usr/bin/env bash
set -e
name=$1 times=($2) mb=$3
shift 3
if [ "$1" = --precision ]; then
  [ "$2" = medium ]
  times=(1) mb=5
  shift 2
fi
workload=$1 threads=$2
echo "$name $workload $threads ${OPENBLAS_CORETYPE:-free} $OPENBLAS_NUM_THREADS $OMP_NUM_THREADS" >>"$LOG"
[ "$workload" != W5 ] || [ "$name" != peer ] || { echo "peer has no W5" >&2; exit 3; }
turn=$(grep -c "^$name $workload $threads" "$LOG")
echo "something else first"
echo "$name $workload $threads ${times[$(((turn - 1) % ${#times[@]}))]} 1.0 $mb"
END_OF_ENGINE
chmod +x "$sandbox/engine"
export LOG=$sandbox/log OPENBLAS_CORETYPE=Haswell
ours="$sandbox/engine xgrad '2 9 4' 10"
peer="$sandbox/engine peer '8 8 9' 180.2"

compare() { # STATUS ARGUMENTS...
  local status=0 expected=$1
  shift
  : >"$LOG"
  (cd / && PIN=$(taskset -pc $$ | sed 's/.*: //; s/[-,].*//') "$root/tests/bench/compare" --xgrad "$ours" "$@") \
    >"$sandbox/out" 2>"$sandbox/err" || status=$?
  [ "$status" -eq "$expected" ] || { echo "status $status instead of $expected:"; cat "$sandbox/err"; exit 1; }
}
row() { grep -qxF -- "$1" "$sandbox/out" || { echo "no line '$1' in:"; cat "$sandbox/out"; exit 1; }; }
called() { [ "$(paste -sd, "$LOG")" = "$1" ] || { echo "expected calls $1, got:"; cat "$LOG"; exit 1; }; }

echo "medians of three rounds, in turn, in an environment that favours nobody"
compare 0 --rounds 3 --threads 1 --peer "$peer" W1
row "| workload | threads | xgrad ms | peer ms | peer / xgrad | xgrad MB | peer MB |"
row "| W1 | 1 | 4 +- 4 | 8 +- 0.5 | 2.00 | 10 | 180 |"
called "xgrad W1 1 free 1 1,peer W1 1 free 1 1,xgrad W1 1 free 1 1,peer W1 1 free 1 1,xgrad W1 1 free 1 1,peer W1 1 free 1 1"

echo "one and two threads, all workloads, a setting for everybody"
compare 0 --rounds 1 --env OPENBLAS_CORETYPE=SkylakeX --peer "$peer"
[ "$(grep -c '^| W' "$sandbox/out")" -eq 22 ]
[ "$(sort "$LOG" | uniq | wc -l)" -eq 44 ]
[ "$(grep -c SkylakeX "$LOG")" -eq 44 ]
grep -qxF "peer W4b 2 SkylakeX 2 2" "$LOG"

echo "a peer without this workload"
row "| W5 | 1 | 2 +- 0 | - | - | 10 | - |"
grep -qF "peer has no W5" "$sandbox/err"

echo "peers from the environment"
XGRAD_BENCH_PEERS=$(printf '%s\n' "$peer" "$sandbox/engine third 5 7") compare 0 --rounds 1 --threads 2 W6
row "| W6 | 2 | 2 +- 0 | 8 +- 0 | 5 +- 0 | 4.00 | 2.50 | third 2.50 | 10 | 180 | 7 |"

echo "two builds of the same engine"
compare 0 --rounds 1 --threads 1 --peer "$sandbox/engine xgrad 3 10" W1
row "| workload | threads | xgrad 1 ms | xgrad 2 ms | xgrad 2 / xgrad 1 | xgrad 1 MB | xgrad 2 MB |"

echo "a table of its own for products in bfloat16, below the processor's name"
compare 0 --rounds 1 --threads 1 --peer "$peer" --bfloat16-peer "$sandbox/engine autocast 3 600" W1
head -n 1 "$sandbox/out" | grep -qE "^.+ \(.+\), [0-9]+ cores, [0-9]{4}-[0-9]{2}-[0-9]{2}$"
row "| W1 | 1 | 2 +- 0 | 8 +- 0 | 4.00 | 10 | 180 |"
row "Products in bfloat16:"
row "| workload | threads | xgrad ms | autocast ms | autocast / xgrad | xgrad MB | autocast MB |"
row "| W1 | 1 | 1 +- 0 | 3 +- 0 | 3.00 | 5 | 600 |"

echo "xgrad itself fails"
ours="exit 1;" compare 1 --rounds 1 --threads 1 W1
