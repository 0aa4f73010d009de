#!/usr/bin/env bash
# The first lines of the README: a project fetches the sources, and programs in float and in double, for every processor, are
# linked and run. Takes the time of two builds of the library.
source "$(dirname "${BASH_SOURCE[0]}")/installed.sh"

cat >"$sandbox/CMakeLists.txt" <<'END_OF_FILE'
cmake_minimum_required(VERSION 3.25)
project(fetched LANGUAGES CXX)
include(FetchContent)
FetchContent_Declare(xgrad SOURCE_DIR "${SOURCES}")
FetchContent_MakeAvailable(xgrad)
foreach(library xgrad xgrad_f64)
  add_executable(with_${library} main.cpp)
  target_link_libraries(with_${library} PRIVATE xgrad::${library})
endforeach()
END_OF_FILE
cp "$root/tests/install/main.cpp" "$sandbox"
cmake -S "$sandbox" -B "$sandbox/build" -G "$(cached CMAKE_GENERATOR)" -DCMAKE_CXX_COMPILER="$compiler" -DSOURCES="$root" >"$sandbox/log"
cmake --build "$sandbox/build" --parallel "$(nproc)" --target with_xgrad with_xgrad_f64
for library in xgrad xgrad_f64; do
  for level in base v3 v4; do XGRAD_LEVEL=$level "$sandbox/build/with_$library"; done
done
