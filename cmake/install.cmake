# The files of `cmake --install`, in four components, float, double, kit and mpi. Each has its headers, one library, and the files
# by which CMake and pkg-config find it.
#   xgrad_install_headers("float;double" ops walk.h ...)
#       headers of these components, which are included as <xgrad/ops/...>
#   xgrad_install(xgrad_kit kit DESCRIPTION Utilities REQUIRES xgrad CFLAGS ... LIBS -lpng ...)
#       a library as a component; the rest is what pkg-config says of it
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/xgrad)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/xgradConfig.cmake.in xgradConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(xgradConfigVersion.cmake COMPATIBILITY SameMinorVersion)

# The pkg-config files find the installation by their own place, so that it can be moved, but for folders that are elsewhere.
set(pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
set(pkgconfig_prefix ${CMAKE_INSTALL_PREFIX})
if(NOT IS_ABSOLUTE ${CMAKE_INSTALL_LIBDIR})
  file(RELATIVE_PATH to_prefix /${pkgconfig_dir} /)
  set(pkgconfig_prefix "\${pcfiledir}/${to_prefix}")
endif()
foreach(dir LIBDIR INCLUDEDIR)
  cmake_path(ABSOLUTE_PATH CMAKE_INSTALL_${dir} BASE_DIRECTORY "\${prefix}" OUTPUT_VARIABLE pkgconfig_${dir})
endforeach()

function(xgrad_install_headers components folder)
  foreach(header ${ARGN})
    get_filename_component(place ${CMAKE_INSTALL_INCLUDEDIR}/xgrad/${folder}/${header} DIRECTORY)
    foreach(component ${components})
      install(FILES ${header} DESTINATION ${place} COMPONENT ${component})
    endforeach()
  endforeach()
endfunction()
foreach(component float double)
  install(FILES ${XGRAD_INCLUDE_DIR}/xgrad/xgrad.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/xgrad COMPONENT ${component})
endforeach()

function(xgrad_install library component)
  cmake_parse_arguments(arg "" "" "DESCRIPTION;REQUIRES;CFLAGS;LIBS" ${ARGN})
  list(JOIN arg_DESCRIPTION " " description)
  list(JOIN arg_LIBS " " libs)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/xgrad.pc.in ${PROJECT_BINARY_DIR}/${library}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${library}.pc DESTINATION ${pkgconfig_dir} COMPONENT ${component})
  install(TARGETS ${library} EXPORT xgrad-${component} COMPONENT ${component}
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(EXPORT xgrad-${component} NAMESPACE xgrad:: DESTINATION ${package_dir} COMPONENT ${component})
  install(FILES ${PROJECT_BINARY_DIR}/xgradConfig.cmake ${PROJECT_BINARY_DIR}/xgradConfigVersion.cmake
                ${PROJECT_SOURCE_DIR}/cmake/xgradNative.cmake
          DESTINATION ${package_dir} COMPONENT ${component})
endfunction()
