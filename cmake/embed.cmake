# Puts the files of a folder into the library, so that a program finds them wherever it runs.
#   xgrad_embed(source diagram/page diagram/render/html.h)
#       sets `source` to a file, made when the build is configured, that defines what the header declares: the text of each
#       file, by its name
function(xgrad_embed source folder header)
  file(GLOB files CONFIGURE_DEPENDS ${folder}/*)
  get_filename_component(name ${folder} NAME)
  set(cases "")
  foreach(file ${files})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    get_filename_component(file_name ${file} NAME)
    file(READ ${file} text)
    string(APPEND cases "  if (name == \"${file_name}\") return R\"embedded(${text})embedded\";\n")
  endforeach()
  file(CONFIGURE OUTPUT ${folder}.cpp @ONLY CONTENT "// Made by cmake/embed.cmake.
#include <xgrad/core/@header@>

std::string_view xgrad::detail::@name@_file(std::string_view name) {
@cases@  return {};
}
")
  set(${source} ${CMAKE_CURRENT_BINARY_DIR}/${folder}.cpp PARENT_SCOPE)
endfunction()
