# Compiler settings that every target shares.
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release or Debug" FORCE)
endif()

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS ON) # POSIX: rename, isatty, sysconf
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_CUDA_VISIBILITY_PRESET hidden)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
# Programs find our libraries relative to themselves, in the build as when installed, so that installing does not change
# the files. (CMake would pad a build's RPATH with colons, and to the loader an empty element is the current folder.) No
# path of the build folder gets into the files: the same sources and flags give the same bytes. Libraries outside the
# system's folders are found, too.
file(RELATIVE_PATH hot_libraries ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
set(CMAKE_INSTALL_RPATH "$ORIGIN/${hot_libraries}" "$ORIGIN" "$ORIGIN/../lib") # the last: in the build
list(REMOVE_DUPLICATES CMAKE_INSTALL_RPATH)
set(CMAKE_BUILD_WITH_INSTALL_RPATH ON)
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)

add_library(hot_settings INTERFACE)
target_compile_options(hot_settings INTERFACE
  $<$<COMPILE_LANGUAGE:C>:-Wall -Wextra -Wshadow -Wstrict-prototypes -Wvla>
  # Contraction to FMA differs between compilers and code paths; results must not.
  $<$<COMPILE_LANGUAGE:C>:-ffp-contract=off -fno-math-errno>
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wshadow>
  # Errors in newer compilers, and never right.
  $<$<COMPILE_LANGUAGE:C>:-Werror=incompatible-pointer-types -Werror=int-conversion
                          -Werror=implicit-function-declaration>)
if(HOTFIBER_WERROR)
  target_compile_options(hot_settings INTERFACE $<$<COMPILE_LANGUAGE:C,CXX>:-Werror>)
endif()
# Hardening: an overflow of an array on the stack, or of one whose size the compiler knows, ends the program; tables of
# functions are read-only after the start; programs are loaded at any address. Sanitizers check all that themselves and
# do not know the fortified functions, which need the optimizer.
option(HOTFIBER_HARDENED "Stack protector, fortified functions, read-only relocations, programs at any address" ON)
set(hot_cuda_hardened "")
set(HOT_HARDENED "") # which of these: what tests/build/elf.py is to find
if(HOTFIBER_HARDENED)
  include(CheckPIESupported)
  check_pie_supported(LANGUAGES C)
  add_link_options(LINKER:-z,relro LINKER:-z,now LINKER:-z,noexecstack)
  list(APPEND HOT_HARDENED link)
  if(NOT HOTFIBER_SANITIZE AND NOT HOTFIBER_FUZZ)
    list(APPEND HOT_HARDENED stack)
    set(hot_cuda_hardened ",-fstack-protector-strong")
    target_compile_options(hot_settings INTERFACE $<$<COMPILE_LANGUAGE:C,CXX>:-fstack-protector-strong>)
    string(TOUPPER "${CMAKE_BUILD_TYPE}" hot_type)
    set(hot_flags "${CMAKE_C_FLAGS} ${CMAKE_C_FLAGS_${hot_type}}")
    if(hot_flags MATCHES "-O[1-3sf]" AND NOT hot_flags MATCHES "_FORTIFY_SOURCE")
      target_compile_options(hot_settings INTERFACE
        $<$<COMPILE_LANGUAGE:C,CXX>:-U_FORTIFY_SOURCE> $<$<COMPILE_LANGUAGE:C,CXX>:-D_FORTIFY_SOURCE=2>)
      list(APPEND HOT_HARDENED fortify)
    endif()
  endif()
endif()
if(HOTFIBER_SANITIZE)
  set(sanitize -fsanitize=${HOTFIBER_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=undefined)
  target_compile_options(hot_settings INTERFACE "$<$<COMPILE_LANGUAGE:C,CXX>:${sanitize}>")
  # clang's runtime is in the program alone: every program has it, also a host in a test, and libraries leave open what
  # the program has.
  add_link_options(-fsanitize=${HOTFIBER_SANITIZE})
  set(HOT_NO_UNDEFINED "")
else()
  set(HOT_NO_UNDEFINED -Wl,--no-undefined)
endif()
if(HOTFIBER_FUZZ) # the fuzzer sees the branches of the libraries, not those of its targets alone
  if(NOT CMAKE_C_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "HOTFIBER_FUZZ needs clang: -DCMAKE_C_COMPILER=clang")
  endif()
  target_compile_options(hot_settings INTERFACE $<$<COMPILE_LANGUAGE:C>:-fsanitize=fuzzer-no-link>)
endif()

if(HOTFIBER_OPENMP)
  find_package(OpenMP COMPONENTS C REQUIRED)
  set(hot_cuda_host -Xcompiler=-Wall,-Wextra,-fopenmp${hot_cuda_hardened}) # for the compiler behind nvcc
else() # a header replaces OpenMP's
  add_library(OpenMP::OpenMP_C INTERFACE IMPORTED GLOBAL)
  target_include_directories(OpenMP::OpenMP_C INTERFACE ${CMAKE_SOURCE_DIR}/kernels/common/one_thread)
  # Variables that only a pragma uses (threads) are unused then.
  target_compile_options(OpenMP::OpenMP_C INTERFACE
    $<$<COMPILE_LANGUAGE:C>:-fopenmp-simd -Wno-unknown-pragmas -Wno-unused-variable -Wno-unused-parameter>)
  set(hot_cuda_host -Xcompiler=-Wall,-Wextra,-Wno-unknown-pragmas${hot_cuda_hardened})
  message(STATUS "hotfiber: no OpenMP: everything on one thread")
endif()

# hot_soname(LIBRARY NAME): in NAME what a program calls this shared library that loads it when it wants it.
function(hot_soname library name)
  get_filename_component(found ${library} NAME)
  execute_process(COMMAND ${CMAKE_READELF} -d ${library} OUTPUT_VARIABLE dynamic ERROR_QUIET)
  if(dynamic MATCHES "\\(SONAME\\)[^[]*\\[([^]]+)\\]")
    set(found ${CMAKE_MATCH_1})
  endif()
  set(${name} ${found} PARENT_SCOPE)
endfunction()
