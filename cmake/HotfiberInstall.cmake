# Headers, libraries, a CMake package (find_package(hotfiber)) and pkg-config files.
include(CMakePackageConfigHelpers)

set(hot_targets hotkernels)
install(DIRECTORY kernels/include/hotfiber DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
if(TARGET hotfiber)
  list(APPEND hot_targets hotfiber)
  install(DIRECTORY plugin/include/hotfiber DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(TARGETS hotfiber_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
if(TARGET hotvtk)
  list(APPEND hot_targets hotvtk)
  install(DIRECTORY plugin/vtk/include/hotfiber DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endif()
install(TARGETS ${hot_targets} EXPORT hotfiber
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT hotfiber NAMESPACE hotfiber:: FILE hotfiber-targets.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/hotfiber)
file(WRITE ${CMAKE_BINARY_DIR}/hotfiber-config.cmake
     "include(\"\${CMAKE_CURRENT_LIST_DIR}/hotfiber-targets.cmake\")\n")
write_basic_package_version_file(${CMAKE_BINARY_DIR}/hotfiber-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/hotfiber-config.cmake ${CMAKE_BINARY_DIR}/hotfiber-config-version.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/hotfiber)

# Paths relative to the file itself, so that an installed tree can be moved.
macro(hot_pkgconfig name description libs requires)
  file(WRITE ${CMAKE_BINARY_DIR}/${name}.pc
"prefix=\${pcfiledir}/../..
libdir=\${prefix}/${CMAKE_INSTALL_LIBDIR}
includedir=\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}

Name: ${name}
Description: ${description}
Version: ${PROJECT_VERSION}
Requires: ${requires}
Cflags: -I\${includedir}
Libs: -L\${libdir} ${libs}
")
  install(FILES ${CMAKE_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endmacro()
hot_pkgconfig(hotkernels "Higher-order tensor kernels on plain arrays" "-lhotkernels -lm" "")
if(TARGET hotfiber)
  hot_pkgconfig(hotfiber "${PROJECT_DESCRIPTION}" "-lhotfiber" "hotkernels")
endif()
