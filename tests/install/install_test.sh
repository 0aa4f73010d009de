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
printf '%s\n' '#include <xgrad/core/graph/tensor.h>' 'int main() { return xgrad::variable(0).item() != 0; }' >"$sandbox/hello.cpp"
for library in xgrad xgrad_f64 xgrad_kit; do
  "$compiler" -std=c++20 "$sandbox/hello.cpp" $(pkg-config --cflags --libs "$library") -o "$sandbox/$library"
  "$sandbox/$library"
done
"$compiler" "$(find "$sandbox/build_outside" -name draw.cpp.o)" $(pkg-config --libs xgrad_kit) -o "$sandbox/draw"
drawn "$sandbox/draw"

echo "a plugin in float and one in double, in a program that knows nothing of xgrad"
cat >"$sandbox/plugin.cpp" <<'END_OF_FILE'
#include <xgrad/xgrad.h>
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

part() { # COMPONENT...: an installation of these
  local component
  rm -rf "$sandbox/part"
  for component; do cmake --install "$built" --prefix "$sandbox/part" --component "$component"; done
}
installed() { # NAME...: these libraries and no others, and what finds them
  local there
  there=$(cd "$sandbox/part" && find . -name 'lib*.a' -o -name '*.pc' | sed 's#.*/##' | sort | paste -sd' ')
  [ "$there" = "$*" ] || { echo "expected $*, installed $there"; exit 1; }
}
mkdir "$sandbox/part_user"
cat >"$sandbox/part_user/CMakeLists.txt" <<'END_OF_FILE'
cmake_minimum_required(VERSION 3.25)
project(part_user LANGUAGES CXX)
find_package(xgrad REQUIRED COMPONENTS ${WANTED})
foreach(target ${THERE})
  get_target_property(archive ${target} LOCATION)
  if(NOT EXISTS ${archive})
    message(FATAL_ERROR "${target} is ${archive}")
  endif()
endforeach()
foreach(target ${ABSENT})
  if(TARGET ${target})
    message(FATAL_ERROR "${target} should not be there")
  endif()
endforeach()
END_OF_FILE
user() { configure "$sandbox/part" part_user "$@"; }

echo "one component of two, and both"
part double
installed libxgrad_f64.a xgrad_f64.pc
user -DWANTED=double -DTHERE=xgrad::xgrad_f64 -DABSENT=xgrad::xgrad
part float
installed libxgrad.a xgrad.pc
[ ! -e "$sandbox/part/include/xgrad/kit" ] || { echo "headers of a component that is not there"; exit 1; }
user -DWANTED= -DTHERE=xgrad::xgrad -DABSENT=xgrad::xgrad_f64
for component in double kit quad; do
  refused "component $component is not installed" user -DWANTED="float;$component" -DTHERE= -DABSENT=
done
part float double
installed libxgrad.a libxgrad_f64.a xgrad.pc xgrad_f64.pc
user -DWANTED="float;double" -DTHERE="xgrad::xgrad;xgrad::xgrad_f64" -DABSENT=

echo "the kit, for those who ask for it; what it was built with, but what programs need no more"
part kit
installed libxgrad_kit.a xgrad_kit.pc
refused "component kit needs the component float" user -DWANTED=kit
part float kit
installed libxgrad.a libxgrad_kit.a xgrad.pc xgrad_kit.pc
user -DWANTED= -DTHERE=xgrad::xgrad -DABSENT=xgrad::kit -DCMAKE_DISABLE_FIND_PACKAGE_PNG=ON
refused PNG user -DWANTED=kit
user -DWANTED=kit -DTHERE="xgrad::xgrad;xgrad::kit" -DABSENT= -DCMAKE_DISABLE_FIND_PACKAGE_PNG=OFF -DCMAKE_DISABLE_FIND_PACKAGE_CLI11=ON
sed -i 's/(utf8proc pcre2-8)/(utf8proc no-such)/' "$(find "$sandbox/part" -name xgradConfig.cmake)"
refused "the library no-such is not found" user -DWANTED=kit

echo "folders outside of the prefix"
mkdir "$sandbox/apart"
cat >"$sandbox/apart/CMakeLists.txt" <<'END_OF_FILE'
cmake_minimum_required(VERSION 3.25)
project(apart VERSION 1 LANGUAGES CXX)
include(GNUInstallDirs)
set(PROJECT_SOURCE_DIR ${SOURCES})
include(${SOURCES}/cmake/install.cmake)
add_library(apart STATIC ../hello.cpp)
xgrad_install(apart float LIBS -lz -pthread)
END_OF_FILE
said() { # [OPTION...]: where pkg-config finds it
  configure "" apart -DSOURCES="$root" "$@" >"$sandbox/log"
  sed -n '1,3p; $p' "$sandbox/build_apart/apart.pc" | paste -sd' '
}
[[ $(said -DCMAKE_INSTALL_LIBDIR=lib/some) == 'prefix=${pcfiledir}/../../../'*' libdir=${prefix}/lib/some includedir=${prefix}/include '*'-lapart -lz -pthread' ]]
[[ $(said -DCMAKE_INSTALL_INCLUDEDIR=/opt/apart) == *' libdir=${prefix}/lib/some includedir=/opt/apart '* ]]
[[ $(said -DCMAKE_INSTALL_LIBDIR=/opt/lib --install-prefix /opt) == 'prefix=/opt libdir=/opt/lib includedir=/opt/apart '* ]]

echo "FetchContent: the program compiles, and with it what it links and nothing else"
mkdir "$sandbox/fetching"
cat >"$sandbox/fetching/CMakeLists.txt" <<'END_OF_FILE'
cmake_minimum_required(VERSION 3.25)
project(fetching LANGUAGES CXX)
include(FetchContent)
FetchContent_Declare(xgrad SOURCE_DIR "${SOURCES}")
FetchContent_MakeAvailable(xgrad)
add_executable(fetching ../hello.cpp)
target_link_libraries(fetching PRIVATE xgrad::xgrad)
END_OF_FILE
configure "" fetching -DSOURCES="$root" -DXGRAD_NATIVE=ON  # else the levels of kernels are compiled, too
if [ "$(cached CMAKE_GENERATOR)" = Ninja ]; then
  ninja -C "$sandbox/build_fetching" -t inputs all >"$sandbox/inputs"
  grep -q unity_core_others_ "$sandbox/inputs"
  if grep -E 'f64|examples/|tests/(core|ops)/' "$sandbox/inputs"; then exit 1; fi
  ninja -C "$sandbox/build_fetching" "$(grep 'fetching[.]dir.*hello[.]cpp[.]o$' "$sandbox/inputs")"
  DESTDIR="$sandbox/nothing" cmake --install "$sandbox/build_fetching"
  [ ! -e "$sandbox/nothing" ] || { echo "installed what is not its own"; exit 1; }
fi

echo "the target that is installed needs no tests"
if [ "$(cached CMAKE_GENERATOR)" = Ninja ]; then
  ninja -C "$built" -t inputs libxgrad.a >"$sandbox/inputs"
  grep -qE 'core/graph/tensor[.]cpp|unity_core_others_' "$sandbox/inputs"
  if grep -E '/(tests|examples)/' "$sandbox/inputs"; then exit 1; fi
fi
