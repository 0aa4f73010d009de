# For the scripts, to be sourced by bash: finds the source tree and turns it into programs.
#   build_dir PRESET               where builds of this preset go; another compiler ($CXX) gets a folder of its own
#   build PRESET [TARGET...]       configures and builds the targets, or everything
source_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

build_dir() { echo "$source_dir/build/$1${CXX:+-$(basename "$CXX")}"; }

# Runs a command with its output in the folder's build.log, and shows the end of that if the command fails.
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

build() {
  local preset=$1 dir generator=()
  shift
  dir=$(build_dir "$preset")
  mkdir -p "$dir"
  # A cache made elsewhere (the tree was moved or copied) is of no use.
  grep -qsxF "CMAKE_HOME_DIRECTORY:INTERNAL=$source_dir" "$dir/CMakeCache.txt" ||
    rm -rf "$dir/CMakeCache.txt" "$dir/CMakeFiles"
  command -v ninja >/dev/null || generator=(-G "Unix Makefiles")
  quietly "$dir" "configuring ${dir#"$source_dir"/}" \
    cmake -S "$source_dir" --preset "$preset" -B "$dir" "${generator[@]}" || return
  quietly "$dir" "building ${*:-everything}" \
    cmake --build "$dir" --parallel "$(nproc)" ${1:+--target "$@"}
}
