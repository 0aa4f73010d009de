#!/usr/bin/env bash
# Float and double are never mixed in one program: CMake refuses when it configures, and the linker, in whatever order it
# meets the libraries, whatever it drops; shared libraries, when they are loaded. The objects here share nothing with the libraries but core/base/config.h.
source "$(dirname "${BASH_SOURCE[0]}")/installed.sh"
cmake --install "$built" --prefix "$prefix" >/dev/null
libraries=$(dirname "$(find "$prefix" -name libxgrad.a)")

cat >"$sandbox/part.cpp" <<'END_OF_FILE'
#include <xgrad/core/base/config.h>
int part() { return static_cast<int>(sizeof(xgrad::Real)); }
END_OF_FILE
cat >"$sandbox/main.cpp" <<'END_OF_FILE'
#include <xgrad/core/base/config.h>
#ifdef WITH_PART
int part();
#else
int part() { return static_cast<int>(sizeof(xgrad::Real)); }
#endif
int main() { return part() == static_cast<int>(sizeof(xgrad::Real)) ? 0 : 1; }
END_OF_FILE

type_of() { if [ "$1" = xgrad ]; then echo float; else echo double; fi; }
# Of the libraries' members these programs take that of core/library.cpp, so libraries with no other do as well, and the linker
# need not read tens of megabytes for each of them.
mkdir "$sandbox/small"
for library in xgrad xgrad_f64; do
  (cd "$sandbox/small" && "${AR:-ar}" x "$libraries/lib$library.a" library.cpp.o && "${AR:-ar}" rc "lib$library.a" library.cpp.o)
done
# The library's own dependencies: a program has all that its number type brings along.
read -ra others < <(PKG_CONFIG_PATH=$libraries/pkgconfig pkg-config --libs-only-l xgrad | sed 's/-lxgrad //')
link() { "$compiler" "${flags[@]}" "$@" "${others[@]}" -pthread -o "$sandbox/program"; }
check_linker() { # FOLDER FLAG...: with the libraries of this folder
  local libraries=$1
  shift
  flags=("$@")
  echo "linked with ${flags[*]}"
  local own other
  compile() { "$compiler" -std=c++20 -I"$prefix/include" "${flags[@]}" -c "$@"; }
  for own in xgrad xgrad_f64; do
    local define=()
    [ $own = xgrad ] || define=(-DXGRAD_F64)
    compile "${define[@]}" "$sandbox/main.cpp" -o "$sandbox/main_$own.o"
    compile "${define[@]}" -DWITH_PART "$sandbox/main.cpp" -o "$sandbox/with_part_$own.o"
    compile "${define[@]}" "$sandbox/part.cpp" -o "$sandbox/part_$own.o"
    rm -f "$sandbox/libpart_$own.a"
    "${AR:-ar}" rc "$sandbox/libpart_$own.a" "$sandbox/part_$own.o"
  done
  for own in xgrad xgrad_f64; do
    if [ $own = xgrad ]; then other=xgrad_f64; else other=xgrad; fi
    link "$sandbox/main_$own.o" -L"$libraries" -l$own
    "$sandbox/program"
    refused "undefined (reference|symbol).*xgrad_real_is_$(type_of $own)" link "$sandbox/main_$own.o" -L"$libraries" -l$other
    # A program in one type, another library in the other, and each order of the archives.
    local part both="(multiple definition|duplicate symbol).*xgrad_real"
    for part in "$sandbox/part_$other.o" "$sandbox/libpart_$other.a"; do
      refused "$both" link "$sandbox/with_part_$own.o" "$part" -L"$libraries" -l$own -l$other
      [[ ${flags[*]} == -O0 ]] || continue  # flags decide what is dropped, not in which order libraries are met
      refused "$both" link "$sandbox/with_part_$own.o" "$part" -L"$libraries" -l$other -l$own
      refused "undefined (reference|symbol).*xgrad_real_is_float" \
        link "$sandbox/with_part_$own.o" "$part" -L"$libraries" -lxgrad_f64
      refused "undefined (reference|symbol).*xgrad_real_is_double" \
        link "$sandbox/with_part_$own.o" "$part" -L"$libraries" -lxgrad
    done
  done
}
check_linker "$sandbox/small" -O0
for own in xgrad xgrad_f64; do
  [ $own = xgrad ] && other=xgrad_f64 || other=xgrad
  link "$sandbox/main_$own.o" -L"$libraries" -l$own
  "$sandbox/program"
  refused "multiple definition" link "$sandbox/with_part_$own.o" "$sandbox/part_$other.o" -L"$libraries" -lxgrad_f64 -lxgrad
