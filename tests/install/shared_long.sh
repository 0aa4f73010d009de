#!/usr/bin/env bash
# The library as a shared one: its file has its version, it shows the names of xgrad and no others, and programs find it.
# shellcheck disable=SC2046  # what pkg-config prints are words
source "$(dirname "${BASH_SOURCE[0]}")/installed.sh"

cmake -S "$root" -B "$sandbox/shared" -G "$(cached CMAKE_GENERATOR)" -DCMAKE_CXX_COMPILER="$compiler" -DBUILD_SHARED_LIBS=ON \
  -DXGRAD_GROUPED=ON -DXGRAD_BUILD_TESTS=OFF -DXGRAD_BUILD_EXAMPLES=OFF >"$sandbox/log"
cmake --build "$sandbox/shared" --parallel "$(nproc)" --target xgrad
cmake --install "$sandbox/shared" --prefix "$prefix" --component float >"$sandbox/log"
library=$(find "$prefix" -name libxgrad.so)

version=$(sed -nE 's/^#define XGRAD_VERSION "(.*)\..*"/\1/p' "$root/core/base/config.h")
grep -qE "SONAME +libxgrad[.]so[.]$version$" < <(objdump -p "$library")

echo "the names that it shows: functions, data, weak ones"
nm -D --defined-only "$library" >"$sandbox/names"
awk '{ ++count[$2] } END { for (kind in count) print "  " kind, count[kind] }' "$sandbox/names" | sort
if grep -vE ' (_Z.*5xgrad|xgrad_real)' "$sandbox/names"; then exit 1; fi
[ "$(grep -c ' T ' "$sandbox/names")" -gt 1000 ]

echo "programs"
printf '%s\n' '#include <xgrad/xgrad.h>' '#include <xgrad/core/base/error.h>' 'int main() {' \
  '  try { return matmul(xgrad::ones({2, 3}), xgrad::ones({2, 3})).item() != 0; }' \
  '  catch (const xgrad::ShapeError&) { return 0; }' '}' >"$sandbox/hello.cpp"
PKG_CONFIG_PATH=$(dirname "$library")/pkgconfig
export PKG_CONFIG_PATH
"$compiler" -std=c++20 "$sandbox/hello.cpp" $(pkg-config --cflags --libs xgrad) -o "$sandbox/hello"
LD_LIBRARY_PATH=$(dirname "$library") "$sandbox/hello"
printf '%s\n' 'cmake_minimum_required(VERSION 3.25)' 'project(hello LANGUAGES CXX)' 'find_package(xgrad REQUIRED COMPONENTS float)' \
  'add_executable(hello hello.cpp)' 'target_link_libraries(hello PRIVATE xgrad::xgrad)' >"$sandbox/CMakeLists.txt"
cmake -S "$sandbox" -B "$sandbox/build" -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_PREFIX_PATH="$prefix" >"$sandbox/log"
cmake --build "$sandbox/build"
"$sandbox/build/hello"
