# Shared by the scripts: finds the source tree, and turns it into programs. To be sourced by bash.
#   build_dir NAME              the folder for builds of this kind; another compiler ($CXX) gets a folder of its own
#   build_targets DIR [-D...] -- [TARGET...]     configures DIR and builds the targets, or everything
source_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

build_dir() { echo "$source_dir/build/$1${CXX:+-$(basename "$CXX")}"; }

# Runs a command with its output in the folder's build.log; shows the end of that if the command fails.
quietly() {
  local log=$1/build.log what=$2
  shift 2
  echo "$what"
  "$@" >"$log" 2>&1 </dev/null && return
  local status=$?
  tail -n 40 "$log"
  echo "failed: $what (everything it said is in $log)"
  return $status
}

build_targets() {
  local dir=$1 settings=() generator=()
  shift
  while [ $# -gt 0 ] && [ "$1" != -- ]; do
    settings+=("$1")
    shift
  done
  shift
  mkdir -p "$dir"
  # A cache made elsewhere (the tree was moved or copied) is of no use.
  grep -qsxF "CMAKE_HOME_DIRECTORY:INTERNAL=$source_dir" "$dir/CMakeCache.txt" || rm -rf "$dir/CMakeCache.txt" "$dir/CMakeFiles"
  if [ ! -e "$dir/CMakeCache.txt" ] && command -v ninja >/dev/null; then generator=(-G Ninja); fi
  quietly "$dir" "configuring ${dir#"$source_dir"/}" cmake -S "$source_dir" -B "$dir" "${generator[@]}" "${settings[@]}" || return
  quietly "$dir" "building ${*:-everything}" cmake --build "$dir" --parallel "$(nproc)" ${*:+--target "$@"}
}
