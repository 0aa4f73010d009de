#!/usr/bin/env bash
# Kernels compiled for several processors (cmake/levels.cmake): the level that was asked for runs, inline functions of one
# level are never taken for another's, and what would run before main is refused. In a small project of its own; that the
# library's kernels have none of it, its own build for every processor says (tests/long portable).
source "$(dirname "${BASH_SOURCE[0]}")/../support/script.sh"
[ "$(uname -m)" = x86_64 ] || { echo "no levels on $(uname -m)"; exit 0; }

cat >"$sandbox/CMakeLists.txt" <<END_OF_FILE
cmake_minimum_required(VERSION 3.25)
project(levels LANGUAGES CXX)
add_library(xgrad_flags INTERFACE)
include($root/cmake/levels.cmake)
set(PROJECT_SOURCE_DIR $root)
add_library(kernels OBJECT kernel.cpp helper.cpp)
target_compile_features(kernels PRIVATE cxx_std_20)
set_property(SOURCE kernel.cpp helper.cpp PROPERTY UNITY_GROUP one)
set_target_properties(kernels PROPERTIES UNITY_BUILD "\${XGRAD_GROUPED}" UNITY_BUILD_MODE GROUP)
xgrad_levels(kernels objects)
add_library(library STATIC \${objects})
add_executable(program main.cpp)
target_compile_features(program PRIVATE cxx_std_20)
# Symbols of the library come first, so that a shared inline function would be the library's.
target_link_libraries(program PRIVATE library)
END_OF_FILE
cat >"$sandbox/kernel.h" <<'END_OF_FILE'
#pragma once
#include <string>
#include <vector>
[[gnu::noinline]] inline std::string compiled_for() {
#if defined(__AVX512F__)
  return "v4";
#elif defined(__AVX2__)
  return "v3";
#else
  return "base";
#endif
}
struct Shape {
  virtual ~Shape() = default;
  virtual std::string level() const { return compiled_for(); }
};
struct Sum {
  explicit Sum(std::vector<float> numbers);
  virtual ~Sum();
  float operator()() const;
  std::vector<float> numbers;
};
std::string kernel();
std::string helper(const Shape& shape);
inline int counter() {
  static int count = 0;
  return ++count;
}
int count_in_kernel();
END_OF_FILE
cat >"$sandbox/kernel.cpp" <<'END_OF_FILE'
#include "kernel.h"
std::string kernel() { return compiled_for() + helper(Shape()); }
Sum::Sum(std::vector<float> given) : numbers(std::move(given)) {}
Sum::~Sum() = default;
float Sum::operator()() const {
  float total = 0;
  for (float number : numbers) total += number;
  if (numbers.empty()) throw std::string(compiled_for());
  return total;
}
END_OF_FILE
cat >"$sandbox/helper.cpp" <<'END_OF_FILE'
#include "kernel.h"
std::string helper(const Shape& shape) { return " " + shape.level() + " " + compiled_for(); }
int count_in_kernel() { return counter(); }
END_OF_FILE
cat >"$sandbox/main.cpp" <<'END_OF_FILE'
#include <cstdio>
#include "kernel.h"
const std::string before_main = kernel();
int main() {
  std::string thrown;
  try { Sum({})(); } catch (const std::string& level) { thrown = level; }
  counter();
  std::printf("%s, thrown %s, own %s %s, sum %g, count %d, before main %s\n", kernel().c_str(), thrown.c_str(),
              compiled_for().c_str(), Shape().level().c_str(), Sum({1, 2, 3})(), count_in_kernel(), before_main.c_str());
}
END_OF_FILE

build() { cmake -S "$sandbox" -B "$sandbox/build" "$@" && cmake --build "$sandbox/build"; }
says() { # LEVEL, as asked for: what the program says
  local level=$1 out
  out=$(XGRAD_LEVEL=$2 "$sandbox/build/program")
  [ "$out" = "$level $level $level, thrown $level, own base base, sum 6, count 2, before main $level $level $level" ] ||
    { echo "asked for '$2', expected $level, got: $out"; exit 1; }
}

if grep -qw avx512bw /proc/cpuinfo && grep -qw avx512vl /proc/cpuinfo; then best=v4
elif grep -qw avx2 /proc/cpuinfo && grep -qw bmi2 /proc/cpuinfo; then best=v3
else best=base
fi
compilers=(g++)
if command -v clang++ >/dev/null; then compilers+=(clang++); fi
for compiler in "${compilers[@]}"; do
  rm -rf "$sandbox/build"
  for options in "-O3 -DNDEBUG" "-O3 -DNDEBUG, grouped" -g "-O2 -flto -DNDEBUG, grouped"; do
    echo "the levels of a build by $compiler $options"
    grouped=OFF flags=${options%, grouped}
    [ "$flags" = "$options" ] || grouped=ON
    build "-DCMAKE_CXX_COMPILER=$compiler" "-DCMAKE_CXX_FLAGS=$flags" -DXGRAD_GROUPED=$grouped >"$sandbox/log" 2>&1 ||
      { tail -n 30 "$sandbox/log"; exit 1; }
    says $best ""
    says base base
    [ $best = base ] || says v3 v3
    says $best v4
  done
done

echo "a level that is none is said to be ignored"
says $best V3 2>"$sandbox/errors"
grep -q "XGRAD_LEVEL is base, v3 or v4, and not 'V3'" "$sandbox/errors"

echo "a program for every processor has no wide registers outside of the levels"
if objdump -d "$sandbox/build/kernels_levels/base.o" | grep -E '%[yz]mm'; then exit 1; fi

refused() { # SOURCE, WHY
  cp "$sandbox/helper.cpp" "$sandbox/helper.good"
  echo "$1" >>"$sandbox/helper.cpp"
  if build >"$sandbox/log" 2>&1; then echo "built"; exit 1; fi
  grep -q "$2" "$sandbox/log" || { tail -n 30 "$sandbox/log"; exit 1; }
  mv "$sandbox/helper.good" "$sandbox/helper.cpp"
}
echo "what runs before main is refused, and variables"
refused 'const std::string early = kernel() + " before main";' "initialisers that run before main"
refused 'int variable = 1;' "variables that other files see"
