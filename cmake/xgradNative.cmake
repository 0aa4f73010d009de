# xgrad::native, for programs with elementwise operations of their own: link it, and they are compiled for the processor of
# this machine. The libraries themselves never ask for that. Part of the build and of the installation.
if(NOT TARGET xgrad::native)
  add_library(xgrad::native INTERFACE IMPORTED GLOBAL)
  set_property(TARGET xgrad::native PROPERTY INTERFACE_COMPILE_OPTIONS -march=native)
endif()
