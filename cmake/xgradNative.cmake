# xgrad::native, for programs with elementwise operations of their own: link it, and they are compiled for the processor of
# this machine. The libraries themselves never ask for that. Part of the build and of the installation.
if(NOT TARGET xgrad::native)
  # For ARM some compilers know this option alone, and compilers for other machines none.
  set(xgrad_native_option -march=native)
  if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    include(CheckCXXCompilerFlag)
    check_cxx_compiler_flag(-march=native XGRAD_HAS_MARCH_NATIVE)
    check_cxx_compiler_flag(-mcpu=native XGRAD_HAS_MCPU_NATIVE)
    if(NOT XGRAD_HAS_MARCH_NATIVE)
      set(xgrad_native_option $<$<BOOL:${XGRAD_HAS_MCPU_NATIVE}>:-mcpu=native>)
    endif()
  endif()
  add_library(xgrad::native INTERFACE IMPORTED GLOBAL)
  set_property(TARGET xgrad::native PROPERTY INTERFACE_COMPILE_OPTIONS ${xgrad_native_option})
endif()
