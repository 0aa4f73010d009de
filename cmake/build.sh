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

# Says how far ninja has come by its log, every ten seconds, on a terminal every second and in place:
#   building translate  143 of 270  0:41, about 0:36 left
follow() {
  local what=$1 log=$2 begin=$SECONDS every=10 end='\n' done total spent left silence
  if [ -t 1 ]; then every=1 end='\r'; fi
  # Nothing is ever read from it, so that `read` waits without a program that would live on.
  silence=$(mktemp -u)
  mkfifo "$silence"
  exec 9<>"$silence"
  rm "$silence"
  until read -rt "$every" -u 9 || ! kill -0 $$ 2>/dev/null; do
    read -r done total < <(tail -c 9999 "$log" | sed -nE 's|^\[([0-9]+)/([0-9]+)\].*|\1 \2|p' | tail -n 1) || continue
    spent=$((SECONDS - begin))
    left=$((spent * (total - done) / (done > 0 ? done : 1)))
    printf "%s  %d of %d  %d:%02d, about %d:%02d left  $end" "$what" "$done" "$total" \
      $((spent / 60)) $((spent % 60)) $((left / 60)) $((left % 60))
  done
}

# Runs a command with its output in the folder's build.log, says how it goes on, and shows the end of the log if it fails.
quietly() {
  local log=$1/build.log what=$2 status=0 follower
  shift 2
  echo "$what"
  : >"$log"
  follow "$what" "$log" &
  follower=$!
  "$@" >"$log" 2>&1 </dev/null || status=$?
  kill "$follower" 2>/dev/null || true
  wait "$follower" 2>/dev/null || true
  if [ -t 1 ]; then printf '\033[K'; fi  # what is left of the line
  [ "$status" -ne 0 ] || return 0
  tail -n 40 "$log"
  echo "failed: $what (everything it said is in $log)"
  return $status
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
