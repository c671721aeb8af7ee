# Commands with their manual page, headers, libraries, a CMake package (find_package(hotfiber)) and pkg-config files.
include(CMakePackageConfigHelpers)
# libhotvtk, which needs VTK, is a separate component and package (HotfiberPackage.cmake).
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME hotfiber)

set(hot_targets hotkernels hotarrays)
install(DIRECTORY kernels/include/hotfiber DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
if(TARGET hotfiber)
  list(APPEND hot_targets hotfiber)
  install(DIRECTORY plugin/include/hotfiber DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(TARGETS hotfiber_command hotfiber_bench_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
if(TARGET hotview)
  list(APPEND hot_targets hotview)
  install(DIRECTORY viz/include/hotfiber DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(TARGETS hotfiber_view_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  if(TARGET hotview_cuda)
    install(TARGETS hotview_cuda LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  endif()
endif()
if(HOTFIBER_STATIC)
  foreach(target IN LISTS hot_targets)
    list(APPEND hot_targets ${target}_static)
  endforeach()
endif()
install(TARGETS ${hot_targets} EXPORT hotfiber
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT hotfiber NAMESPACE hotfiber:: FILE hotfiber-targets.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/hotfiber)
if(TARGET hotvtk)
  install(DIRECTORY plugin/vtk/include/hotfiber DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT vtk)
  install(TARGETS hotvtk EXPORT hotvtk LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT vtk
          NAMELINK_COMPONENT vtk INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(EXPORT hotvtk NAMESPACE hotfiber:: FILE hotvtk-targets.cmake
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/hotfiber COMPONENT vtk)
endif()
configure_file(cmake/hotfiber-config.cmake ${CMAKE_BINARY_DIR}/hotfiber-config.cmake COPYONLY)
set(hot_compatible SameMajorVersion)
if(PROJECT_VERSION_MAJOR EQUAL 0) # as the libraries' sonames
  set(hot_compatible SameMinorVersion)
endif()
write_basic_package_version_file(${CMAKE_BINARY_DIR}/hotfiber-config-version.cmake COMPATIBILITY ${hot_compatible})
install(FILES ${CMAKE_BINARY_DIR}/hotfiber-config.cmake ${CMAKE_BINARY_DIR}/hotfiber-config-version.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/hotfiber)

# Paths relative to the file itself, so that an installed tree can be moved.
# The further libraries of a static link (pkg-config --static) are named as libraries, not as packages, which pkg-config
# would require of every program.
function(hot_pkgconfig name description component requires)
  get_target_property(static ${name} HOT_STATIC_USES)
  if(NOT static)
    set(static "")
  endif()
  list(TRANSFORM static REPLACE "^([^/-].*)$" "-l\\1")
  list(JOIN static " " static)
  file(WRITE ${CMAKE_BINARY_DIR}/${name}.pc
"prefix=\${pcfiledir}/../..
libdir=\${prefix}/${CMAKE_INSTALL_LIBDIR}
includedir=\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}

Name: ${name}
Description: ${description}
Version: ${PROJECT_VERSION}
Requires: ${requires}
Cflags: -I\${includedir}
Libs: -L\${libdir} -l${name}
Libs.private: ${static}
")
  install(FILES ${CMAKE_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT ${component})
endfunction()
hot_pkgconfig(hotkernels "Higher-order tensor kernels on plain arrays" hotfiber "")
hot_pkgconfig(hotarrays "Contractions, finite-element operators and CP decompositions of arrays" hotfiber hotkernels)
if(TARGET hotfiber)
  hot_pkgconfig(hotfiber "${PROJECT_DESCRIPTION}" hotfiber hotkernels)
endif()
if(TARGET hotview)
  hot_pkgconfig(hotview "Tensors and fibre directions in a window or as pictures" hotfiber hotfiber)
endif()
if(TARGET hotvtk)
  hot_pkgconfig(hotvtk "Fibre directions and tensors as objects of VTK, for C" vtk hotfiber)
endif()

# The manual pages and the completion of bash are the command's own help.
if(TARGET hotfiber_command AND NOT CMAKE_CROSSCOMPILING)
  set(hot_manpages ${CMAKE_BINARY_DIR}/man1)
  add_custom_command(OUTPUT ${hot_manpages}/hotfiber.1.gz
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${hot_manpages}
    COMMAND ${CMAKE_COMMAND} -E env COLUMNS=80 sh ${CMAKE_SOURCE_DIR}/cmake/manpage.sh $<TARGET_FILE:hotfiber_command>
            ${PROJECT_VERSION} ${hot_manpages} ${CMAKE_BINARY_DIR}/bin/hotfiber-bids
    DEPENDS hotfiber_command hotfiber_bench_command $<$<TARGET_EXISTS:hotview>:hotfiber_view_command>
            ${CMAKE_SOURCE_DIR}/cmake/manpage.sh VERBATIM)
  add_custom_target(hotfiber_manpage ALL DEPENDS ${hot_manpages}/hotfiber.1.gz)
  install(DIRECTORY ${hot_manpages}/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  set(hot_completion ${CMAKE_BINARY_DIR}/completions/hotfiber)
  add_custom_command(OUTPUT ${hot_completion}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/completions
    COMMAND sh ${CMAKE_SOURCE_DIR}/cmake/completion.sh $<TARGET_FILE:hotfiber_command> > ${hot_completion}
    DEPENDS hotfiber_command hotfiber_bench_command $<$<TARGET_EXISTS:hotview>:hotfiber_view_command>
            ${CMAKE_SOURCE_DIR}/cmake/completion.sh VERBATIM)
  add_custom_target(hotfiber_completion ALL DEPENDS ${hot_completion})
  install(FILES ${hot_completion} DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
endif()
# The module for 3D Slicer and similar hosts, whose module path must include this folder. The example host is
# documentation.
if(TARGET HotFiberLib)
  install(TARGETS HotFiber HotFiberLib RUNTIME DESTINATION ${CMAKE_INSTALL_LIBDIR}/hotfiber/cli-modules
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/hotfiber/cli-modules)
  install(FILES plugin/module/example_host.c DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples)
  install(DIRECTORY plugin/module/scirun DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples)
  install(FILES docs/pipes.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
endif()
install(FILES README.md NEWS.md SECURITY.md CITATION.cff docs/glossary.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)
# Further files of the Debian packages. The date is the version's.
set(hot_release_date "Wed, 25 Nov 2026 12:00:00 +0000")
foreach(package hotfiber hotfiber-vtk)
  if(NOT TARGET hotfiber OR (package STREQUAL hotfiber-vtk AND NOT TARGET hotvtk))
    continue()
  endif()
  string(REPLACE "hotfiber-" "" component ${package})
  set(folder ${CMAKE_BINARY_DIR}/debian/${package})
  file(WRITE ${folder}/changelog "${package} (${PROJECT_VERSION}) unstable; urgency=medium\n\n"
    "  * What is new is in NEWS.md.\n\n"
    " -- The hotfiber developers <developers@hotfiber.invalid>  ${hot_release_date}\n")
  execute_process(COMMAND gzip -9nf ${folder}/changelog)
  configure_file(cmake/lintian-overrides ${folder}/overrides @ONLY)
  install(FILES ${folder}/changelog.gz DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${package} COMPONENT ${component})
  install(FILES ${folder}/overrides DESTINATION ${CMAKE_INSTALL_DATADIR}/lintian/overrides RENAME ${package}
          COMPONENT ${component})
endforeach()
if(TARGET hotvtk)
  install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/hotfiber-vtk RENAME copyright COMPONENT vtk)
endif()
