# Compiles for browsers, and for node, by what cmake/web/setup has unpacked: WebAssembly with registers of 128 bits and exceptions, and
# without threads.
get_filename_component(build ${CMAKE_CURRENT_LIST_DIR}/../../build ABSOLUTE)
set(EMSCRIPTEN_SYSTEM_PROCESSOR wasm32)
set(CMAKE_FIND_ROOT_PATH ${build}/web-headers)
set(CMAKE_LIBRARY_ARCHITECTURE x86_64-linux-gnu)  # a folder of Debian's, which has CMake's files of headers
set(CMAKE_CXX_FLAGS_INIT "-msimd128 -fwasm-exceptions")
include(${build}/web-root/usr/share/emscripten/cmake/Modules/Platform/Emscripten.cmake)
# Known without a try, each of which takes seconds.
set(CMAKE_HAVE_LIBC_PTHREAD ON CACHE INTERNAL "")  # functions that start no thread
set(XGRAD_HAS_MARCH_NATIVE OFF CACHE INTERNAL "")
set(XGRAD_HAS_MCPU_NATIVE OFF CACHE INTERNAL "")