done
check_linker "$sandbox/small" -O2 -ffunction-sections -fdata-sections -Wl,--gc-sections
check_linker "$sandbox/small" -O2 -flto
for linker in gold lld; do
  if command -v ld.$linker >/dev/null; then check_linker "$sandbox/small" -O2 -fuse-ld=$linker -Wl,--gc-sections; fi
done

echo "shared libraries: one is loaded, both are not, also if the second comes late"
for own in xgrad xgrad_f64; do
  [ $own = xgrad ] && define=(-DXGRAD_SHARED) || define=(-DXGRAD_SHARED -DXGRAD_F64)
  "$compiler" -std=c++20 -fPIC -shared "${define[@]}" "$root/core/library.cpp" -Wl,--version-script="$root/cmake/exported.map" \
    -o "$sandbox/lib$own.so"
done
cat >"$sandbox/late.cpp" <<'END_OF_FILE'
#include <dlfcn.h>
int main(int, char** names) { return dlopen(names[1], RTLD_NOW | RTLD_LOCAL) ? 0 : 1; }
END_OF_FILE
alone=(-L"$sandbox" -Wl,-rpath,"$sandbox" -Wl,--no-as-needed)
for own in xgrad xgrad_f64; do
  [ $own = xgrad ] && other=xgrad_f64 || other=xgrad
  "$compiler" "$sandbox/late.cpp" "${alone[@]}" -l$own -o "$sandbox/late"
  "$sandbox/late" "$sandbox/lib$own.so"
  refused "xgrad: the libraries in float and in double" "$sandbox/late" "$sandbox/lib$other.so"
  "$compiler" "$sandbox/main_$own.o" "${alone[@]}" -l$own -l$other -o "$sandbox/both"
  refused "xgrad: the libraries in float and in double" "$sandbox/both"
done

echo "configured"
cat >"$sandbox/CMakeLists.txt" <<'END_OF_FILE'
cmake_minimum_required(VERSION 3.25)
project(mixed LANGUAGES CXX)
find_package(xgrad REQUIRED)
add_library(part STATIC part.cpp)
target_link_libraries(part ${SCOPE} xgrad::xgrad)
add_executable(mixed main.cpp)
target_compile_definitions(mixed PRIVATE WITH_PART)
target_link_libraries(mixed PRIVATE ${LINKED})
END_OF_FILE
configure() { # SCOPE LINKED
  cmake -S "$sandbox" -B "$sandbox/build" -G "$(cached CMAKE_GENERATOR)" -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_PREFIX_PATH="$prefix" \
    -DSCOPE="$1" -DLINKED="$2"
}
configure PUBLIC part >/dev/null
refused "XGRAD_REAL" configure PUBLIC "part;xgrad::xgrad_f64"
refused "XGRAD_REAL" configure PUBLIC "xgrad::xgrad_f64;part"
# PRIVATE dependencies are unknown to CMake, but not to the linker.
for linked in "part;xgrad::xgrad_f64" "xgrad::xgrad_f64;part"; do
  configure PRIVATE "$linked" >/dev/null
  refused "multiple definition.*xgrad_real" cmake --build "$sandbox/build"
done
