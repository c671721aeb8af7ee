# The sonames are libNAME.so.HOT_SOVERSION: until 1.0 each MINOR version has its own interface, then each MAJOR version
# (docs/releases.md).
set(HOT_SOVERSION ${PROJECT_VERSION_MAJOR})
if(HOT_SOVERSION EQUAL 0)
  set(HOT_SOVERSION 0.${PROJECT_VERSION_MINOR})
endif()

# The functions of the public headers, for the linker: "hot_a; hot_b; ".
file(GLOB hot_public_headers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/*/include/hotfiber/*.h)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${hot_public_headers})
set(HOT_PUBLIC_SYMBOLS "")
foreach(header IN LISTS hot_public_headers)
  file(READ ${header} text)
  string(REGEX REPLACE "/\\*([^*]|\\*+[^*/])*\\*+/" "" text "${text}")
  string(REGEX MATCHALL "\nHOT_API [^;(]*[ *\n]hot_[a-z0-9_]+\\(" functions "${text}")
  foreach(function IN LISTS functions)
    string(REGEX REPLACE ".*[ *\n](hot_[a-z0-9_]+)\\(" "\\1" function "${function}")
    string(APPEND HOT_PUBLIC_SYMBOLS "${function}; ")
  endforeach()
endforeach()
configure_file(cmake/symbols.map ${CMAKE_BINARY_DIR}/symbols.map @ONLY)
# hotkernels has not the functions of hotfiber: newer linkers would complain of names that are not there.
include(CheckLinkerFlag)
check_linker_flag(C LINKER:--undefined-version HOT_LINKER_UNDEFINED_VERSION)
set(HOT_UNDEFINED_VERSION $<$<BOOL:${HOT_LINKER_UNDEFINED_VERSION}>:LINKER:--undefined-version>)
set(HOT_SYMBOLS_MAP ${HOT_UNDEFINED_VERSION} LINKER:--version-script=${CMAKE_BINARY_DIR}/symbols.map)

option(HOTFIBER_STATIC "Static libraries in addition to the shared ones" ON)

# hot_library(NAME OBJECTS target ... [ON our-library ...] [USES library ...] [LINK_OPTIONS option ...]): links the same
# object files into three libraries. NAME is shared and exports the public symbols; its users do not link with the
# libraries that it USES. NAME_static is for programs that include it; these link with STATIC_USES, the names of those
# libraries. NAME_internal is static, for our commands and for tests of internals.
function(hot_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "OBJECTS;ON;USES;STATIC_USES;LINK_OPTIONS")
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
    ${HOT_SYMBOLS_MAP})
  set_property(TARGET ${name} APPEND PROPERTY LINK_DEPENDS ${CMAKE_BINARY_DIR}/symbols.map)
  if(HOTFIBER_STATIC)
    add_library(${name}_static STATIC ${arg_OBJECTS})
    target_include_directories(${name}_static INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    foreach(library IN LISTS arg_ON)
      target_link_libraries(${name}_static INTERFACE ${library}_static)
    endforeach()
    target_link_libraries(${name}_static INTERFACE ${arg_STATIC_USES})
    set_target_properties(${name}_static PROPERTIES OUTPUT_NAME ${name} LINKER_LANGUAGE C
      ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_LIBRARY_OUTPUT_DIRECTORY})
  endif()
  set_target_properties(${name} PROPERTIES HOT_STATIC_USES "${arg_STATIC_USES}")
  set_target_properties(${name} PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${HOT_SOVERSION})
  set_target_properties(${name} ${name}_internal PROPERTIES LINKER_LANGUAGE C)
endfunction()
