# The files of `cmake --install`, in four components, float, double, kit and mpi. Each has its headers, one library, and the files
# by which CMake and pkg-config find it. Components that are not named are installed if their library has been built.
#   xgrad_install_headers(ops walk.h ...)   headers that are included as <xgrad/ops/...>
#   xgrad_install(xgrad float)              a library as a component
#   xgrad_install_kit(plot.h ...)           the component kit, with headers that are included as <xgrad/kit/...>
#   xgrad_install_mpi()                     the component mpi, whose headers are the kit's
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/xgrad)
set(pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# Says so before anything is copied; given another library, one of the two has to be there.
function(xgrad_check_before_install library component)
  set(is_needed "CMAKE_INSTALL_COMPONENT")
  if(ARGN)
    string(APPEND is_needed " OR NOT EXISTS \"$<TARGET_FILE:${ARGN}>\"")
  endif()
  install(CODE "
  if(NOT EXISTS \"$<TARGET_FILE:${library}>\")
    set(reason \"xgrad: no component ${component}, the target ${library} has not been built\")
    if(${is_needed})
      message(FATAL_ERROR \"\${reason}\")
    endif()
    message(STATUS \"\${reason}\")
  endif()" COMPONENT ${component})
endfunction()
xgrad_check_before_install(xgrad float xgrad_f64)
xgrad_check_before_install(xgrad_f64 double xgrad)

function(xgrad_install_headers folder)
  foreach(header ${ARGN})
    get_filename_component(place xgrad/${folder}/${header} DIRECTORY)
    foreach(component float double)
      install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/${place} COMPONENT ${component})
    endforeach()
  endforeach()
endfunction()
foreach(component float double)
  install(FILES ${XGRAD_INCLUDE_DIR}/xgrad/xgrad.h
          DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/xgrad COMPONENT ${component})
endforeach()

set(XGRAD_FILE_PREFIX ${CMAKE_STATIC_LIBRARY_PREFIX})
set(XGRAD_FILE_SUFFIX ${CMAKE_STATIC_LIBRARY_SUFFIX})
if(BUILD_SHARED_LIBS)
  set(XGRAD_FILE_PREFIX ${CMAKE_SHARED_LIBRARY_PREFIX})
  set(XGRAD_FILE_SUFFIX ${CMAKE_SHARED_LIBRARY_SUFFIX})
endif()
configure_package_config_file(cmake/xgradConfig.cmake.in xgradConfig.cmake INSTALL_DESTINATION ${package_dir}
                              PATH_VARS CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file(xgradConfigVersion.cmake COMPATIBILITY SameMinorVersion)

# Files that make sense only beside the library.
function(xgrad_install_with library component folder)
  list(JOIN ARGN "\" \"" files)
  install(CODE "
  if(EXISTS \"$<TARGET_FILE:${library}>\")
    file(INSTALL \"${files}\" DESTINATION \"\${CMAKE_INSTALL_PREFIX}/${folder}\")
  endif()" COMPONENT ${component})
endfunction()

# The pkg-config file finds the installation by its own place, so that it can be moved.
function(xgrad_install_pkgconfig library component description requires definitions link_flags)
  file(RELATIVE_PATH pkgconfig_to_prefix /${pkgconfig_dir} /)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/xgrad.pc.in ${PROJECT_BINARY_DIR}/${library}.pc @ONLY)
  xgrad_install_with(${library} ${component} ${pkgconfig_dir} ${PROJECT_BINARY_DIR}/${library}.pc)
endfunction()

# A library, and the files by which CMake finds it.
function(xgrad_install_target library component)
  install(TARGETS ${library} EXPORT xgrad-${component} COMPONENT ${component}
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} OPTIONAL
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} OPTIONAL)
  install(EXPORT xgrad-${component} NAMESPACE xgrad:: DESTINATION ${package_dir} COMPONENT ${component})
  install(FILES ${PROJECT_BINARY_DIR}/xgradConfig.cmake ${PROJECT_BINARY_DIR}/xgradConfigVersion.cmake
                ${PROJECT_SOURCE_DIR}/cmake/xgradNative.cmake
          DESTINATION ${package_dir} COMPONENT ${component})
endfunction()

function(xgrad_install library component)
  xgrad_install_target(${library} ${component})
  set(definitions "")
  if(component STREQUAL "double")
    set(definitions "-DXGRAD_F64")
  endif()
  list(JOIN XGRAD_LINK_FLAGS " " link_flags)
  xgrad_install_pkgconfig(${library} ${component} "${PROJECT_DESCRIPTION}" "" "${definitions}" "${link_flags} -pthread")
endfunction()

function(xgrad_install_kit)
  xgrad_check_before_install(xgrad_kit kit)
  xgrad_install_target(xgrad_kit kit)
  foreach(header ${ARGN})
    get_filename_component(place ${CMAKE_INSTALL_INCLUDEDIR}/xgrad/kit/${header} DIRECTORY)
    xgrad_install_with(xgrad_kit kit ${place} ${CMAKE_CURRENT_SOURCE_DIR}/${header})
  endforeach()
  xgrad_install_pkgconfig(xgrad_kit kit "Utilities for programs with xgrad: plots, text, command lines" xgrad "" "-lutf8proc -lpcre2-8 -lpng -ljpeg -lz")
endfunction()

function(xgrad_install_mpi)
  xgrad_check_before_install(xgrad_mpi mpi)
  xgrad_install_target(xgrad_mpi mpi)
  set(links "")
  if(MPI_CXX_FOUND)
    set(links -lmpi)
  endif()
  xgrad_install_pkgconfig(xgrad_mpi mpi "Programs with xgrad of several ranks" xgrad_kit "" "${links}")
endfunction()
