# For the scripts, to be sourced by bash: finds the source tree and turns it into programs.
#   build_dir PRESET               where builds of this preset go; another compiler ($CXX) gets a folder of its own
#   build PRESET [TARGET...]       configures and builds the targets, or everything
#   with_pictures [ARGUMENT...]    installs Debian's package of Fashion-MNIST if one is --fashion-mnist; `arguments` then
#                                  has its folder in place of this option
#   cores                          how many processors there are
# All scripts that users run keep to bash 3.2, which macOS has: an empty array is expanded as ${a[@]+"${a[@]}"}.
source_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

cores() { nproc 2>/dev/null || sysctl -n hw.ncpu; }

build_dir() { echo "$source_dir/build/$1${CXX:+-$(basename "$CXX")}"; }

# Runs a command with its output in the folder's build.log, and shows the end of the log if it fails. By ninja's lines it says how
# far it has come, on a terminal in place, else every ten seconds:
#   building translate  143 of 270  0:41, about 0:36 left
quietly() { # FOLDER WHAT COMMAND...
  local log=$1/build.log what=$2 status=0 begin=$SECONDS every=10 end='\n' next line spent left
  shift 2
  echo "$what"
  if [ -t 1 ]; then every=0 end='\r'; fi
  next=$((SECONDS + every))
  (
    set -o pipefail
    "$@" 2>&1 </dev/null | while IFS= read -r line; do
      echo "$line"
      if [[ ! $line =~ ^\[([1-9][0-9]*)/([0-9]+)\] || $SECONDS -lt $next ]]; then continue; fi
      next=$((SECONDS + every)) spent=$((SECONDS - begin))
      left=$((spent * (BASH_REMATCH[2] - BASH_REMATCH[1]) / BASH_REMATCH[1]))
      printf "%s  %d of %d  %d:%02d, about %d:%02d left  $end" "$what" "${BASH_REMATCH[@]:1:2}" \
        $((spent / 60)) $((spent % 60)) $((left / 60)) $((left % 60)) >&3
    done 3>&1 >"$log"
  ) || status=$?
  if [ -t 1 ]; then printf '\033[K'; fi  # what is left of the line
  [ "$status" -ne 0 ] || return 0
  tail -n 40 "$log"
  echo "failed: $what (everything it said is in $log)"
  return "$status"
}

# Finds what cmake/setup has unpacked where there is no root: for CMake, for the linker, and for programs and the libraries
# that their libraries need.
use_deps() {
  local deps=$source_dir/build/deps/usr libraries
  if [ ! -d "$deps" ] || [[ ":$PATH:" == *":$deps/bin:"* ]]; then return; fi
  libraries=$(echo "$deps"/lib/*-linux-gnu*):$(echo "$deps"/lib/*-linux-gnu*/openblas-pthread)
  export PATH=$PATH:$deps/bin CMAKE_PREFIX_PATH=$deps${CMAKE_PREFIX_PATH:+:$CMAKE_PREFIX_PATH} CMAKE_LIBRARY_PATH=$libraries
  export LD_LIBRARY_PATH=$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} LDFLAGS="${LDFLAGS:-} -Wl,--disable-new-dtags"
}

build() {
  local preset=$1 dir generator=()
  shift
  use_deps
  dir=$(build_dir "$preset")
  mkdir -p "$dir"
  # A cache made elsewhere (the tree was moved or copied) is of no use.
  grep -qsxF "CMAKE_HOME_DIRECTORY:INTERNAL=$source_dir" "$dir/CMakeCache.txt" ||
    rm -rf "$dir/CMakeCache.txt" "$dir/CMakeFiles"
  command -v ninja >/dev/null || generator=(-G "Unix Makefiles")
  quietly "$dir" "configuring ${dir#"$source_dir"/}" \
    cmake -S "$source_dir" --preset "$preset" -B "$dir" ${generator[@]+"${generator[@]}"} || return
  quietly "$dir" "building ${*:-everything}" \
    cmake --build "$dir" --parallel "$(cores)" ${1:+--target "$@"}
}

with_pictures() {
  local argument pictures=/usr/share/datasets/fashion-mnist
  arguments=()
  for argument; do
    if [ "$argument" = --fashion-mnist ]; then
      "$source_dir/cmake/setup" packages_fashion_mnist.txt >&2
      [ -e "$pictures" ] || pictures=$source_dir/build/deps$pictures
      arguments+=(--data "$pictures")
    else
      arguments+=("$argument")
    fi
  done
}
