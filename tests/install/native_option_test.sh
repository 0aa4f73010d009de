#!/usr/bin/env bash
# xgrad::native asks for the processor of this machine by an option that the compiler knows: here compilers that refuse some.
source "$(dirname "${BASH_SOURCE[0]}")/installed.sh"

cat >"$sandbox/CMakeLists.txt" <<'END_OF_FILE'
cmake_minimum_required(VERSION 3.25)
project(native LANGUAGES CXX)
set(CMAKE_SYSTEM_PROCESSOR arm64)
include("${SOURCES}/cmake/xgradNative.cmake")
file(GENERATE OUTPUT option CONTENT "$<TARGET_PROPERTY:xgrad::native,INTERFACE_COMPILE_OPTIONS>\n")
END_OF_FILE
asks_for() { # OPTION REFUSED: the option where the compiler refuses those that fit the pattern
  printf '#!/bin/bash\n[[ "$*" != *%s* ]] || { echo "error: unknown option" >&2; exit 1; }\nexec %s "${@//-mcpu=native/-mtune=native}"\n' \
    "$2" "$compiler" >"$sandbox/compiler"
  chmod +x "$sandbox/compiler"
  rm -rf "$sandbox/build"
  cmake -S "$sandbox" -B "$sandbox/build" -G "$(cached CMAKE_GENERATOR)" -DCMAKE_CXX_COMPILER="$sandbox/compiler" -DSOURCES="$root" \
    >"$sandbox/log" 2>&1 || { cat "$sandbox/log"; exit 1; }
  [ "$(cat "$sandbox/build/option")" = "$1" ] || { echo "not '$1' but '$(cat "$sandbox/build/option")'"; exit 1; }
}
asks_for -march=native nothing
asks_for -mcpu=native -march=native
asks_for "" -m??\*=native
