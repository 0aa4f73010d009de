# Programs that travel: with XGRAD_NATIVE=OFF on x86-64, kernels are compiled three times, for every x86-64 processor, for
# those with AVX2 and for those with AVX-512, and the program chooses when it starts.
#   xgrad_levels(xgrad_ops_kernels objects)   the objects of a target, with those of all levels for every function
#
# The sources know nothing of it. In the objects of a level every function gets a name of its own (exp becomes exp.v4), also
# the inline ones: otherwise the linker would take, of the copies of one std::vector function, perhaps the one with AVX-512.
# The name that callers know is a jump to the chosen one (levels.cpp).
#
# Flags of another project can forbid levels. Sanitizers and counters put initialisers into objects: kernels are then compiled once,
# for every processor. With -flto objects have no functions yet: kernels are compiled without it.

set(XGRAD_LEVELS base v3 v4)
set(XGRAD_LEVEL_v3 -march=x86-64-v3)
set(XGRAD_LEVEL_v4 -march=x86-64-v4 -mprefer-vector-width=512)

set(XGRAD_DISPATCH OFF)
if(NOT XGRAD_NATIVE AND NOT XGRAD_SANITIZE AND NOT XGRAD_COVERAGE AND UNIX AND NOT APPLE
   AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64" AND CMAKE_OBJCOPY AND CMAKE_NM)
  set(XGRAD_DISPATCH ON)
  get_directory_property(XGRAD_GIVEN COMPILE_OPTIONS)
  string(TOUPPER CMAKE_CXX_FLAGS_${CMAKE_BUILD_TYPE} flags)
  string(APPEND XGRAD_GIVEN " ${CMAKE_CXX_FLAGS} ${${flags}}")
  if(XGRAD_GIVEN MATCHES "-fsanitize=|--coverage|-fprofile-")
    message(STATUS "xgrad: kernels without AVX2 and AVX-512, since the flags ask for ${CMAKE_MATCH_0}")
    set(XGRAD_DISPATCH OFF)
  endif()
endif()

# Functions of this target are compiled into its objects, and not by the linker.
function(xgrad_without_lto target)
  set_property(TARGET ${target} PROPERTY INTERPROCEDURAL_OPTIMIZATION OFF)
  if(XGRAD_GIVEN MATCHES "-flto")
    target_compile_options(${target} PRIVATE -fno-lto)
  endif()
endfunction()

function(xgrad_levels target objects)
  set(dir ${CMAKE_CURRENT_BINARY_DIR}/${target}_levels)
  set(inputs "")
  get_target_property(sources ${target} SOURCES)
  foreach(level ${XGRAD_LEVELS})
    set(of_level ${target})
    if(NOT level STREQUAL "base")
      # The same sources with everything that the first target was given, and one option more.
      set(of_level ${target}_${level})
      add_library(${of_level} OBJECT ${sources})
      target_link_libraries(${of_level} PRIVATE $<TARGET_PROPERTY:${target},LINK_LIBRARIES>)
      target_include_directories(${of_level} PRIVATE $<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>)
      target_compile_definitions(${of_level} PRIVATE $<TARGET_PROPERTY:${target},COMPILE_DEFINITIONS>
                                                    XGRAD_FURTHER_LEVEL)
      target_compile_options(${of_level} PRIVATE $<TARGET_PROPERTY:${target},COMPILE_OPTIONS> ${XGRAD_LEVEL_${level}})
      set_target_properties(${of_level} PROPERTIES UNITY_BUILD "${XGRAD_GROUPED}" UNITY_BUILD_MODE GROUP)
    endif()
    xgrad_without_lto(${of_level})
    list(APPEND inputs ${level} $<TARGET_OBJECTS:${of_level}>)
    list(APPEND depends $<TARGET_OBJECTS:${of_level}>)
    list(APPEND outputs ${dir}/${level}.o)
  endforeach()
  add_custom_command(
    OUTPUT ${outputs} ${dir}/entries.inc
    DEPENDS ${depends} ${PROJECT_SOURCE_DIR}/cmake/levels.sh
    COMMAND ${CMAKE_COMMAND} -E env NM=${CMAKE_NM} OBJCOPY=${CMAKE_OBJCOPY} LD=${CMAKE_LINKER}
            bash ${PROJECT_SOURCE_DIR}/cmake/levels.sh ${dir} ${inputs}
    COMMAND_EXPAND_LISTS VERBATIM COMMENT "Naming the levels of ${target}")
  set_source_files_properties(${outputs} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)

  add_library(${target}_entries OBJECT ${PROJECT_SOURCE_DIR}/cmake/levels.cpp ${dir}/entries.inc)
  target_link_libraries(${target}_entries PRIVATE xgrad_flags)
  target_compile_definitions(${target}_entries PRIVATE XGRAD_ENTRIES="${dir}/entries.inc")
  xgrad_without_lto(${target}_entries)
  set(${objects} ${outputs} $<TARGET_OBJECTS:${target}_entries> PARENT_SCOPE)
endfunction()
