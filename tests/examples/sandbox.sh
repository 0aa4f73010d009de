# For the scripts beside this one: the programs in $bin, the examples in $examples, and an empty folder that is removed at
# the end.
source "$(dirname "${BASH_SOURCE[0]}")/../support/script.sh"
bin=$built/bin
examples=$bin/examples
cd "$sandbox"

complain() {
  echo "$*"
  tail -n 100 out err
  exit 1
}

# refuses STATUS TEXT COMMAND...: ends with this status and, as the last line on standard error, an error with the text.
refuses() {
  local status=0 expected=$1 text=$2
  shift 2
  timeout 120 "$@" >out 2>err </dev/null || status=$?
  [ "$status" -eq "$expected" ] || complain "expected status $expected, got $status: $*"
  grep -q '^error: ' < <(tail -n 1 err) || complain "no error as the last line: $*"
  grep -qF -- "$text" < <(tail -n 1 err) || complain "expected '$text': $*"
}
