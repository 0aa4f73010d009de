#!/usr/bin/env bash
# Compiles every source of library and kit for macOS 14 on Apple silicon, by clang with the headers of macOS that the Python package
# ziglang has, and links a program, in which only libraries of others are missing. Nothing is run. The last line says how
# many files compile.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../../cmake/build.sh"
cd "$source_dir"

cmake/setup packages.txt packages_tests.txt
tools=$source_dir/build/macos-tools
[ -x "$tools/ziglang/zig" ] || python3 -m pip install --quiet --target "$tools" ziglang==0.17.1
mkdir -p "$tools/bin"
for tool in c++ ar ranlib; do
  target=
  [ $tool != c++ ] || target="-target aarch64-macos.14.0"
  printf '#!/bin/sh\nexec "%s" %s %s "$@"\n' "$tools/ziglang/zig" $tool "$target" >"$tools/bin/$tool"
  chmod +x "$tools/bin/$tool"
done
export ZIG_GLOBAL_CACHE_DIR=$tools/cache ZIG_LOCAL_CACHE_DIR=$tools/cache
tests/systems/root.sh build/macos-root "${XGRAD_SUITE:-sid}" arm64 download libxtensor-dev libxtensor-blas-dev xtl-dev libxsimd-dev \
  nlohmann-json3-dev libcli11-dev libutf8proc-dev libpcre2-dev libpng-dev libjpeg62-turbo-dev zlib1g-dev

cmake -S . --preset grouped -B build/macos --toolchain tests/systems/macos.cmake -DXGRAD_NATIVE=OFF -DXGRAD_BLAS=OFF \
  -DXGRAD_BUILD_TESTS=OFF -DCMAKE_CXX_FLAGS_RELEASE="-O1 -DNDEBUG"
cmake --build build/macos --parallel "$(nproc)" --target xgrad xgrad_f64 xgrad_kit xgrad_mpi

# Of the libraries of others, this program takes one function of zlib, which is not there for a Mac.
cat >build/macos/program.cpp <<'END'
#include <xgrad/xgrad.h>
extern "C" unsigned long crc32_z(unsigned long, const unsigned char*, unsigned long) { return 0; }
int main() { return xgrad::sum(xgrad::ones({2})).item() != 2; }
END
"$tools/bin/c++" -std=c++20 -Icmake/include build/macos/program.cpp build/macos/libxgrad.a -o build/macos/program
echo "$(find core ops nn optim examples/kit -name '*.cpp' | wc -l) files compile for macOS, and a program links"
