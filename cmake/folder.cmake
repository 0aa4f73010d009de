# Two words for the library's own targets.
#   xgrad_folder(ops BELOW core USES xgrad_private COLD diagram PUBLIC_KERNELS simd.h)
#       the objects of one folder, in float (xgrad_ops) and double (xgrad_f64_ops), which build on the folders named
#       after BELOW and on the libraries named after USES, with the sources after ALSO. Its folder `kernels`
#       is compiled for several processors (levels.cmake), and so is each file that includes the loops over elements,
#       whose lambdas are kernels; but not the sources after ONCE. All else in the folders after COLD (".": all) takes
#       no time that counts when a program runs, and is compiled for a short build. Not installed are headers in
#       `private`, those in `kernels` but the ones of kernels/registers after PUBLIC_KERNELS, and core/files/json.h,
#       which includes a header of the JSON library
#   xgrad_library(xgrad float core ops)
#       a static library of the objects of these folders, whose Real is float; no target links two that differ in this

# Headers are included as <xgrad/ops/...>, here through links to the folders, after installation in the folders themselves.
# Inside of the library they are found from one another, so that they resolve without any setting.
set(XGRAD_INCLUDE_DIR ${PROJECT_SOURCE_DIR}/cmake/include)

# Which sources are compiled as one with XGRAD_GROUPED: at most eight of one room.
function(xgrad_group)
  foreach(source ${ARGN})
    file(RELATIVE_PATH room ${PROJECT_SOURCE_DIR} ${source})
    get_filename_component(room ${room} DIRECTORY)
    string(MAKE_C_IDENTIFIER ${room} room)
    math(EXPR ${room}_group "0${${room}_count} / 8")
    math(EXPR ${room}_count "0${${room}_count} + 1")
    set_property(SOURCE ${source} PROPERTY UNITY_GROUP ${room}_${${room}_group})
  endforeach()
endfunction()

function(xgrad_folder folder)
  cmake_parse_arguments(arg "" "" "BELOW;USES;ALSO;ONCE;COLD;PUBLIC_KERNELS" ${ARGN})
  file(GLOB_RECURSE hot CONFIGURE_DEPENDS *.cpp)
  file(GLOB_RECURSE headers RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} CONFIGURE_DEPENDS *.h)
  set(kernels "")
  set(cold ${arg_ALSO})
  foreach(source ${hot})
    file(RELATIVE_PATH place ${CMAKE_CURRENT_SOURCE_DIR} ${source})
    string(REGEX MATCH "^[^/]*" top ${place})
    file(STRINGS ${source} loops REGEX "^#include \"([^\"]*/)?(lambda|fused|loops)[.]h\"")
    if((loops OR place MATCHES "(^|/)kernels/") AND NOT place IN_LIST arg_ONCE)
      if(XGRAD_DISPATCH)
        list(APPEND kernels ${source})
      endif()
    elseif(top IN_LIST arg_COLD OR "." IN_LIST arg_COLD)
      list(APPEND cold ${source})
    endif()
  endforeach()
  list(REMOVE_ITEM hot ${kernels} ${cold} "")
  xgrad_group(${hot})
  xgrad_group(${cold})

  foreach(library xgrad xgrad_f64)
    set(objects "")
    foreach(part hot kernels cold)
      if(${part})
        set(target ${library}_${folder})
        if(TARGET ${target})
          set(target ${target}_${part})
        endif()
        add_library(${target} OBJECT ${${part}})
        target_link_libraries(${target} PRIVATE xgrad_flags ${arg_USES} PUBLIC xsimd)
        target_compile_options(${target} PRIVATE $<$<CONFIG:RelWithDebInfo>:-O3>)
        # The names are the same in float and in double: two shared libraries of one process must not find each other's.
        set_target_properties(${target} PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
        target_include_directories(${target} PUBLIC ${XGRAD_INCLUDE_DIR})
        foreach(below ${arg_BELOW})
          target_link_libraries(${target} PUBLIC ${library}_${below})
        endforeach()
        if(library STREQUAL "xgrad_f64")
          target_compile_definitions(${target} PUBLIC XGRAD_F64)
        endif()
        set(objects_of_part $<TARGET_OBJECTS:${target}>)
        if(part STREQUAL "kernels")
          xgrad_levels(${target} objects_of_part)
        else()
          set_target_properties(${target} PROPERTIES UNITY_BUILD ${XGRAD_GROUPED} UNITY_BUILD_MODE GROUP)
          if(NOT XGRAD_GROUPED)
            xgrad_precompile(${target} <xgrad/core/graph/grad.h>)
          endif()
        endif()
        # In groups the library in double is built for its tests, which take less time than the compiler.
        if(part STREQUAL "cold" OR (XGRAD_GROUPED AND library STREQUAL "xgrad_f64"))
          target_compile_options(${target} PRIVATE -O1)
        endif()
        list(APPEND objects ${objects_of_part})
      endif()
    endforeach()
    set_property(TARGET ${library}_${folder} PROPERTY XGRAD_OBJECTS "${objects}")
  endforeach()

  list(FILTER headers EXCLUDE REGEX "(^|/)(kernels|private)/|^files/json[.]h")
  list(TRANSFORM arg_PUBLIC_KERNELS PREPEND kernels/registers/)
  xgrad_install_headers(${folder} ${headers} ${arg_PUBLIC_KERNELS})
endfunction()

function(xgrad_library library real)
  add_library(${library} STATIC)
  add_library(xgrad::${library} ALIAS ${library})
  set_target_properties(${library} PROPERTIES LINKER_LANGUAGE CXX INTERFACE_XGRAD_REAL ${real}
                                              COMPATIBLE_INTERFACE_STRING XGRAD_REAL)
  target_compile_features(${library} PUBLIC cxx_std_20)
  target_include_directories(${library} PUBLIC $<BUILD_INTERFACE:${XGRAD_INCLUDE_DIR}>
                                               $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  set(objects_of xgrad)
  if(real STREQUAL "double")
    set(objects_of xgrad_f64)
    target_compile_definitions(${library} PUBLIC XGRAD_F64)
  endif()
  foreach(folder ${ARGN})
    get_target_property(objects ${objects_of}_${folder} XGRAD_OBJECTS)
    target_sources(${library} PRIVATE ${objects})
  endforeach()
  target_link_libraries(${library} PUBLIC xsimd)
  target_link_libraries(${library} PRIVATE Threads::Threads "$<BUILD_INTERFACE:${XGRAD_LINK_FILES}>"
                                           "$<INSTALL_INTERFACE:${XGRAD_LINK_NAMES}>")
endfunction()
