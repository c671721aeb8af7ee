# What programs are linked with is libNAME.so.HOT_SOVERSION: until 1.0 each MINOR has an interface of its own, then each
# MAJOR (docs/releases.md).
set(HOT_SOVERSION ${PROJECT_VERSION_MAJOR})
if(HOT_SOVERSION EQUAL 0)
  set(HOT_SOVERSION 0.${PROJECT_VERSION_MINOR})
endif()

# hot_library(NAME OBJECTS target ... [ON our-library ...] [USES library ...] [LINK_OPTIONS option ...]): object files
# that are compiled once, linked twice. NAME is the shared library with its public symbols, which its users link against
# without knowing what it USES; NAME_internal is static, for the commands and for tests that look inside.
function(hot_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "OBJECTS;ON;USES;LINK_OPTIONS")
  list(TRANSFORM arg_OBJECTS REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>")
  add_library(${name} SHARED ${arg_OBJECTS})
  add_library(${name}_internal STATIC ${arg_OBJECTS})
  target_include_directories(${name}
    PUBLIC $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_include_directories(${name}_internal PUBLIC include ${CMAKE_CURRENT_SOURCE_DIR})
  foreach(library IN LISTS arg_ON)
    target_link_libraries(${name} PUBLIC ${library})
    target_link_libraries(${name}_internal PUBLIC ${library}_internal)
  endforeach()
  foreach(library IN LISTS arg_USES)
    target_link_libraries(${name} PRIVATE $<BUILD_INTERFACE:${library}>)
  endforeach()
  target_link_libraries(${name} PRIVATE $<BUILD_INTERFACE:hot_settings>)
  target_link_libraries(${name}_internal PUBLIC hot_settings ${arg_USES})
  target_link_options(${name} PRIVATE ${HOT_NO_UNDEFINED} ${arg_LINK_OPTIONS}
    -Wl,--version-script=${CMAKE_SOURCE_DIR}/cmake/symbols.map)
  set_property(TARGET ${name} APPEND PROPERTY LINK_DEPENDS ${CMAKE_SOURCE_DIR}/cmake/symbols.map)
  set_target_properties(${name} PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${HOT_SOVERSION})
  set_target_properties(${name} ${name}_internal PROPERTIES LINKER_LANGUAGE C)
endfunction()
