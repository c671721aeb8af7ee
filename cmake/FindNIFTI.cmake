# niftilib (nifti2_io with its znz reader).
find_path(NIFTI_INCLUDE_DIR nifti2_io.h PATH_SUFFIXES nifti)
find_library(NIFTI_LIBRARY nifti2)
find_library(ZNZ_LIBRARY znz)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(NIFTI REQUIRED_VARS NIFTI_LIBRARY ZNZ_LIBRARY NIFTI_INCLUDE_DIR)
if(NIFTI_FOUND AND NOT TARGET NIFTI::nifti2)
  add_library(NIFTI::nifti2 UNKNOWN IMPORTED GLOBAL)
  set_target_properties(NIFTI::nifti2 PROPERTIES IMPORTED_LOCATION ${NIFTI_LIBRARY}
                        INTERFACE_INCLUDE_DIRECTORIES ${NIFTI_INCLUDE_DIR} INTERFACE_LINK_LIBRARIES ${ZNZ_LIBRARY})
endif()
