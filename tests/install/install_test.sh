#!/usr/bin/env bash
# A build can be installed, as a whole or one component, and a project outside this tree can use it: with find_package and with
# pkg-config.
# shellcheck disable=SC2046  # what pkg-config prints are words
source "$(dirname "${BASH_SOURCE[0]}")/installed.sh"

cmake --install "$built" --prefix "$prefix"
cp -r "$root/tests/install" "$sandbox/outside"

configure() { # PREFIX PROJECT [OPTION...]: configures another project
  local folder=$2
  cmake -S "$sandbox/$folder" -B "$sandbox/build_$folder" -G "$(cached CMAKE_GENERATOR)" -DCMAKE_CXX_COMPILER="$compiler" \
    -DCMAKE_PREFIX_PATH="$1" -DCMAKE_BUILD_TYPE=None "${@:3}"
}

echo "find_package"
configure "$prefix" outside -DCMAKE_CXX_FLAGS="-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror" \
  -DCMAKE_EXPORT_COMPILE_COMMANDS=ON
cmake --build "$sandbox/build_outside" --parallel "$(nproc)"
"$sandbox/build_outside/outside_f64"

echo "xgrad::native asks for this machine's instructions, and nothing else does"
"$sandbox/build_outside/native"
commands=$sandbox/build_outside/compile_commands.json
grep -q 'march=native.*/native\.cpp' "$commands"
if grep -F march= "$commands" | grep -vF /native.cpp; then exit 1; fi

echo "xgrad::kit: a command line and a picture"
drawn() { # PROGRAM
  "$1" --steps 5 --out "$sandbox/drawn" >"$sandbox/log"
  grep -qE '^result slope=(1\.99|2)[0-9.]* out=' "$sandbox/log" && grep -qF 'loss.svg' "$sandbox/log" &&
    grep -qF 'loss &amp; steps' "$sandbox/drawn/loss.svg" || { cat "$sandbox/log"; exit 1; }
  rm -r "$sandbox/drawn"
}
drawn "$sandbox/build_outside/draw"

echo "xgrad::mpi: two ranks"
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_btl_vader_single_copy_mechanism=none \
  mpirun --oversubscribe --bind-to none -n 2 "$sandbox/build_outside/ranks" | grep -qx "2 ranks"
"$sandbox/build_outside/ranks" | grep -qx "1 ranks"

echo "pkg-config, from a place to which the installation was moved"
mv "$prefix" "$sandbox/moved"
export PKG_CONFIG_PATH=$(dirname "$(find "$sandbox/moved" -name xgrad.pc)")
"$compiler" "$(find "$sandbox/build_outside" -name draw.cpp.o)" $(pkg-config --libs xgrad_kit) -o "$sandbox/draw"
drawn "$sandbox/draw"

echo "a plugin in float and one in double, in a program that knows nothing of xgrad"
cat >"$sandbox/plugin.cpp" <<'END_OF_FILE'
#include <xgrad/core/graph/grad.h>
#include <xgrad/core/runtime/parallel.h>
#include <xgrad/ops/creation/create.h>
#include <xgrad/ops/elementwise/elementwise.h>
#include <xgrad/ops/products/matmul.h>
#include <xgrad/ops/reduce/reduce.h>
extern "C" double slope(int threads) {  // of |w x|^2, w = 1, shared among threads: 2 x x'
  xgrad::set_threads(threads);
  const xgrad::Tensor w = xgrad::variable(xgrad::ones({300, 300}).value()), x = xgrad::ones({300, 1});
  return xgrad::sum(xgrad::grad(xgrad::sum(xgrad::square(xgrad::matmul(w, x))), {w})[0]).item();
}
extern "C" int real() { return sizeof(xgrad::Real); }
END_OF_FILE
cat >"$sandbox/loading.cpp" <<'END_OF_FILE'
#include <dlfcn.h>
int main(int, char** names) {
  for (int i = 1; i <= 2; ++i) {
    void* const plugin = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!plugin) return 1;
    const auto real = reinterpret_cast<int (*)()>(dlsym(plugin, "real"));
    const auto slope = reinterpret_cast<double (*)(int)>(dlsym(plugin, "slope"));
    if (real() != 4 * i || slope(1) != 300. * 300 * 600 || slope(3) != slope(1)) return 2;
  }
  return 0;
}
END_OF_FILE
for library in xgrad xgrad_f64; do
  "$compiler" -std=c++20 -fPIC -shared "$sandbox/plugin.cpp" $(pkg-config --cflags --libs $library) -o "$sandbox/plugin_$library.so"
done
"$compiler" "$sandbox/loading.cpp" -ldl -o "$sandbox/loading"
"$sandbox/loading" "$sandbox/plugin_xgrad.so" "$sandbox/plugin_xgrad_f64.so"

echo "a user's program does not see the libraries behind xgrad"
echo '#include <xgrad/xgrad.h>' >"$sandbox/all.cpp"
"$compiler" -std=c++20 -M "$sandbox/all.cpp" $(pkg-config --cflags xgrad) >"$sandbox/includes"
if grep -oE '[^ ]*/(xtensor|xtensor-blas|xtl|xsimd|nlohmann)/[^ ]*' "$sandbox/includes"; then exit 1; fi

