# Teem's nrrd library: its own CMake package is not in every distribution, its header and library are.
find_path(TEEM_INCLUDE_DIR teem/nrrd.h)
find_library(TEEM_LIBRARY teem)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Teem REQUIRED_VARS TEEM_LIBRARY TEEM_INCLUDE_DIR)
if(Teem_FOUND AND NOT TARGET Teem::teem)
  add_library(Teem::teem UNKNOWN IMPORTED GLOBAL)
  set_target_properties(Teem::teem PROPERTIES IMPORTED_LOCATION ${TEEM_LIBRARY}
                        INTERFACE_INCLUDE_DIRECTORIES ${TEEM_INCLUDE_DIR})
endif()
