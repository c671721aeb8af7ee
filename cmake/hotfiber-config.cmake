# find_package(hotfiber [COMPONENTS kernels arrays hotfiber view vtk static]): the targets hotfiber::hotkernels,
# hotfiber::hotarrays, hotfiber::hotfiber, hotfiber::hotview and hotfiber::hotvtk, as far as they are installed;
# `static`: the static libraries, hotfiber::hotfiber_static and so on. Without components: all installed ones.
include("${CMAKE_CURRENT_LIST_DIR}/hotfiber-targets.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/hotvtk-targets.cmake" OPTIONAL) # from a separate package

set(_hotfiber_target_kernels hotkernels)
set(_hotfiber_target_arrays hotarrays)
set(_hotfiber_target_hotfiber hotfiber)
set(_hotfiber_target_view hotview)
set(_hotfiber_target_vtk hotvtk)
set(_hotfiber_target_static hotkernels_static)
foreach(_hotfiber_component IN LISTS hotfiber_FIND_COMPONENTS)
  set(hotfiber_${_hotfiber_component}_FOUND FALSE)
  if(NOT DEFINED _hotfiber_target_${_hotfiber_component})
    set(_hotfiber_why "not one of kernels, arrays, hotfiber, view, vtk and static")
  elseif(NOT TARGET hotfiber::${_hotfiber_target_${_hotfiber_component}})
    set(_hotfiber_why "not installed here")
  else()
    set(hotfiber_${_hotfiber_component}_FOUND TRUE)
  endif()
  if(hotfiber_FIND_REQUIRED_${_hotfiber_component} AND NOT hotfiber_${_hotfiber_component}_FOUND)
    set(hotfiber_FOUND FALSE)
    string(APPEND hotfiber_NOT_FOUND_MESSAGE "component '${_hotfiber_component}' is ${_hotfiber_why}. ")
  endif()
endforeach()
