# What `cmake --install` leaves behind: headers (each folder installs its own), both libraries, CMake and pkg-config files.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/xgrad)
install(FILES ${PROJECT_BINARY_DIR}/include/core/xgrad/version.h ${PROJECT_BINARY_DIR}/include/all/xgrad/xgrad.h
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/xgrad)
install(TARGETS xgrad xgrad_f64 EXPORT xgradTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT xgradTargets NAMESPACE xgrad:: DESTINATION ${package_dir})
configure_package_config_file(cmake/xgradConfig.cmake.in xgradConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(xgradConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/xgradConfig.cmake ${PROJECT_BINARY_DIR}/xgradConfigVersion.cmake
        DESTINATION ${package_dir})

# The pkg-config files find the installation by their own place, so that it can be moved.
set(pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH pkgconfig_to_prefix /${pkgconfig_dir} /)
list(TRANSFORM XGRAD_LINK_NAMES PREPEND -l OUTPUT_VARIABLE link_flags)
list(JOIN link_flags " " link_flags)
foreach(library xgrad xgrad_f64)
  set(definitions "")
  if(library STREQUAL "xgrad_f64")
    set(definitions "-DXGRAD_F64")
  endif()
  configure_file(cmake/xgrad.pc.in ${library}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${library}.pc DESTINATION ${pkgconfig_dir})
endforeach()
