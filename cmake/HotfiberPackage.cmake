# `cpack` in the build folder makes Debian packages: hotfiber (all but VTK's layer) and, where that was built,
# hotfiber-vtk.
if(NOT TARGET hotfiber)
  return()
endif()
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME hotfiber)
set(CPACK_PACKAGE_VENDOR "the hotfiber developers")
set(CPACK_PACKAGE_CONTACT "The hotfiber developers <developers@hotfiber.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ
    WORLD_EXECUTE)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL hotfiber)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# The packages' own libraries are found here while their dependencies are looked up.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_LIBRARY_OUTPUT_DIRECTORY})
set(CPACK_DEBIAN_HOTFIBER_PACKAGE_NAME hotfiber)
set(CPACK_DEBIAN_HOTFIBER_PACKAGE_RECOMMENDS "python3") # for hotfiber-bids
if(TARGET hotview) # found at run time
  string(APPEND CPACK_DEBIAN_HOTFIBER_PACKAGE_RECOMMENDS ", libegl1, libgl1, libgl1-mesa-dri")
endif()
if(HOT_LAPACK_NAME MATCHES "openblas") # likewise
  string(APPEND CPACK_DEBIAN_HOTFIBER_PACKAGE_RECOMMENDS ", libopenblas0")
elseif(HOT_LAPACK_LIBRARY_FOUND)
  string(APPEND CPACK_DEBIAN_HOTFIBER_PACKAGE_RECOMMENDS ", liblapack3")
endif()
if(HDF5_FOUND AND HOT_HDF5_PACKAGE) # likewise
  string(APPEND CPACK_DEBIAN_HOTFIBER_PACKAGE_RECOMMENDS ", ${HOT_HDF5_PACKAGE}")
endif()
set(CPACK_DEBIAN_HOTFIBER_PACKAGE_SUGGESTS "hotfiber-vtk, snakemake, mrtrix3, teem-apps, paraview")
# The summary goes before these.
set(CPACK_DEBIAN_HOTFIBER_DESCRIPTION
"Reads diffusion data (NRRD or NIfTI), fits higher-order symmetric tensors,
finds their eigenvectors and writes maps of fibre directions for MRtrix, 3D
Slicer, SCIRun, Teem, ParaView, FSL and DIPY. Commands, C libraries, headers.")
if(TARGET hotvtk)
  list(APPEND CPACK_COMPONENTS_ALL vtk)
  set(CPACK_DEBIAN_VTK_PACKAGE_NAME hotfiber-vtk)
  set(CPACK_DEBIAN_VTK_PACKAGE_DEPENDS "hotfiber (= ${PROJECT_VERSION})")
  set(CPACK_DEBIAN_VTK_DESCRIPTION
"This is libhotvtk: directions and tensors of hotfiber as objects of VTK, for
programs in C. The files .vtp and .vti that hotfiber writes do not need it.")
endif()
# The loader's cache is renewed by a trigger. Packages of programs that are linked with a library need this version or a
# later one with the same soname: one package has the libraries, whose next soname takes the place of this one's. (The
# file that cpack can write itself has no upper end.)
file(WRITE ${CMAKE_BINARY_DIR}/debian/triggers "activate-noawait ldconfig\n")
string(REGEX MATCH "[0-9]+$" hot_next_soversion ${HOT_SOVERSION})
math(EXPR hot_next_soversion "${hot_next_soversion} + 1")
string(REGEX REPLACE "[0-9]+$" ${hot_next_soversion} hot_next_soversion ${HOT_SOVERSION})
foreach(component hotfiber vtk)
  string(TOUPPER ${component} upper)
  set(package ${CPACK_DEBIAN_${upper}_PACKAGE_NAME})
  set(libraries hotkernels hotarrays hotfiber hotview)
  if(component STREQUAL "vtk")
    set(libraries hotvtk)
  endif()
  set(shlibs "")
  foreach(library IN LISTS libraries)
    if(TARGET ${library})
      string(APPEND shlibs "lib${library} ${HOT_SOVERSION} "
             "${package} (>= ${PROJECT_VERSION}), ${package} (<< ${hot_next_soversion}~)\n")
    endif()
  endforeach()
  file(WRITE ${CMAKE_BINARY_DIR}/debian/${component}/shlibs "${shlibs}")
  set(CPACK_DEBIAN_${upper}_PACKAGE_CONTROL_EXTRA ${CMAKE_BINARY_DIR}/debian/triggers
      ${CMAKE_BINARY_DIR}/debian/${component}/shlibs)
endforeach()
include(CPack)
