# Two words for the library's own targets.
#   xgrad_folder(ops KERNELS BELOW core USES xgrad_private)
#       the objects of one folder, in float (xgrad_ops) and double (xgrad_f64_ops), which build on the folders named
#       after BELOW and on the libraries named after USES; KERNELS: worth compiling for
#       several processors (levels.cmake)
#   xgrad_library(xgrad float core ops)
#       a static library of the objects of these folders, whose Real is float; no target links two that differ in this

# Headers are included as <xgrad/ops/...>, here through links to the folders, after installation in the folders themselves.
# Inside of the library they are found from one another, so that they resolve without any setting.
set(XGRAD_INCLUDE_DIR ${PROJECT_SOURCE_DIR}/cmake/include)

function(xgrad_folder folder)
  cmake_parse_arguments(arg "KERNELS" "" "BELOW;USES" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS *.cpp)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS *.h)

  foreach(library xgrad xgrad_f64)
    set(target ${library}_${folder})
    add_library(${target} OBJECT ${sources} ${headers})
    target_link_libraries(${target} PRIVATE xgrad_flags ${arg_USES})
    target_compile_options(${target} PRIVATE $<$<CONFIG:RelWithDebInfo>:-O3>)
    # The names are the same in float and in double; two shared libraries of one process must not find each other's.
    set_target_properties(${target} PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
    target_include_directories(${target} PUBLIC ${XGRAD_INCLUDE_DIR})
    foreach(below ${arg_BELOW})
      target_link_libraries(${target} PUBLIC ${library}_${below})
    endforeach()
    target_link_libraries(${target} PUBLIC xsimd)
    if(library STREQUAL "xgrad_f64")
      target_compile_definitions(${target} PUBLIC XGRAD_F64)
    endif()
    set(objects $<TARGET_OBJECTS:${target}>)
    if(arg_KERNELS AND XGRAD_DISPATCH)
      xgrad_levels(${target} objects)
    endif()
    set_property(TARGET ${target} PROPERTY XGRAD_OBJECTS "${objects}")
  endforeach()
  xgrad_install_headers(${folder} ${headers})
endfunction()

function(xgrad_library library real)
  add_library(${library} STATIC)
  add_library(xgrad::${library} ALIAS ${library})
  set_target_properties(${library} PROPERTIES LINKER_LANGUAGE CXX INTERFACE_XGRAD_REAL ${real}
                                              COMPATIBLE_INTERFACE_STRING XGRAD_REAL)
  target_compile_features(${library} PUBLIC cxx_std_20)
  target_include_directories(${library} PUBLIC $<BUILD_INTERFACE:${XGRAD_INCLUDE_DIR}>
                                               $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  foreach(folder ${ARGN})
    get_target_property(objects ${library}_${folder} XGRAD_OBJECTS)
    target_sources(${library} PRIVATE ${objects})
  endforeach()
  if(library STREQUAL "xgrad_f64")
    target_compile_definitions(${library} PUBLIC XGRAD_F64)
  endif()
  target_link_libraries(${library} PUBLIC xsimd)
  target_link_libraries(${library} PRIVATE Threads::Threads "$<BUILD_INTERFACE:${XGRAD_LINK_FILES}>"
                                           "$<INSTALL_INTERFACE:${XGRAD_LINK_NAMES}>")
endfunction()