echo "components: each is installed with its library and what finds it, and no others"
part() { # FOLDER FILES COMPONENT...: an installation of these
  local folder=$sandbox/parts/$1 files=$2 component there
  for component in "${@:3}"; do cmake --install "$built" --prefix "$folder" --component "$component"; done
  there=$(cd "$folder" && find . -name 'lib*.a' -o -name '*.pc' | sed 's#.*/##' | sort | paste -sd' ')
  [ "$there" = "$files" ] || { echo "expected $files, installed $there"; exit 1; }
}
part double "libxgrad_f64.a xgrad_f64.pc" double
part float "libxgrad.a xgrad.pc" float
[ ! -e "$sandbox/parts/float/include/xgrad/kit" ] || { echo "headers of a component that is not there"; exit 1; }
part both "libxgrad.a libxgrad_f64.a xgrad.pc xgrad_f64.pc" float double
part kit "libxgrad_kit.a xgrad_kit.pc" kit
part float_kit "libxgrad.a libxgrad_kit.a xgrad.pc xgrad_kit.pc" float kit
cp -r "$sandbox/parts/float_kit" "$sandbox/parts/without_library"
sed -i 's/(utf8proc pcre2-8)/(utf8proc no-such)/' "$(find "$sandbox/parts/without_library" -name xgradConfig.cmake)"

echo "... and find_package makes the targets of those that are asked for, or says why not"
cat >"$sandbox/parts/CMakeLists.txt" <<'END_OF_FILE'
cmake_minimum_required(VERSION 3.25)
project(parts LANGUAGES CXX)
set(CMAKE_DISABLE_FIND_PACKAGE_CLI11 ON)  # which the kit was built with, and programs do not need
set(number 0)
# The targets of a package are those of one directory: each row is one.
macro(row)
  math(EXPR number "${number} + 1")
  add_subdirectory(part part_${number})
endmacro()
function(found installed wanted)
  set(targets ${ARGN})
  row()
  set(number ${number} PARENT_SCOPE)
endfunction()
function(refused installed wanted why)
  row()
  set(number ${number} PARENT_SCOPE)
endfunction()
found(double double xgrad::xgrad_f64)
found(float "" xgrad::xgrad)
refused(float "float;double" "component double is not installed")
refused(float "float;kit" "component kit is not installed")
refused(float "float;quad" "component quad is not installed")
found(both "float;double" xgrad::xgrad xgrad::xgrad_f64)
refused(kit kit "component kit needs the component float")
found(float_kit kit xgrad::xgrad xgrad::kit)
refused(without_library kit "the library no-such is not found")
set(CMAKE_DISABLE_FIND_PACKAGE_PNG ON)
found(float_kit "" xgrad::xgrad)
refused(float_kit kit PNG)
END_OF_FILE
mkdir "$sandbox/parts/part"
cat >"$sandbox/parts/part/CMakeLists.txt" <<'END_OF_FILE'
unset(xgrad_DIR CACHE)
find_package(xgrad QUIET COMPONENTS ${wanted} PATHS ${CMAKE_SOURCE_DIR}/${installed} NO_DEFAULT_PATH)
set(said ${xgrad_NOT_FOUND_MESSAGE})
if(why AND (xgrad_FOUND OR NOT "${said}" MATCHES "${why}") OR NOT why AND NOT xgrad_FOUND)
  message(FATAL_ERROR "'${wanted}' of ${installed}: found ${xgrad_FOUND}, '${said}'")
endif()
foreach(target xgrad::xgrad xgrad::xgrad_f64 xgrad::kit)
  if(NOT why AND target IN_LIST targets)
    get_target_property(archive ${target} LOCATION)
    if(NOT archive MATCHES "/${installed}/" OR NOT EXISTS ${archive})
      message(FATAL_ERROR "'${wanted}' of ${installed}: ${target} is ${archive}")
    endif()
  elseif(NOT why AND TARGET ${target})
    message(FATAL_ERROR "'${wanted}' of ${installed}: ${target} should not be there")
  endif()
endforeach()
END_OF_FILE
configure "" parts

echo "folders outside of the prefix"
mkdir "$sandbox/apart"
cat >"$sandbox/apart/CMakeLists.txt" <<'END_OF_FILE'
cmake_minimum_required(VERSION 3.25)
project(apart VERSION 1 LANGUAGES CXX)
include(GNUInstallDirs)
set(PROJECT_SOURCE_DIR ${SOURCES})
include(${SOURCES}/cmake/install.cmake)
add_library(apart STATIC ../plugin.cpp)
xgrad_install(apart float LIBS -lz -pthread)
END_OF_FILE
said() { # [OPTION...]: where pkg-config finds it
  configure "" apart -DSOURCES="$root" "$@" >"$sandbox/log"
  sed -n '1,3p; $p' "$sandbox/build_apart/apart.pc" | paste -sd' '
}
[[ $(said -DCMAKE_INSTALL_LIBDIR=lib/some) == 'prefix=${pcfiledir}/../../../'*' libdir=${prefix}/lib/some includedir=${prefix}/include '*'-lapart -lz -pthread' ]]
[[ $(said -DCMAKE_INSTALL_INCLUDEDIR=/opt/apart) == *' libdir=${prefix}/lib/some includedir=/opt/apart '* ]]
[[ $(said -DCMAKE_INSTALL_LIBDIR=/opt/lib --install-prefix /opt) == 'prefix=/opt libdir=/opt/lib includedir=/opt/apart '* ]]

echo "the target that is installed needs no tests"
if [ "$(cached CMAKE_GENERATOR)" = Ninja ]; then
  ninja -C "$built" -t inputs libxgrad.a >"$sandbox/inputs"
  grep -qE 'core/graph/tensor[.]cpp|unity_core_others_' "$sandbox/inputs"
  if grep -E '/(tests|examples)/' "$sandbox/inputs"; then exit 1; fi
fi
