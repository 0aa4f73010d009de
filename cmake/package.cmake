# `cpack -G DEB` and `cpack -G TGZ`: the components float, double and kit as one package. The preset `package` builds it.
set(CPACK_PACKAGE_NAME libxgrad-dev)
set(CPACK_PACKAGE_CONTACT "the authors of xgrad")
set(CPACK_COMPONENTS_ALL float double kit)
set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_ARCHIVE_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION libdevel)
# What programs are compiled and linked with; xtensor only by those that include <xgrad/core/array/xtensor.h>.
set(CPACK_DEBIAN_PACKAGE_DEPENDS
    "libxsimd-dev, xtl-dev, zlib1g-dev, libpng-dev, libjpeg-dev, libutf8proc-dev, libpcre2-dev")
if(XGRAD_OPENBLAS)
  string(APPEND CPACK_DEBIAN_PACKAGE_DEPENDS ", libopenblas-dev")
endif()
set(CPACK_DEBIAN_PACKAGE_SUGGESTS libxtensor-dev)
include(CPack)
