foreach(needed GNU,12 Clang,14 AppleClang,15)
  string(REPLACE "," ";" needed ${needed})
  list(POP_FRONT needed compiler version)
  if(CMAKE_CXX_COMPILER_ID STREQUAL compiler AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS version)
    message(FATAL_ERROR "xgrad needs g++ 12, clang 14 or AppleClang 15, or newer ones, and found ${CMAKE_CXX_COMPILER_ID} "
                        "${CMAKE_CXX_COMPILER_VERSION}: -DCMAKE_CXX_COMPILER names another")
  endif()
endforeach()

# Compiler settings of every target of this project; none is inherited by a user's target.
add_library(xgrad_flags INTERFACE)
target_compile_features(xgrad_flags INTERFACE cxx_std_20)
set(CMAKE_CXX_EXTENSIONS OFF)
if(NOT EMSCRIPTEN)
  set(CMAKE_POSITION_INDEPENDENT_CODE ON)
endif()
set(CMAKE_EXPORT_COMPILE_COMMANDS ${PROJECT_IS_TOP_LEVEL})
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)

# Warnings and the compiler's launcher of other projects are theirs.
if(PROJECT_IS_TOP_LEVEL)
  target_compile_options(xgrad_flags INTERFACE -Wall -Wextra -Wpedantic)
endif()
# Without errno std::sqrt is one instruction. Nothing here lets the compiler reorder or assume away arithmetic.
target_compile_options(xgrad_flags INTERFACE -fno-math-errno)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 warns about std::string's own operator+ (its bug 105651) and about lengths that it never has (105329).
  target_compile_options(xgrad_flags INTERFACE -Wno-restrict -Wno-stringop-overflow)
endif()
if(XGRAD_WERROR)
  target_compile_options(xgrad_flags INTERFACE -Werror)
endif()
if(XGRAD_NATIVE)
  target_link_libraries(xgrad_flags INTERFACE xgrad::native)
endif()
if(XGRAD_ANY_VERSION)
  target_compile_definitions(xgrad_flags INTERFACE XGRAD_ANY_VERSION)
endif()
if(XGRAD_ASSERTIONS)
  target_compile_definitions(xgrad_flags INTERFACE _GLIBCXX_ASSERTIONS)
endif()
if(XGRAD_SANITIZE)
  list(JOIN XGRAD_SANITIZE "," sanitizers)
  target_compile_options(xgrad_flags INTERFACE -fsanitize=${sanitizers} -fno-sanitize-recover=all -fno-omit-frame-pointer
                                               -O1 -g1)
  target_link_options(xgrad_flags INTERFACE -fsanitize=${sanitizers})
endif()
if(XGRAD_COVERAGE)
  target_compile_options(xgrad_flags INTERFACE --coverage)
  target_link_options(xgrad_flags INTERFACE --coverage)
endif()

# For targets that see xtensor or xsimd: GCC 12 warns about uninitialised values inside them and inside its own
# AVX-512 intrinsics, wrongly.
add_library(xgrad_simd_flags INTERFACE)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(xgrad_simd_flags INTERFACE -Wno-maybe-uninitialized -Wno-uninitialized -Wno-array-bounds)
endif()

find_program(CCACHE ccache)
mark_as_advanced(CCACHE)
if(PROJECT_IS_TOP_LEVEL AND CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Paths relative to the source tree let several checkouts share one cache.
  # By the files that a compilation read: preprocessed text would name an older precompiled header in place of what it is
  # to hold now.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}
                                  CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_DEPEND=1 ${CCACHE})
  if(EMSCRIPTEN)  # a script, by which no cache knows the compiler
    list(INSERT CMAKE_CXX_COMPILER_LAUNCHER 3 CCACHE_COMPILERTYPE=clang CCACHE_COMPILERCHECK=string:emscripten-${EMSCRIPTEN_VERSION})
  endif()
endif()

# Precompiles the headers that most files of a target include, which takes a third of the time off a build. Every file still
# includes all that it needs: the preset clang-strict compiles without (CMAKE_DISABLE_PRECOMPILE_HEADERS). Headers are named in
# <>, since the paths of others would tell checkouts apart, which share a cache.
#   xgrad_precompile(target <header>...)
#   xgrad_precompile(target REUSE_FROM other)   reuses the precompiled headers of another target with the same flags
function(xgrad_precompile target)
  if(ARGV1 STREQUAL "REUSE_FROM")
    target_precompile_headers(${target} ${ARGN})
  else()
    target_precompile_headers(${target} PRIVATE ${ARGN})
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE -fpch-preprocess)  # for ccache
  elseif(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    target_compile_options(${target} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
  endif()
endfunction()

# Where there is clang, it compiles the tests, in half of the time of g++, and what the library in double has besides operations:
# so each test run sees both compilers. Sanitizers have one compiler for everything, and so have the presets that are not grouped.
find_program(XGRAD_CLANG clang++)
set(XGRAD_BY_CLANG "")
if(XGRAD_CLANG AND XGRAD_GROUPED AND XGRAD_BUILD_TESTS AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT XGRAD_SANITIZE
   AND NOT CMAKE_CROSSCOMPILING)
  set(XGRAD_BY_CLANG bash ${PROJECT_SOURCE_DIR}/cmake/by_clang ${CMAKE_CXX_COMPILER} ${CMAKE_CXX_COMPILER_LAUNCHER})
endif()
