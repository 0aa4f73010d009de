# The dependencies of the library. All are private, except xsimd, which <xgrad/ops/elementwise/fused.h> includes.
# Versions of headers that all tests have passed with: others could change numbers, or do not compile.
macro(xgrad_find_headers name least last)
  find_package(${name} REQUIRED)
  if(NOT XGRAD_ANY_VERSION AND NOT "${${name}_VERSION}." MATCHES "^${last}\\." AND
     ("${${name}_VERSION}" VERSION_LESS ${least} OR "${${name}_VERSION}" VERSION_GREATER ${last}))
    message(FATAL_ERROR "xgrad needs ${name} ${least} to ${last}, and found ${${name}_VERSION} in ${${name}_DIR}; "
                        "-DXGRAD_ANY_VERSION=ON takes it all the same: run the tests then")
  endif()
endmacro()
find_package(Threads REQUIRED)
xgrad_find_headers(xtensor 0.24 0.27)
xgrad_find_headers(xsimd 8.1 14)
find_package(nlohmann_json REQUIRED)
find_package(ZLIB REQUIRED)

# xtensor-blas is headers alone; its package would look for a LAPACK, which OpenBLAS has in it.
find_path(XTENSOR_BLAS_INCLUDE_DIR xtensor-blas/xblas.hpp REQUIRED)
mark_as_advanced(XTENSOR_BLAS_INCLUDE_DIR)

if(NOT BLA_VENDOR)
  set(BLA_VENDOR OpenBLAS)
  find_package(BLAS QUIET)
  set(XGRAD_OPENBLAS ${BLAS_FOUND})
  unset(BLA_VENDOR)
endif()
if(NOT BLAS_FOUND)
  find_package(BLAS REQUIRED)
  message(WARNING "xgrad: OpenBLAS was not found, using ${BLAS_LIBRARIES}; matrix products may be many times slower")
endif()
if(NOT XGRAD_OPENBLAS)
  find_package(LAPACK REQUIRED)  # OpenBLAS has it in it
endif()

# The dependencies of the sources of core and ops. The folders above do without.
add_library(xgrad_private INTERFACE)
target_link_libraries(xgrad_private INTERFACE xgrad_simd_flags xtensor nlohmann_json::nlohmann_json ZLIB::ZLIB
                                        Threads::Threads)
target_include_directories(xgrad_private SYSTEM INTERFACE ${XTENSOR_BLAS_INCLUDE_DIR})
if(XGRAD_OPENBLAS)
  target_compile_definitions(xgrad_private INTERFACE XGRAD_OPENBLAS=1)
endif()

# The libraries that a program links beside libxgrad.a: full paths in this build, plain names after installation.
set(XGRAD_LINK_FILES ${LAPACK_LIBRARIES} ${BLAS_LIBRARIES} ${ZLIB_LIBRARIES})
foreach(file ${XGRAD_LINK_FILES})
  get_filename_component(name ${file} NAME_WE)
  string(REGEX REPLACE "^(lib|-l)" "" name ${name})
  list(APPEND XGRAD_LINK_NAMES ${name})
endforeach()
