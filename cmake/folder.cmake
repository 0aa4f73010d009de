# Two words for the library's own targets.
#   xgrad_folder(ops BELOW core)      the objects of one folder, in float (xgrad_ops) and double (xgrad_f64_ops); they see
#                                     the headers of the folders named after BELOW and no others
#   xgrad_library(xgrad core ops)     a static library of the objects of these folders

configure_file(cmake/version.h.in include/core/xgrad/version.h)
configure_file(cmake/xgrad.h include/all/xgrad/xgrad.h COPYONLY)

function(xgrad_folder folder)
  cmake_parse_arguments(arg "" "" "BELOW" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS *.cpp)
  file(GLOB headers CONFIGURE_DEPENDS *.h)

  # Headers are included as <xgrad/ops/...>; a root of its own for every folder makes an upward include fail.
  set(root ${PROJECT_BINARY_DIR}/include/${folder})
  file(MAKE_DIRECTORY ${root}/xgrad)
  file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR} ${root}/xgrad/${folder} SYMBOLIC)

  foreach(library xgrad xgrad_f64)
    set(target ${library}_${folder})
    if(sources)
      add_library(${target} OBJECT ${sources} ${headers})
      target_link_libraries(${target} PRIVATE xgrad_flags xgrad_private)
      target_compile_options(${target} PRIVATE $<$<CONFIG:RelWithDebInfo>:-O3>)
      set(scope PUBLIC)
    else()
      add_library(${target} INTERFACE)
      set(scope INTERFACE)
    endif()
    target_include_directories(${target} ${scope} ${root})
    foreach(below ${arg_BELOW})
      target_link_libraries(${target} ${scope} ${library}_${below})
    endforeach()
    target_link_libraries(${target} ${scope} xsimd)
    if(library STREQUAL "xgrad_f64")
      target_compile_definitions(${target} ${scope} XGRAD_F64)
    endif()
  endforeach()
  install(FILES ${headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/xgrad/${folder})
endfunction()

function(xgrad_library library)
  file(TOUCH ${PROJECT_BINARY_DIR}/empty.cpp)
  add_library(${library} STATIC ${PROJECT_BINARY_DIR}/empty.cpp)
  add_library(xgrad::${library} ALIAS ${library})
  set_target_properties(${library} PROPERTIES LINKER_LANGUAGE CXX)
  target_compile_features(${library} PUBLIC cxx_std_20)
  target_include_directories(${library} PUBLIC $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include/all>
                                               $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  foreach(folder ${ARGN})
    get_target_property(type ${library}_${folder} TYPE)
    if(type STREQUAL "OBJECT_LIBRARY")
      target_sources(${library} PRIVATE $<TARGET_OBJECTS:${library}_${folder}>)
    endif()
    target_include_directories(${library} PUBLIC $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include/${folder}>)
  endforeach()
  if(library STREQUAL "xgrad_f64")
    target_compile_definitions(${library} PUBLIC XGRAD_F64)
  endif()
  target_link_libraries(${library} PUBLIC xsimd)
  target_link_libraries(${library} PRIVATE Threads::Threads "$<BUILD_INTERFACE:${XGRAD_LINK_FILES}>"
                                           "$<INSTALL_INTERFACE:${XGRAD_LINK_NAMES}>")
endfunction()
