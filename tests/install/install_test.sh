#!/usr/bin/env bash
# What was built can be installed, and a project outside this tree can use it: with find_package and with pkg-config.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
sandbox=$(mktemp -d)
trap 'rm -rf "$sandbox"' EXIT
prefix=$sandbox/prefix

built=${XGRAD_BUILD_DIR:-$root/build/release}
cached() { sed -n "s/^$1:.*=//p" "$built/CMakeCache.txt"; }
compiler=$(cached CMAKE_CXX_COMPILER)

cmake --install "$built" --prefix "$prefix"
cp -r "$root/tests/install" "$sandbox/outside"

echo "find_package"
cmake -S "$sandbox/outside" -B "$sandbox/build" -G "$(cached CMAKE_GENERATOR)" -DCMAKE_CXX_COMPILER="$compiler" \
  -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS="-Wall -Wextra -Wpedantic -Werror"
cmake --build "$sandbox/build" --parallel "$(nproc)"
"$sandbox/build/outside"
"$sandbox/build/outside_f64"

echo "pkg-config, from a place to which the installation was moved"
mv "$prefix" "$sandbox/moved"
export PKG_CONFIG_PATH=$(dirname "$(find "$sandbox/moved" -name xgrad.pc)")
for library in xgrad xgrad_f64; do
  # shellcheck disable=SC2046  # the flags are words
  "$compiler" -std=c++20 -O1 "$sandbox/outside/main.cpp" $(pkg-config --cflags --libs "$library") -o "$sandbox/$library"
  "$sandbox/$library"
done

echo "a user's program does not see the libraries behind xgrad"
# shellcheck disable=SC2046
"$compiler" -std=c++20 -M "$sandbox/outside/main.cpp" $(pkg-config --cflags xgrad) >"$sandbox/includes"
if grep -oE '[^ ]*/(xtensor|xtensor-blas|xtl|xsimd|nlohmann|graphviz)/[^ ]*' "$sandbox/includes"; then exit 1; fi
