# For the scripts beside this one: a build, and an empty folder that is removed at the end.
source "$(dirname "${BASH_SOURCE[0]}")/../support/script.sh"
prefix=$sandbox/prefix

cached() { sed -n "s/^$1:.*=//p" "$built/CMakeCache.txt"; }
compiler=$(cached CMAKE_CXX_COMPILER)

refused() { # PATTERN COMMAND...: fails, and says so in such words
  local words=$1
  shift
  if "$@" >"$sandbox/log" 2>&1; then echo "was not refused: $*"; exit 1; fi
  grep -qE -- "$words" < <(tr -s ' \n' ' ' <"$sandbox/log") || { cat "$sandbox/log"; echo "did not say '$words': $*"; exit 1; }
}
