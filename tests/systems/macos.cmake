# Compiles for macOS 14 on Apple silicon by what tests/systems/macos.sh has unpacked: clang with the headers of macOS, and the
# headers of Debian's newest packages, whose versions are near those of Homebrew.
set(CMAKE_SYSTEM_NAME Darwin)
set(CMAKE_SYSTEM_PROCESSOR arm64)
set(CMAKE_OSX_SYSROOT "")  # the compiler knows its headers
get_filename_component(build ${CMAKE_CURRENT_LIST_DIR}/../../build ABSOLUTE)
foreach(tool CXX_COMPILER:c++ AR:ar RANLIB:ranlib)
  string(REPLACE ":" ";" tool ${tool})
  list(GET tool 0 variable)
  list(GET tool 1 name)
  set(CMAKE_${variable} ${build}/macos-tools/bin/${name})
endforeach()
set(CMAKE_PREFIX_PATH ${build}/macos-root/usr)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)  # a folder of Debian's, which also has headers
set(CMAKE_CXX_FLAGS_INIT "-isystem ${build}/macos-root/usr/include/aarch64-linux-gnu")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
