#!/usr/bin/env bash
# The build type of a project that fetches this one is its own: without one its assertions stay, and the library is optimised. Without
# being asked it has neither the instructions of this machine nor warnings, and it builds and installs nothing but what it links.
source "$(dirname "${BASH_SOURCE[0]}")/installed.sh"
[ "$(cached CMAKE_GENERATOR)" = Ninja ] || exit 0  # which prints its commands

cat >"$sandbox/CMakeLists.txt" <<'END_OF_FILE'
cmake_minimum_required(VERSION 3.25)
project(parent LANGUAGES CXX)
include(FetchContent)
FetchContent_Declare(xgrad SOURCE_DIR "${SOURCES}")
FetchContent_MakeAvailable(xgrad)
add_executable(parent main.cpp)
target_link_libraries(parent PRIVATE xgrad::xgrad)
END_OF_FILE
printf '%s\n' '#include <xgrad/core/graph/tensor.h>' 'int main() { return xgrad::variable(0).item() != 0; }' >"$sandbox/main.cpp"

flags() { # FILE: which of these are given to the compiler of a file
  ninja -C "$sandbox/build" -t commands parent >"$sandbox/commands"
  grep -E -- "-c [^ ]*$1" "$sandbox/commands" | head -n 1 | tr ' ' '\n' | sed -nE '/^-(O.|g|DNDEBUG|march=.*|W(all|extra|pedantic))$/p' | paste -sd' '
}
expect() { # BUILD_TYPE OF_PARENT OF_LIBRARY
  cmake -S "$sandbox" -B "$sandbox/build" -G Ninja -DCMAKE_CXX_COMPILER="$compiler" -DSOURCES="$root" -DCMAKE_BUILD_TYPE="$1" \
    >"$sandbox/log" 2>&1 || { cat "$sandbox/log"; exit 1; }
  grep -qx "CMAKE_BUILD_TYPE:[A-Z]*=$1" "$sandbox/build/CMakeCache.txt" || { echo "build type '$1' has become another"; exit 1; }
  local of_parent of_library
  of_parent=$(flags main.cpp) of_library=$(flags unity_core_others_0_cxx.cxx)
  [ "$of_parent" = "$2" ] || { echo "build type '$1': the parent has '$of_parent'"; exit 1; }
  [ "$of_library" = "$3" ] || { echo "build type '$1': the library has '$of_library'"; exit 1; }
}
expect "" "" "-O3 -DNDEBUG"
expect Debug -g -g

if [ "$(uname -m)" = x86_64 ]; then
  echo "kernels for several levels of processors, but where the flags of this project forbid it"
  grep -q levels.sh "$sandbox/commands"
  cmake -S "$sandbox" -B "$sandbox/build" -DCMAKE_CXX_FLAGS=-fsanitize=address >"$sandbox/log"
  grep -q "kernels without AVX2 and AVX-512, since the flags ask for -fsanitize=" "$sandbox/log"
  ninja -C "$sandbox/build" -t commands parent >"$sandbox/commands"
  if grep levels.sh "$sandbox/commands"; then exit 1; fi
fi

echo "the program compiles, and with it what it links and nothing else"  # without levels, for which kernels would be compiled first
ninja -C "$sandbox/build" -t inputs all >"$sandbox/inputs"
grep -q unity_core_others_ "$sandbox/inputs"
if grep -E 'f64|examples/|tests/(core|ops)/' "$sandbox/inputs"; then exit 1; fi
ninja -C "$sandbox/build" "$(grep 'parent[.]dir.*main[.]cpp[.]o$' "$sandbox/inputs")"
DESTDIR="$sandbox/nothing" cmake --install "$sandbox/build"
[ ! -e "$sandbox/nothing" ] || { echo "installed what is not its own"; exit 1; }
